package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/outside/courier"
)

// RecordCourierUpdate records a callback of a courier provider about a delivery.
// Callbacks may be repeated, late and out of order. by is the provider. It returns
// ErrUnknownSubject for an unknown delivery, and for a delivery of another provider, and ErrDuplicate
// if the callback told nothing new.
func (s *Service) RecordCourierUpdate(ctx context.Context, by commerce.Actor, delivery courier.Delivery) error {
	orderID, attempt, ok := commerce.ParseDeliveryRef(delivery.Ref)
	if !ok {
		return ErrUnknownSubject
	}
	order, err := s.orderOf(ctx, orderID)
	if err != nil {
		return unknownSubject(err)
	}
	tracked, err := commit.Do(ctx, s.committer, command.RecordCourierUpdate{Facts: command.FactsOf(order), Attempt: attempt, Provider: by.ID,
		Update: command.CourierUpdate(delivery), TraceID: by.TraceID})
	if refused, ok := errors.AsType[*commerce.Error](err); ok && refused.Kind == commerce.KindNotFound ||
		err == nil && attempt == tracked.Delivery.Attempt && tracked.Delivery.Provider != by.ID {
		return ErrUnknownSubject
	}
	if err == nil && tracked.Known {
		return ErrDuplicate
	}
	return err
}
