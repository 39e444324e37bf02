package inbound

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"purveyor/internal/outside/payment"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// takePayment reads and records what a payment processor posts.
func (in *Inbound) takePayment(w *web.Writer, r *http.Request, name string, processor PaymentCallbacks, body []byte) error {
	callbacks, err := processor.ReadCallback(r.Context(), r.Header, body)
	if bad, ok := errors.AsType[*payment.BadCallback](err); ok {
		return badCallback(bad)
	}
	if err != nil {
		return err
	}
	for _, n := range callbacks {
		if err := in.payment(r.Context(), name, n, w.TraceID); err != nil {
			return err
		}
	}
	return nil
}

// payment records one callback of a processor. A callback about what is not ours
// is answered as any other, because its sender cannot mend that.
func (in *Inbound) payment(ctx context.Context, processor string, n payment.Callback, traceID string) error {
	err := in.record(ctx, processor, n, traceID)
	if errors.Is(err, service.ErrUnknownSubject) {
		slog.Warn("a payment callback is about an unknown order", "processor", processor, "kind", n.Kind, "order", n.OrderID, "session", n.SessionID, "payment", n.PaymentID)
		return nil
	}
	return err
}

func (in *Inbound) record(ctx context.Context, processor string, n payment.Callback, traceID string) error {
	by := provider(processor, traceID)
	note := service.RecordPaymentCallback{OrderID: n.OrderID, CallbackID: n.ID, Message: n.Message, AmountCents: n.AmountCents}
	switch n.Kind {
	case payment.CallbackPaid:
		return in.service.RecordPayment(ctx, by, service.RecordPayment{OrderID: n.OrderID, SessionID: n.SessionID, PaymentID: n.PaymentID, AmountCents: n.AmountCents})
	case payment.CallbackRefunded, payment.CallbackRefundFailed:
		return in.service.RecordRefundCallback(ctx, by, service.RecordRefundCallback{OrderID: n.OrderID, RefundID: n.OurRefundID, Ref: n.RefundID,
			AmountCents: n.AmountCents, Failed: n.Kind == payment.CallbackRefundFailed, Message: n.Message})
	case payment.CallbackPending:
		note.Kind = service.CallbackPending
	case payment.CallbackDeclined:
		note.Kind = service.CallbackDeclined
	case payment.CallbackExpired:
		note.Kind = service.CallbackExpired
	case payment.CallbackDisputed:
		note.Kind = service.CallbackDisputed
	default:
		slog.Warn("a payment callback of an unknown kind", "kind", n.Kind)
		return nil
	}
	return in.service.RecordPaymentCallback(ctx, by, note)
}
