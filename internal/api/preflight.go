package api

import (
	"log/slog"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

// preflightIn is the request of SPEC.md, POST /v1/checkout/preflight.
type preflightIn struct {
	StoreID         *string                          `json:"store_id"`
	Items           wire.List[itemIn, maxOrderLines] `json:"items"`
	FulfillmentType *string                          `json:"fulfillment_type"`
	DeliveryAddress *addressIn                       `json:"delivery_address"`
	Subtotal        *wire.Int                        `json:"subtotal"`
	Dev             bool                             `json:"dev"`
}

// preflightOut is its answer.
type preflightOut struct {
	OK              bool                 `json:"ok"`
	Eligible        bool                 `json:"eligible"`
	Reasons         []string             `json:"reasons"`
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

// The reasons why a cart is not eligible (SPEC).
const (
	reasonInactive    = "store_inactive"
	reasonUnavailable = "item_unavailable"
	reasonRadius      = "out_of_radius"
	reasonQuote       = "quote_unavailable"
	reasonNoDelivery  = "store_delivery_disabled"
	reasonNoPickup    = "store_pickup_disabled"
)

// preflight tells whether a cart could be sold right now, and what its delivery
// would cost. It changes nothing.
func (a *API) preflight(r *request) (reply, error) {
	var in preflightIn
	if err := r.decodeBody(&in); err != nil {
		return reply{}, err
	}
	p, err := in.check()
	if err != nil {
		return reply{}, err
	}
	if p.fulfillment == commerce.ByDelivery {
		if err := r.scopeOf(commerce.ReadDelivery, commerce.WriteOrders); err != nil {
			return reply{}, err
		}
	}
	store, err := a.store(r, p.storeID)
	if err != nil {
		return reply{}, err
	}
	out := preflightOut{OK: true, FulfillmentType: p.fulfillment, Reasons: []string{}, TraceID: r.traceID,
		Store: preflightStore{ID: store.ID, Name: store.Name, Active: store.Active, Open: store.Open, City: store.City, State: store.State,
			PickupEnabled: store.PickupEnabled, DeliveryEnabled: store.DeliveryEnabled, DeliveryRadius: store.RadiusMiles}}
	out.Availability.Items, out.Availability.AllAvailable, err = a.availability(r, &store.ID, p.lines)
	if err != nil {
		return reply{}, err
	}
	if !store.Active {
		out.Reasons = append(out.Reasons, reasonInactive)
	}
	if !out.Availability.AllAvailable {
		out.Reasons = append(out.Reasons, reasonUnavailable)
	}
	switch {
	case p.fulfillment == commerce.ByDelivery:
		a.preflightDelivery(r, store, p, r.modeOf(in.Dev), &out)
	case !store.PickupEnabled:
		out.Reasons = append(out.Reasons, reasonNoPickup)
	}
	out.Eligible = len(out.Reasons) == 0
	return ok(out)
}

// preflightDelivery asks for an offer, unless it is certain already that nothing
// will be delivered.
func (a *API) preflightDelivery(r *request, store commerce.Store, p cart, mode commerce.Mode, out *preflightOut) {
	t := a.trip(store, p.to, a.place(r.Context(), p.to.Address), p.value)
	out.Store.DistanceMiles = rounded(t.reach.Miles)
	if t.reach.Beyond {
		out.Reasons = append(out.Reasons, reasonRadius)
	}
	if !store.DeliveryEnabled {
		out.Reasons = append(out.Reasons, reasonNoDelivery)
	}
	if t.reach.Beyond || !store.DeliveryEnabled || !store.Active {
		return
	}
	q, err := a.quote(r.Context(), mode, t)
	if err != nil {
		slog.Info("no courier makes an offer", "store", store.ID, "trace_id", r.traceID, "error", err)
		out.Reasons = append(out.Reasons, reasonQuote)
		return
	}
	offer := a.quoteOut(q)
	out.Quote = &offer
}

// cart is what a preflight asks about.
type cart struct {
	storeID     string
	lines       []commerce.OrderLine
	fulfillment commerce.Fulfillment
	to          commerce.DeliveryAddress
	value       commerce.Cents
}

func (in preflightIn) check() (cart, error) {
	var c check
	p := cart{storeID: c.ID("store_id", in.StoreID), lines: c.items(in.Items),
		fulfillment: c.fulfillment(in.FulfillmentType, in.DeliveryAddress != nil)}
	if p.fulfillment == commerce.ByDelivery || in.DeliveryAddress != nil {
		p.to = c.destination("delivery_address", in.DeliveryAddress)
	}
	if subtotal := c.cents("subtotal", in.Subtotal, commerce.MaxTotal); subtotal != nil {
		p.value = *subtotal
	}
	return p, c.Err
}
