package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/outside/courier"
)

// RecordCourierUpdate records what a courier provider tells of a delivery, however
// often, late and out of order. by is the provider. A delivery that is none of
// ours, or another provider's, is ErrUnknownSubject.
func (s *Service) RecordCourierUpdate(ctx context.Context, by commerce.Actor, told courier.Delivery) error {
	orderID, attempt, ok := commerce.ParseDeliveryRef(told.Ref)
	if !ok {
		return ErrUnknownSubject
	}
	order, err := s.orderOf(ctx, orderID)
	if err != nil {
		return unknownSubject(err)
	}
	tracked, err := commit.Do(ctx, s.committer, command.RecordCourierUpdate{Facts: command.FactsOf(order), Attempt: attempt, Provider: by.ID,
		Update: command.CourierUpdate(told), TraceID: by.TraceID})
	if refused, ok := errors.AsType[*commerce.Error](err); ok && refused.Kind == commerce.KindNotFound ||
		err == nil && attempt == tracked.Delivery.Attempt && tracked.Delivery.Provider != by.ID {
		return ErrUnknownSubject
	}
	return err
}
