package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// ErrUnknownSubject is returned for a callback about an unknown order or delivery, and
// for one about an order or delivery of another provider. Nothing was changed.
var ErrUnknownSubject = errors.New("the callback is about an unknown order or delivery")

// RecordPayment is a payment of a customer. The use case sets Facts and Actor.
type RecordPayment = command.RecordPayment

// RecordPayment records that the customer of an order has paid. Callbacks may be repeated
// and late. by is the processor. It returns ErrUnknownSubject if another processor takes
// the order's payment, because a test account must not pay live orders.
func (s *Service) RecordPayment(ctx context.Context, by commerce.Actor, orderID string, in RecordPayment) (err error) {
	if in.Facts, err = s.paymentFacts(ctx, by, orderID); err != nil {
		return err
	}
	in.Actor = by
	return run(ctx, s, in)
}

// paymentFacts returns the facts of an order, or ErrUnknownSubject if the processor does
// not take its payment.
func (s *Service) paymentFacts(ctx context.Context, by commerce.Actor, orderID string) (command.OrderFacts, error) {
	order, err := s.orderOf(ctx, orderID)
	if err != nil {
		return command.OrderFacts{}, unknownSubject(err)
	}
	paid, err := s.reader.Payment(ctx, order.Key())
	if err == nil && paid.Processor != by.ID {
		err = ErrUnknownSubject
	}
	return command.FactsOf(order), unknownSubject(err)
}

// orderOf finds an order by its id alone. It returns storage.ErrNotFound for an unknown
// order.
func (s *Service) orderOf(ctx context.Context, orderID string) (commerce.Order, error) {
	key, err := s.orderKey(ctx, orderID)
	if err != nil {
		return commerce.Order{}, err
	}
	return s.reader.Order(ctx, key)
}

func unknownSubject(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return ErrUnknownSubject
	}
	return err
}

// run runs a command whose result is not used.
func run[R any](ctx context.Context, s *Service, cmd commit.Command[R]) error {
	_, err := commit.Do(ctx, s.committer, cmd)
	return err
}
