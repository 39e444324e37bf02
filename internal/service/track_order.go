package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// Tracked is an order and its delivery.
type Tracked = command.Tracked

// liveTime is how long a call waits for where a courier is; after it, what is
// stored is shown.
const liveTime = 5 * time.Second

// TrackOrder returns the delivery of an order as it is now, and whether its
// provider was asked just now. What was heard less than 60 seconds ago is not
// asked for again; what is stored is returned when the provider does not answer.
// Calls for one order at a time share one question. overToo: a delivery that is
// over is asked for, too.
func (s *Service) TrackOrder(ctx context.Context, order commerce.Order, overToo bool) (Tracked, bool, error) {
	stored, err := s.StoredDelivery(ctx, order)
	d := stored.Delivery
	if err != nil || d.ProviderID == "" || d.Status.Over() && !overToo || !d.Status.Over() && d.Fresh(s.millis()) {
		return stored, false, err
	}
	now, err := s.calls.Do(ctx, s.o.Env, d.Ref(), func() (Tracked, error) {
		ctx, cancel := s.o.Env.WithTimeout(context.WithoutCancel(ctx), liveTime)
		defer cancel()
		return s.askCourier(ctx, order, d)
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

// askCourier asks the provider, and stores what it says. d is what the caller
// knows: if more is known by now, another call has just ended.
func (s *Service) askCourier(ctx context.Context, order commerce.Order, d commerce.Delivery) (Tracked, error) {
	if stored, err := s.StoredDelivery(ctx, order); err == nil && stored.Delivery.HeardOn > d.HeardOn {
		return stored, nil
	}
	now, err := s.o.Couriers.Get(ctx, d)
	if err != nil {
		return Tracked{}, err
	}
	return commit.Do(ctx, s.committer, command.RecordCourierUpdate{Facts: command.FactsOf(order), Attempt: d.Attempt, Provider: d.Provider,
		Update: command.CourierUpdate(now), TraceID: d.TraceID})
}

// StoredDelivery is what is stored of an order's delivery, and the order as it
// was then; no delivery if the order has none. What moves both gives both its
// time, so that a delivery which is newer than the order may belong to a newer
// order.
func (s *Service) StoredDelivery(ctx context.Context, order commerce.Order) (Tracked, error) {
	if order.Fulfillment != commerce.ByDelivery {
		return Tracked{Order: order}, nil
	}
	for {
		d, err := s.reader.Delivery(ctx, order.Key())
		if errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		if err != nil || d.UpdatedOn <= order.UpdatedOn {
			return Tracked{Order: order, Delivery: d}, err
		}
		if order, err = s.reader.Order(ctx, order.Key()); err != nil || order.UpdatedOn <= d.UpdatedOn {
			return Tracked{Order: order, Delivery: d}, err
		}
	}
}
