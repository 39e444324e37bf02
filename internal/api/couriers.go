package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// Geocoder finds places, as geocode.Geocoder does.
type Geocoder interface {
	Find(ctx context.Context, q geocode.Query) (geocode.Place, error)
}

// Couriers are read by the API, as courier.Fleet does it: what they are to do
// is asked of them by jobs.
type Couriers interface {
	Quote(ctx context.Context, mode commerce.Mode, r courier.QuoteRequest) (courier.Quote, error)
	Get(ctx context.Context, d commerce.Delivery) (courier.Delivery, error)
}

// quoteTime is how long a request waits for an offer, and liveTime for where a
// courier is: then what is stored will do.
const (
	quoteTime = 10 * time.Second
	liveTime  = 5 * time.Second
)

// trip is the way from a store to a customer.
type trip struct {
	request courier.QuoteRequest
	reach   commerce.Reach
}

// place finds where an address is, as well as that is known. It is nil when the
// address cannot be placed or the geocoder does not answer: then the courier
// decides.
func (a *API) place(ctx context.Context, address commerce.Address) *geocode.Place {
	place, err := a.geocoder.Find(ctx, geocode.Parts(address))
	switch {
	case errors.Is(err, geocode.ErrNotFound):
		return nil
	case err != nil:
		slog.Warn("an address could not be looked up", "error", err)
		return nil
	case !place.Valid():
		slog.Warn("the geocoder answers with a point that is not on earth")
		return nil
	}
	return &place
}

// forReach is the place as the rule of reach takes it.
func forReach(place *geocode.Place) *commerce.Place {
	if place == nil {
		return nil
	}
	return place.ForReach()
}

// trip to an address; place is where it is, and may be nil. Couriers get the
// coordinates where these are those of the door or its street.
func (a *API) trip(store commerce.Store, to commerce.DeliveryAddress, place *geocode.Place, value commerce.Cents) trip {
	t := trip{reach: store.ReachOf(forReach(place)), request: courier.QuoteRequest{Ref: a.newID(commerce.PrefixQuote), StoreID: store.ID, ValueCents: value,
		Pickup: courier.PickupAt(store, ""), Dropoff: courier.DropoffAt(&to, "")}}
	if place != nil && place.Precision.Exact() {
		t.request.Dropoff.At = &place.Point
	}
	return t
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

// quote asks the couriers of a mode for an offer.
func (a *API) quote(ctx context.Context, mode commerce.Mode, t trip) (courier.Quote, error) {
	ctx, cancel := a.env.WithTimeout(ctx, quoteTime)
	defer cancel()
	return a.couriers.Quote(ctx, mode, t.request)
}

// noQuote is what a partner is told of an offer that was not made.
func noQuote(mode commerce.Mode, err error) error {
	if refusal, ok := errors.AsType[*courier.Refusal](err); ok {
		return &web.Error{Status: http.StatusBadRequest, Code: string(refusal.Code), Field: "delivery_address", Message: cmp.Or(refusal.Message, "The courier does not deliver there")}
	}
	if errors.Is(err, courier.ErrNoProvider) {
		return errors.Join(&web.Error{Status: http.StatusInternalServerError, Code: "courier_not_configured", Log: slog.LevelWarn,
			Message: notConfigured(mode, "No courier", "set up Uber Direct or DoorDash Drive", "set PURVEYOR_SANDBOX=on or set up Uber's test mode")}, err)
	}
	if _, denied := errors.AsType[*commerce.CredentialsError](err); denied {
		return errors.Join(&web.Error{Status: http.StatusInternalServerError, Code: "courier_not_configured",
			Message: command.CourierRefusesUs}, err)
	}
	refused := &web.Error{Status: http.StatusBadGateway, Code: "courier_unavailable", Message: "The courier provider cannot be reached right now; try again"}
	if limited, ok := errors.AsType[*courier.Limited](err); ok {
		refused.RetryAfter = int(limited.RetryAfter / time.Second)
	}
	return errors.Join(refused, err)
}

// notConfigured says what the operator has to do for orders of a mode.
func notConfigured(mode commerce.Mode, who, live, test string) string {
	if mode == commerce.Test {
		return who + " is configured for test orders: the operator has to " + test
	}
	return who + " is configured for live orders: the operator has to " + live
}

// whereabouts is the delivery of an order as it is now, and whether its provider
// was asked. What was heard under 60 seconds ago is taken as it is; so is what
// is stored when the provider does not answer. Many who ask at once share one
// call.
func (a *API) whereabouts(ctx context.Context, order commerce.Order, overToo bool) (command.Tracked, bool, error) {
	stored, err := a.delivery(ctx, order)
	d := stored.Delivery
	if err != nil || d.ProviderID == "" || d.Status.Over() && !overToo || !d.Status.Over() && d.Fresh(commerce.MillisOf(a.now())) {
		return stored, false, err
	}
	now, err := a.live.Do(ctx, a.env, d.Ref(), func() (command.Tracked, error) {
		ctx, cancel := a.env.WithTimeout(context.WithoutCancel(ctx), liveTime)
		defer cancel()
		return a.ask(ctx, order, d)
	})
	switch {
	case err == nil:
		return now, true, nil
	case ctx.Err() != nil:
		return stored, false, ctx.Err()
	}
	slog.Info("a courier could not be asked for; what is stored is shown", "order", order.ID, "provider", d.Provider, "error", err)
	return stored, false, nil
}

// ask asks the provider, and stores what it says. d is what its caller knows: if
// more is known by now, a call has just ended that others share.
func (a *API) ask(ctx context.Context, order commerce.Order, d commerce.Delivery) (command.Tracked, error) {
	if stored, err := a.delivery(ctx, order); err == nil && stored.Delivery.HeardOn > d.HeardOn {
		return stored, nil
	}
	now, err := a.couriers.Get(ctx, d)
	if err != nil {
		return command.Tracked{}, err
	}
	return commit.Do(ctx, a.committer, command.RecordCourierUpdate{Facts: command.FactsOf(order), Attempt: d.Attempt, Provider: d.Provider,
		Update: command.CourierUpdate(now), TraceID: d.TraceID})
}

// delivery is what is stored of an order's delivery, and the order as it was
// then; nothing if it has none. What moves both gives both its time, so that a
// delivery which is newer than the order may belong to a newer one.
func (a *API) delivery(ctx context.Context, order commerce.Order) (command.Tracked, error) {
	if order.Fulfillment != commerce.ByDelivery {
		return command.Tracked{Order: order}, nil
	}
	for {
		d, err := a.reader.Delivery(ctx, order.Key())
		if errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		if err != nil || d.UpdatedOn <= order.UpdatedOn {
			return command.Tracked{Order: order, Delivery: d}, err
		}
		if order, err = a.reader.Order(ctx, order.Key()); err != nil || order.UpdatedOn <= d.UpdatedOn {
			return command.Tracked{Order: order, Delivery: d}, err
		}
	}
}
