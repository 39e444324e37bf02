package inbound

import (
	"context"
	"errors"
	"log/slog"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/payment"
	"purveyor/internal/service"
)

// payment records one callback of a processor. A callback about an order that is not
// ours is accepted like any other, because the processor could not correct it.
func (in *Inbound) payment(ctx context.Context, by commerce.Actor, n payment.Callback, _ []byte) error {
	err := in.record(ctx, by, n)
	if errors.Is(err, service.ErrUnknownSubject) {
		slog.Warn("a payment callback is about an unknown order", "processor", by.ID, "kind", n.Kind, "order", n.OrderID, "session", n.SessionID, "payment", n.PaymentID)
		return nil
	}
	return err
}

// notes are the callbacks that only add to an order's timeline.
var notes = map[payment.CallbackKind]service.PaymentCallbackKind{
	payment.CallbackPending:  service.CallbackPending,
	payment.CallbackDeclined: service.CallbackDeclined,
	payment.CallbackExpired:  service.CallbackExpired,
	payment.CallbackDisputed: service.CallbackDisputed,
}

func (in *Inbound) record(ctx context.Context, by commerce.Actor, n payment.Callback) error {
	switch n.Kind {
	case payment.CallbackPaid:
		return in.service.RecordPayment(ctx, by, n.OrderID, service.RecordPayment{SessionID: n.SessionID, PaymentID: n.PaymentID, AmountCents: n.AmountCents})
	case payment.CallbackRefunded, payment.CallbackRefundFailed:
		return in.service.RecordRefundCallback(ctx, by, n.OrderID, service.RecordRefundCallback{RefundID: n.OurRefundID, Ref: n.RefundID,
			AmountCents: n.AmountCents, Failed: n.Kind == payment.CallbackRefundFailed, Message: n.Message})
	}
	kind, known := notes[n.Kind]
	if !known {
		slog.Warn("a payment callback of an unknown kind", "kind", n.Kind)
		return nil
	}
	return in.service.RecordPaymentCallback(ctx, by, n.OrderID, service.RecordPaymentCallback{Kind: kind, CallbackID: n.ID, Message: n.Message, AmountCents: n.AmountCents})
}
