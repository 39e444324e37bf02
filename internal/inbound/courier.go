package inbound

import (
	"context"
	"errors"
	"log/slog"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/service"
)

// courier records one callback. A callback about an unknown delivery, or about one of
// another provider, is stored as a stray callback and accepted: the provider could not
// correct it.
func (in *Inbound) courier(ctx context.Context, by commerce.Actor, n courier.Callback, body []byte) error {
	err := in.service.RecordCourierUpdate(ctx, by, n.Delivery)
	if !errors.Is(err, service.ErrUnknownSubject) {
		return err
	}
	slog.Warn("a courier callback is about an unknown delivery", "provider", by.ID, "delivery", n.Delivery.ID, "ref", n.Ref, "callback", n.ID)
	return in.service.KeepStrayCallback(ctx, by, n.Delivery.ID, body)
}
