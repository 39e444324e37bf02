package service

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
)

// QuoteDelivery is the input of Service.QuoteDelivery.
type QuoteDelivery struct {
	StoreID    string
	To         commerce.DeliveryAddress
	ValueCents commerce.Cents // of the goods
}

// Quoted is an offer of a courier provider.
type Quoted struct {
	courier.Quote
	Miles *float64 // from the store to the address; nil: unknown
}

// QuoteDelivery asks the courier providers of the caller's mode for the price of a
// delivery. It changes nothing. It refuses a store that the caller may not use, that does
// not deliver or that is not active, and an address out of reach.
func (s *Service) QuoteDelivery(ctx context.Context, by Caller, in QuoteDelivery) (Quoted, error) {
	store, err := s.store(ctx, by.Partner, in.StoreID)
	obstacles := commerce.Sale{Store: store, Fulfillment: commerce.ByDelivery}.Obstacles()
	switch {
	case err != nil:
		return Quoted{}, err
	case slices.Contains(obstacles, commerce.NoDelivery):
		return Quoted{}, &commerce.Error{Kind: commerce.KindForbidden, Code: "delivery_not_enabled", Message: "This store does not deliver"}
	case slices.Contains(obstacles, commerce.StoreInactive):
		return Quoted{}, commerce.Invalid("store_id", "store %s is not active", store.ID)
	}
	t := s.trip(store, in.To, s.place(ctx, in.To.Address), in.ValueCents)
	if t.reach.Beyond {
		return Quoted{}, commerce.OutOfRadius()
	}
	q, err := s.quote(ctx, by.Mode, t)
	return Quoted{q, t.reach.Miles}, err
}

// quoteTime is how long a call waits for an offer.
const quoteTime = 10 * time.Second

// trip is the way from a store to a customer.
type trip struct {
	request courier.QuoteRequest
	reach   commerce.Reach
}

// trip returns the way from a store to an address. place is the place of the address, or
// nil. Couriers get its coordinates only if these are those of the door or of its street.
func (s *Service) trip(store commerce.Store, to commerce.DeliveryAddress, place *geocode.Place, value commerce.Cents) trip {
	t := trip{reach: store.ReachOf(forReach(place)), request: courier.QuoteRequest{Ref: s.newID(commerce.PrefixQuote), StoreID: store.ID, ValueCents: value,
		Pickup: courier.PickupAt(store, ""), Dropoff: courier.DropoffAt(&to, "")}}
	if place != nil && place.Precision.Exact() {
		t.request.Dropoff.At = &place.Point
	}
	return t
}

// quote asks the courier providers of a mode for an offer. Its error is a refusal (400) or
// a *PortError.
func (s *Service) quote(ctx context.Context, mode commerce.Mode, t trip) (courier.Quote, error) {
	ctx, cancel := s.o.Env.WithTimeout(ctx, quoteTime)
	defer cancel()
	q, err := s.o.Couriers.Quote(ctx, mode, t.request)
	if err == nil {
		return q, nil
	}
	if refusal, ok := errors.AsType[*courier.Refusal](err); ok {
		e := &commerce.Error{Kind: commerce.KindInvalid, Code: string(refusal.Code), Field: "delivery_address", Message: refusal.Message}
		if e.Message == "" {
			e.Message = "The courier does not deliver there"
		}
		return q, e
	}
	failed := &PortError{Port: CourierPort, Fault: Unavailable, Mode: mode, Err: err}
	if errors.Is(err, courier.ErrNoProvider) {
		failed.Fault = NotConfigured
	} else if _, denied := errors.AsType[*commerce.CredentialsError](err); denied {
		failed.Fault = RefusesUs
	} else if limited, ok := errors.AsType[*courier.Limited](err); ok {
		failed.RetryAfter = limited.RetryAfter
	}
	return q, failed
}

// place returns the place of an address. It returns nil if the address cannot be located
// or the geocoder does not answer; the courier provider then decides.
func (s *Service) place(ctx context.Context, address commerce.Address) *geocode.Place {
	place, err := s.o.Geocoder.Find(ctx, geocode.Parts(address))
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

// forReach converts a place for commerce.Store.ReachOf.
func forReach(place *geocode.Place) *commerce.Place {
	if place == nil {
		return nil
	}
	return place.ForReach()
}
