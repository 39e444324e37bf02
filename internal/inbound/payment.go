package inbound

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

// payment records one callback of a processor. Of a payment that another
// processor takes it tells nothing: a test account must not pay live orders.
func (in *Inbound) payment(ctx context.Context, processor string, n payment.Callback, traceID string) error {
	key, err := in.orderKey(ctx, n.OrderID)
	var order commerce.Order
	var paid commerce.Payment
	if err == nil {
		order, err = in.reader.Order(ctx, key)
	}
	if err == nil {
		paid, err = in.reader.Payment(ctx, key)
	}
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && paid.Processor != processor:
		unknown(processor, n)
		return nil
	case err != nil:
		return err
	}
	return in.record(ctx, n, command.FactsOf(order), traceID)
}

func (in *Inbound) record(ctx context.Context, n payment.Callback, facts command.OrderFacts, traceID string) error {
	note := command.RecordPaymentCallback{Facts: facts, CallbackID: n.ID, Message: n.Message, AmountCents: n.AmountCents, TraceID: traceID}
	switch n.Kind {
	case payment.CallbackPaid:
		return run(ctx, in.committer, command.RecordPayment{Facts: facts, SessionID: n.SessionID, PaymentID: n.PaymentID,
			AmountCents: n.AmountCents, TraceID: traceID})
	case payment.CallbackRefunded, payment.CallbackRefundFailed:
		return run(ctx, in.committer, command.RecordRefundCallback{Facts: facts, RefundID: cmp.Or(n.OurRefundID, n.RefundID), Ref: n.RefundID,
			AmountCents: n.AmountCents, Failed: n.Kind == payment.CallbackRefundFailed, Message: n.Message, TraceID: traceID})
	case payment.CallbackPending:
		note.Kind = command.CallbackPending
	case payment.CallbackDeclined:
		note.Kind = command.CallbackDeclined
	case payment.CallbackExpired:
		note.Kind = command.CallbackExpired
	case payment.CallbackDisputed:
		note.Kind = command.CallbackDisputed
	default:
		slog.Warn("a payment callback of an unknown kind", "kind", n.Kind)
		return nil
	}
	return run(ctx, in.committer, note)
}

// run runs a command whose result nobody needs.
func run[R any](ctx context.Context, c *commit.Committer, cmd commit.Command[R]) error {
	_, err := commit.Do(ctx, c, cmd)
	return err
}
