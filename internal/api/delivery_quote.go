package api

import (
	"errors"
	"math"
	"net/http"
	"strings"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/storage"
	"purveyor/internal/web"
	"purveyor/internal/wire"
)

// quoteIn is the request of SPEC.md, POST /v1/delivery/quote.
type quoteIn struct {
	StoreID         *string                                      `json:"store_id"`
	DeliveryAddress *addressIn                                   `json:"delivery_address"`
	Items           wire.List[quoteItemIn, maxAvailabilityItems] `json:"items"`
	Subtotal        *wire.Int                                    `json:"subtotal"`
	Dev             bool                                         `json:"dev"`
}

type quoteItemIn struct {
	ProductID *string   `json:"product_id"`
	Quantity  *wire.Int `json:"quantity"`
	Name      *string   `json:"name"`
}

// deliveryQuote tells what a delivery would cost now.
func (a *API) deliveryQuote(r *request) (reply, error) {
	if err := r.scopeOf(commerce.ReadDelivery, commerce.WriteOrders); err != nil {
		return reply{}, err
	}
	var in quoteIn
	if err := r.decodeBody(&in); err != nil {
		return reply{}, err
	}
	storeID, to, value, err := in.check()
	if err != nil {
		return reply{}, err
	}
	store, err := a.store(r, storeID)
	if err != nil {
		return reply{}, err
	}
	switch {
	case !store.DeliveryEnabled:
		return reply{}, &web.Error{Status: http.StatusForbidden, Code: "delivery_not_enabled", Message: "This store does not deliver"}
	case !store.Active:
		return reply{}, commerce.Invalid("store_id", "store %s is not active", store.ID)
	}
	t := a.trip(store, to, a.place(r.Context(), to.Address), value)
	if t.reach.Beyond {
		return reply{}, commerce.OutOfRadius()
	}
	q, err := a.quote(r.Context(), r.modeOf(in.Dev), t)
	if err != nil {
		return reply{}, noQuote(r.modeOf(in.Dev), err)
	}
	return ok(struct {
		OK bool `json:"ok"`
		quoteOut
		DistanceMiles *float64 `json:"distance_miles"`
		TraceID       string   `json:"trace_id"`
	}{true, a.quoteOut(q), rounded(t.reach.Miles), r.traceID})
}

func (in quoteIn) check() (storeID string, to commerce.DeliveryAddress, value commerce.Cents, err error) {
	var c check
	storeID = c.ID("store_id", in.StoreID)
	to = c.destination("delivery_address", in.DeliveryAddress)
	c.Each("items", len(in.Items), func(i int) {
		item := in.Items[i]
		c.Optional("product_id", item.ProductID, wire.MaxID)
		c.Optional("name", item.Name, wire.MaxName)
		c.OptBetween("quantity", item.Quantity, 1, commerce.MaxQuantity)
	})
	if subtotal := c.cents("subtotal", in.Subtotal, commerce.MaxTotal); subtotal != nil {
		value = *subtotal
	}
	return storeID, to, value, c.Err
}

// destination is a DeliveryAddress that needs no name.
func (c *check) destination(field string, v *addressIn) commerce.DeliveryAddress {
	if v == nil {
		c.Fail(field, "is missing")
		return commerce.DeliveryAddress{}
	}
	named := *v
	if named.Name == nil || strings.TrimSpace(*named.Name) == "" {
		nobody := "Customer"
		named.Name = &nobody
	}
	return *c.address(field, &named)
}

// store reads a store of a request: 404 if it is not known, 403 if the key is
// restricted to others.
func (a *API) store(r *request, id string) (commerce.Store, error) {
	store, err := a.reader.Store(r.Context(), id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return store, commerce.NotFound("store")
	case err == nil && !r.Partner.MayUse(id):
		return store, commerce.StoreDenied()
	}
	return store, err
}

// scopeOf wants one of several scopes.
func (r *request) scopeOf(scopes ...commerce.Scope) error {
	for _, s := range scopes {
		if r.Partner.Has(s) {
			return nil
		}
	}
	return scopeMissing(scopes...)
}

// rounded is a distance to the hundredth of a mile.
func rounded(miles *float64) *float64 {
	if miles == nil {
		return nil
	}
	m := math.Round(*miles*100) / 100
	return &m
}

func (a *API) quoteOut(q courier.Quote) quoteOut {
	return quoteOut{QuoteID: q.ID, FeeCents: q.FeeCents, Currency: q.Currency, DropoffETA: wire.ISO(commerce.Millis(q.DropoffETA)),
		ETASeconds: int64(max(0, (q.DropoffETA-commerce.MillisOf(a.now()))/1000)), DurationSeconds: q.DurationSeconds,
		PickupDurationSeconds: q.PickupDurationSeconds, Expires: wire.ISO(commerce.Millis(q.ExpiresOn))}
}

// liveFee is what the customer pays for a delivery for which the partner names
// no fee: nothing, unless the store charges the courier's live quote. No courier
// is asked when the command will refuse the checkout anyway, or when the request
// is a repeat whose answer stands already.
func (a *API) liveFee(r *request, key commerce.ReplyKey, cmd command.StartCheckout, place *geocode.Place) (commerce.Cents, error) {
	store, err := a.reader.Store(r.Context(), cmd.StoreID)
	if err != nil || !store.ChargesQuote || !store.Active || !store.DeliveryEnabled || !r.Partner.MayUse(store.ID) {
		return 0, err
	}
	if _, err := a.reader.Reply(r.Context(), key); !errors.Is(err, storage.ErrNotFound) {
		return 0, err
	}
	t := a.trip(store, *cmd.Address, place, 0)
	if t.reach.Beyond {
		return 0, commerce.OutOfRadius()
	}
	q, err := a.quote(r.Context(), cmd.Actor.Mode, t)
	if err != nil {
		return 0, noQuote(cmd.Actor.Mode, err)
	}
	return q.FeeCents, nil
}
