package api

import (
	"math"
	"strings"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

// quoteIn is the request of SPEC.md, POST /v1/delivery/quote.
type quoteIn struct {
	StoreID         *string                                        `json:"store_id"`
	DeliveryAddress *addressIn                                     `json:"delivery_address"`
	Items           jsonin.List[quoteItemIn, maxAvailabilityItems] `json:"items"`
	Subtotal        *jsonin.Int                                    `json:"subtotal"`
	Dev             bool                                           `json:"dev"`
}

type quoteItemIn struct {
	ProductID *string     `json:"product_id"`
	Quantity  *jsonin.Int `json:"quantity"`
	Name      *string     `json:"name"`
}

// quoteOut is an offer (SPEC, Nearby stores and delivery quote).
type quoteOut struct {
	QuoteID               string         `json:"quote_id"`
	FeeCents              commerce.Cents `json:"fee_cents"`
	Currency              string         `json:"currency"`
	DropoffETA            string         `json:"dropoff_eta"`
	ETASeconds            int64          `json:"eta_seconds"`
	DurationSeconds       int64          `json:"duration_seconds"`
	PickupDurationSeconds int64          `json:"pickup_duration_seconds"`
	Expires               string         `json:"expires"`
}

// quoteDelivery answers with the price of a delivery.
var quoteDelivery = called[quoteIn](0, (*service.Service).QuoteDelivery, func(r *request, q service.Quoted) any {
	return struct {
		OK bool `json:"ok"`
		quoteOut
		DistanceMiles *float64 `json:"distance_miles"`
		TraceID       string   `json:"trace_id"`
	}{true, r.quoteOut(q), rounded(q.Miles), r.traceID}
})

func (in quoteIn) call(r *request) (q service.QuoteDelivery, err error) {
	r.dev = in.Dev
	var c check
	q.StoreID = c.ID("store_id", in.StoreID)
	q.To = c.destination("delivery_address", in.DeliveryAddress)
	c.Each("items", len(in.Items), func(i int) {
		item := in.Items[i]
		c.Optional("product_id", item.ProductID, jsonin.MaxID)
		c.Optional("name", item.Name, jsonin.MaxName)
		c.OptBetween("quantity", item.Quantity, 1, commerce.MaxQuantity)
	})
	if subtotal := c.cents("subtotal", in.Subtotal, commerce.MaxTotal); subtotal != nil {
		q.ValueCents = *subtotal
	}
	return q, c.Err
}

// destination reads a DeliveryAddress in which the name is optional.
func (c *check) destination(field string, v *addressIn) commerce.DeliveryAddress {
	if v == nil {
		c.Fail(field, "is missing")
		return commerce.DeliveryAddress{}
	}
	named := *v
	if named.Name == nil || strings.TrimSpace(*named.Name) == "" {
		customer := "Customer"
		named.Name = &customer
	}
	return *c.address(field, &named)
}

// withOneOf wraps a handler for keys that have at least one of several scopes.
func withOneOf(h handler, scopes ...commerce.Scope) handler {
	return func(a *API, r *request) (reply, error) {
		if err := r.hasOneOf(scopes...); err != nil {
			return reply{}, err
		}
		return h(a, r)
	}
}

func (r *request) hasOneOf(scopes ...commerce.Scope) error {
	for _, s := range scopes {
		if r.Partner.Has(s) {
			return nil
		}
	}
	return scopeMissing(scopes...)
}

// rounded rounds a distance to the hundredth of a mile.
func rounded(miles *float64) *float64 {
	if miles == nil {
		return nil
	}
	m := math.Round(*miles*100) / 100
	return &m
}

func (r *request) quoteOut(q service.Quoted) quoteOut {
	return quoteOut{QuoteID: q.ID, FeeCents: q.FeeCents, Currency: q.Currency, DropoffETA: wire.ISO(q.DropoffETA),
		ETASeconds: int64(max(0, (q.DropoffETA-commerce.MillisOf(r.api.now()))/1000)), DurationSeconds: q.DurationSeconds,
		PickupDurationSeconds: q.PickupDurationSeconds, Expires: wire.ISO(q.ExpiresOn)}
}
