package inbound

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/outside/courier"
	"purveyor/internal/storage"
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

// courier records one callback. One that is about none of our deliveries, or of
// another provider's, is kept: its sender cannot mend that.
func (in *Inbound) courier(ctx context.Context, provider string, n courier.Callback, body []byte, traceID string) error {
	orderID, attempt, ok := commerce.ParseDeliveryRef(n.Ref)
	if !ok {
		return in.stray(ctx, provider, n, body)
	}
	key, err := in.orderKey(ctx, orderID)
	var order commerce.Order
	if err == nil {
		order, err = in.reader.Order(ctx, key)
	}
	if errors.Is(err, storage.ErrNotFound) {
		return in.stray(ctx, provider, n, body)
	}
	if err != nil {
		return err
	}
	tracked, err := commit.Do(ctx, in.committer, command.RecordCourierUpdate{Facts: command.FactsOf(order), Attempt: attempt, Provider: provider,
		Update: command.CourierUpdate(n.Delivery), TraceID: traceID})
	if refusal, ok := errors.AsType[*commerce.Error](err); ok && refusal.Kind == commerce.KindNotFound ||
		err == nil && attempt == tracked.Delivery.Attempt && tracked.Delivery.Provider != provider {
		return in.stray(ctx, provider, n, body)
	}
	return err
}

// stray keeps a callback for whoever looks for it.
func (in *Inbound) stray(ctx context.Context, provider string, n courier.Callback, body []byte) error {
	slog.Warn("a courier callback is about an unknown delivery", "provider", provider, "delivery", n.Delivery.ID, "ref", n.Ref, "callback", n.ID)
	return run(ctx, in.committer, command.KeepStrayCallback{Callback: commerce.StrayCallback{Provider: provider, DeliveryID: n.Delivery.ID, Body: string(body)}})
}
