package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/outside/payment"
	"purveyor/internal/storage"
)

// ErrUnknownSubject is returned for a callback about an unknown order or delivery, and
// for one about an order or delivery of another provider. Nothing was changed.
var ErrUnknownSubject = errors.New("the callback is about an unknown order or delivery")

// ErrDuplicate is returned for a callback that told nothing new. Nothing was changed, but that it came.
var ErrDuplicate = errors.New("the callback told nothing new")

// notes are the callbacks that move no money. They only add to an order's timeline.
var notes = map[payment.CallbackKind]command.PaymentCallbackKind{
	payment.CallbackPending:  command.CallbackPending,
	payment.CallbackDeclined: command.CallbackDeclined,
	payment.CallbackExpired:  command.CallbackExpired,
	payment.CallbackDisputed: command.CallbackDisputed,
}

// RecordPaymentCallback records what a processor reports about an order: a payment, a
// refund, or a note for the timeline. Callbacks may be repeated and late. by is the
// processor. It returns ErrUnknownSubject if another processor takes the order's payment,
// because a test account must not pay live orders, ErrDuplicate, and the conflict too_early if the
// processor should send the callback again later.
func (s *Service) RecordPaymentCallback(ctx context.Context, by commerce.Actor, n payment.Callback) error {
	facts, err := s.paymentFacts(ctx, by, n.OrderID)
	if err != nil {
		return err
	}
	switch n.Kind {
	case payment.CallbackPaid:
		return recordNews(ctx, s, command.RecordPayment{Facts: facts, Actor: by, SessionID: n.SessionID, PaymentID: n.PaymentID, AmountCents: n.AmountCents})
	case payment.CallbackRefunded, payment.CallbackRefundFailed:
		// A refund that was made at the processor has no id of ours.
		return recordNews(ctx, s, command.RecordRefundCallback{Facts: facts, Actor: by, RefundID: cmp.Or(n.OurRefundID, n.RefundID), Ref: n.RefundID,
			AmountCents: n.AmountCents, Failed: n.Kind == payment.CallbackRefundFailed, Message: n.Message})
	}
	kind, known := notes[n.Kind]
	if !known {
		slog.Warn("a payment callback of an unknown kind", "kind", n.Kind)
		return nil
	}
	return recordNews(ctx, s, command.RecordPaymentCallback{Facts: facts, Actor: by, Kind: kind, CallbackID: n.ID, Message: n.Message, AmountCents: n.AmountCents})
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

// run runs a command and drops its result.
func run[R any](ctx context.Context, s *Service, cmd commit.Command[R]) error {
	_, err := commit.Do(ctx, s.committer, cmd)
	return err
}

// recordNews runs the command of a callback. It returns ErrDuplicate if that changed nothing.
func recordNews[R any](ctx context.Context, s *Service, cmd commit.Command[R]) error {
	idle := false
	_, err := commit.Do(ctx, s.committer, noticing[R]{cmd, &idle})
	if err == nil && idle {
		return ErrDuplicate
	}
	return err
}

// noticing is a command, and notices whether it changes nothing.
type noticing[R any] struct {
	commit.Command[R]
	idle *bool
}

// Inner is the command by whose name it is counted.
func (n noticing[R]) Inner() any { return n.Command }

// Decide implements commit.Command.
func (n noticing[R]) Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error) {
	result, changes, err := n.Command.Decide(rows, now)
	*n.idle = changes.Empty()
	return result, changes, err
}
