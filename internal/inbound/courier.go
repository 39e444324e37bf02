package inbound

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"purveyor/internal/outside/courier"
	"purveyor/internal/service"
	"purveyor/internal/web"
)

// CourierCallbacks reads what a courier provider has posted, as courier.Provider
// does.
type CourierCallbacks interface {
	ReadCallback(ctx context.Context, header http.Header, body []byte) ([]courier.Callback, error)
	callbackForm
}

// takeCourier reads and records what a courier provider posts.
func (in *Inbound) takeCourier(w *web.Writer, r *http.Request, name string, provider CourierCallbacks, body []byte) error {
	callbacks, err := provider.ReadCallback(r.Context(), r.Header, body)
	if bad, ok := errors.AsType[*courier.BadCallback](err); ok {
		return badCallback(bad)
	}
	if err != nil {
		return err
	}
	for _, n := range callbacks {
		if err := in.courier(r.Context(), name, n, body, w.TraceID); err != nil {
			return err
		}
	}
	return nil
}

// courier records one callback. A callback about an unknown delivery, or about one of
// another provider, is stored as a stray callback and accepted: the provider could not
// correct it.
func (in *Inbound) courier(ctx context.Context, name string, n courier.Callback, body []byte, traceID string) error {
	by := provider(name, traceID)
	err := in.service.RecordCourierUpdate(ctx, by, n.Delivery)
	if !errors.Is(err, service.ErrUnknownSubject) {
		return err
	}
	slog.Warn("a courier callback is about an unknown delivery", "provider", name, "delivery", n.Delivery.ID, "ref", n.Ref, "callback", n.ID)
	return in.service.KeepStrayCallback(ctx, by, n.Delivery.ID, body)
}
