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
	err := in.service.RecordPaymentCallback(ctx, by, n)
	if errors.Is(err, service.ErrUnknownSubject) {
		slog.Warn("a payment callback is about an unknown order", "processor", by.ID, "kind", n.Kind, "order", n.OrderID, "session", n.SessionID, "payment", n.PaymentID)
		return nil
	}
	return err
}
