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

// Preflighted is the result of Preflight. The cart can be sold if there are no obstacles.
type Preflighted struct {
	Store        commerce.Store
	Fulfillment  commerce.Fulfillment
	Items        []Available
	AllAvailable bool
	Obstacles    []commerce.Obstacle // never nil
	Miles        *float64            // to the address of a delivery; nil: unknown
	Quote        *Quoted             // the offer for a delivery; nil: none
}

// Preflight reports whether a cart could be sold right now, and what its delivery would
// cost. It changes nothing. It refuses a store that the caller may not use.
func (s *Service) Preflight(ctx context.Context, by Caller, cart Cart) (p Preflighted, err error) {
	p.Fulfillment = cart.Fulfillment
	if p.Store, err = s.store(ctx, by.Partner, cart.StoreID); err != nil {
		return p, err
	}
	if p.Items, p.AllAvailable, err = s.CheckAvailability(ctx, by, &p.Store.ID, cart.Lines); err != nil {
		return p, err
	}
	sale := commerce.Sale{Store: p.Store, Fulfillment: cart.Fulfillment, Short: !p.AllAvailable}
	if cart.Fulfillment == commerce.ByPickup {
		p.Obstacles = sale.Obstacles()
		return p, nil
	}
	t := s.trip(p.Store, cart.To, s.place(ctx, cart.To.Address), cart.ValueCents)
	sale.Reach, p.Miles = t.reach, t.reach.Miles
	p.Obstacles = sale.Obstacles()
	sale.Short = false // a courier is asked although goods are missing
	if len(sale.Obstacles()) > 0 {
		return p, nil
	}
	q, err := s.quote(ctx, by.Mode, t)
	if err != nil {
		slog.Info("no courier makes an offer", "store", p.Store.ID, "trace_id", by.TraceID, "error", err)
		p.Obstacles = append(p.Obstacles, commerce.QuoteUnavailable)
		return p, nil
	}
	p.Quote = &Quoted{q, t.reach.Miles}
	return p, nil
}
