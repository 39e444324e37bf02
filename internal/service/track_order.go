package service

import (
	"context"
	"log/slog"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// Tracked is an order and its delivery.
type Tracked = command.Tracked

// liveTime is how long a call waits for the position of a courier. After it, the stored
// position is shown.
const liveTime = 5 * time.Second

// TrackOrder returns the current delivery of an order, and whether its provider was asked
// just now. The provider is not asked if its last report is less than 60 seconds old. If
// it does not answer, the stored delivery is returned. Concurrent calls for one order
// share one request. If overToo is set, the provider is also asked about a delivery that
// is over.
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

// askCourier asks the provider, and stores its answer. d is the delivery as the caller
// read it: if the stored one is newer, another call has just asked.
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
