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

// RecordPayment is a payment of a customer.
type RecordPayment struct {
	OrderID     string
	SessionID   string
	PaymentID   string // at the processor
	AmountCents commerce.Cents
	Job         *commerce.JobKey // the job that found the payment, which ends; nil: a callback
}

// RecordPayment records that the customer has paid. Callbacks may be repeated and late.
// by is the processor, or the system for a job. It returns ErrUnknownSubject if another processor takes the order's
// payment, because a test account must not pay live orders.
func (s *Service) RecordPayment(ctx context.Context, by commerce.Actor, in RecordPayment) error {
	facts, err := s.paymentFacts(ctx, by, in.OrderID)
	if err != nil {
		return err
	}
	return run(ctx, s, command.RecordPayment{Facts: facts, SessionID: in.SessionID, PaymentID: in.PaymentID, AmountCents: in.AmountCents, Actor: by, Job: in.Job})
}

// paymentFacts returns the facts of an order, or ErrUnknownSubject if the processor does
// not take its payment. The system has asked the right processor.
func (s *Service) paymentFacts(ctx context.Context, by commerce.Actor, orderID string) (command.OrderFacts, error) {
	order, err := s.orderOf(ctx, orderID)
	if err != nil {
		return command.OrderFacts{}, unknownSubject(err)
	}
	paid, err := s.reader.Payment(ctx, order.Key())
	if err == nil && by.Kind != commerce.ActorSystem && paid.Processor != by.ID {
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
