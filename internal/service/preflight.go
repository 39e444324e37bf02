package service

import (
	"context"
	"log/slog"

	"purveyor/internal/commerce"
)

// Cart is the input of Preflight.
type Cart struct {
	StoreID     string
	Lines       []commerce.OrderLine
	Fulfillment commerce.Fulfillment
	To          commerce.DeliveryAddress // of a delivery
	ValueCents  commerce.Cents           // of the goods
}

// Obstacle is a reason why a cart cannot be sold now, by its name in SPEC.
type Obstacle string

// The obstacles.
const (
	StoreInactive    Obstacle = "store_inactive"
	ItemUnavailable  Obstacle = "item_unavailable"
	OutOfRadius      Obstacle = "out_of_radius"
	QuoteUnavailable Obstacle = "quote_unavailable"
	NoDelivery       Obstacle = "store_delivery_disabled"
	NoPickup         Obstacle = "store_pickup_disabled"
)

// Preflighted is the result of Preflight. The cart can be sold if there are no obstacles.
type Preflighted struct {
	Store        commerce.Store
	Fulfillment  commerce.Fulfillment
	Items        []Available
	AllAvailable bool
	Obstacles    []Obstacle // never nil
	Miles        *float64   // to the address of a delivery; nil: unknown
	Quote        *Quoted    // the offer for a delivery; nil: none
}

// Preflight reports whether a cart could be sold right now, and what its delivery would
// cost. It changes nothing. It refuses a store that the caller may not use.
func (s *Service) Preflight(ctx context.Context, by Caller, cart Cart) (p Preflighted, err error) {
	p.Fulfillment, p.Obstacles = cart.Fulfillment, []Obstacle{}
	if p.Store, err = s.store(ctx, by.Partner, cart.StoreID); err != nil {
		return p, err
	}
	if p.Items, p.AllAvailable, err = s.CheckAvailability(ctx, by, &p.Store.ID, cart.Lines); err != nil {
		return p, err
	}
	if !p.Store.Active {
		p.Obstacles = append(p.Obstacles, StoreInactive)
	}
	if !p.AllAvailable {
		p.Obstacles = append(p.Obstacles, ItemUnavailable)
	}
	switch {
	case cart.Fulfillment == commerce.ByDelivery:
		s.preflightDelivery(ctx, by, cart, &p)
	case !p.Store.PickupEnabled:
		p.Obstacles = append(p.Obstacles, NoPickup)
	}
	return p, nil
}

// preflightDelivery gets an offer for the delivery, unless an obstacle is certain already.
func (s *Service) preflightDelivery(ctx context.Context, by Caller, cart Cart, p *Preflighted) {
	t := s.trip(p.Store, cart.To, s.place(ctx, cart.To.Address), cart.ValueCents)
	p.Miles = t.reach.Miles
	if t.reach.Beyond {
		p.Obstacles = append(p.Obstacles, OutOfRadius)
	}
	if !p.Store.DeliveryEnabled {
		p.Obstacles = append(p.Obstacles, NoDelivery)
	}
	if t.reach.Beyond || !p.Store.DeliveryEnabled || !p.Store.Active {
		return
	}
	q, err := s.quote(ctx, by.Mode, t)
	if err != nil {
		slog.Info("no courier makes an offer", "store", p.Store.ID, "trace_id", by.TraceID, "error", err)
		p.Obstacles = append(p.Obstacles, QuoteUnavailable)
		return
	}
	p.Quote = &Quoted{q, t.reach.Miles}
}
