package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

// preflightIn is the request of SPEC.md, POST /v1/checkout/preflight.
type preflightIn struct {
	StoreID         *string                            `json:"store_id"`
	Items           jsonin.List[itemIn, maxOrderLines] `json:"items"`
	FulfillmentType *string                            `json:"fulfillment_type"`
	DeliveryAddress *addressIn                         `json:"delivery_address"`
	Subtotal        *jsonin.Int                        `json:"subtotal"`
	Dev             bool                               `json:"dev"`
}

// preflightOut is its answer.
type preflightOut struct {
	OK              bool                 `json:"ok"`
	Eligible        bool                 `json:"eligible"`
	Reasons         []commerce.Obstacle  `json:"reasons"`
	FulfillmentType commerce.Fulfillment `json:"fulfillment_type"`
	Store           preflightStore       `json:"store"`
	Availability    struct {
		AllAvailable bool              `json:"all_available"`
		Items        []availabilityOut `json:"items"`
	} `json:"availability"`
	Quote   *quoteOut `json:"quote"`
	TraceID string    `json:"trace_id"`
}

type preflightStore struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Active          bool     `json:"active"`
	Open            bool     `json:"open"`
	City            string   `json:"city"`
	State           string   `json:"state"`
	PickupEnabled   bool     `json:"pickup_enabled"`
	DeliveryEnabled bool     `json:"service_delivery_enabled"`
	DeliveryRadius  *float64 `json:"service_delivery_radius_miles"`
	DistanceMiles   *float64 `json:"distance_miles"`
}

// preflight reports whether a cart could be sold right now, and what its delivery would
// cost. It changes nothing.
var preflight = called[preflightIn](0, (*service.Service).Preflight, func(r *request, p service.Preflighted) any {
	s := p.Store
	out := preflightOut{OK: true, Eligible: len(p.Obstacles) == 0, FulfillmentType: p.Fulfillment, Reasons: p.Obstacles, TraceID: r.traceID,
		Store: preflightStore{ID: s.ID, Name: s.Name, Active: s.Active, Open: s.Open, City: s.City, State: s.State,
			PickupEnabled: s.PickupEnabled, DeliveryEnabled: s.DeliveryEnabled, DeliveryRadius: s.RadiusMiles, DistanceMiles: rounded(p.Miles)}}
	out.Availability.Items, out.Availability.AllAvailable = availabilityOf(p.Items, true), p.AllAvailable
	if p.Quote != nil {
		offer := r.quoteOut(*p.Quote)
		out.Quote = &offer
	}
	return out
})

func (in preflightIn) call(r *request) (service.Cart, error) {
	r.dev = in.Dev
	var c check
	cart := service.Cart{StoreID: c.ID("store_id", in.StoreID), Lines: c.items(in.Items),
		Fulfillment: c.fulfillment(in.FulfillmentType, in.DeliveryAddress != nil)}
	if cart.Fulfillment == commerce.ByDelivery || in.DeliveryAddress != nil {
		cart.To = c.destination("delivery_address", in.DeliveryAddress)
	}
	if subtotal := c.cents("subtotal", in.Subtotal, commerce.MaxTotal); subtotal != nil {
		cart.ValueCents = *subtotal
	}
	if c.Err == nil && cart.Fulfillment == commerce.ByDelivery {
		return cart, r.hasOneOf(commerce.ReadDelivery, commerce.WriteOrders)
	}
	return cart, c.Err
}
