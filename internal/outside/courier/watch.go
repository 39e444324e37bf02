package courier

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/watch"
)

// Watch returns p with its calls watched, under its configured name. A call that
// fails is reported to failed, and returns a *commerce.ProviderError. Reading
// callbacks is not watched: its errors are about what was posted to us.
func Watch(name string, p Provider, failed func(*commerce.ProviderError)) Provider {
	return watched{p, watch.Calls[*Refusal]{Provider: name, Failed: failed}}
}

type watched struct {
	Provider
	calls watch.Calls[*Refusal]
}

func (w watched) Quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	return watch.Call(ctx, w.calls, w.Provider.Quote, r)
}

func (w watched) Create(ctx context.Context, r CreateRequest) (Delivery, error) {
	return watch.Call(ctx, w.calls, w.Provider.Create, r)
}

func (w watched) Get(ctx context.Context, k Key) (Delivery, error) {
	return watch.Call(ctx, w.calls, w.Provider.Get, k)
}

func (w watched) Cancel(ctx context.Context, k Key) (Delivery, error) {
	return watch.Call(ctx, w.calls, w.Provider.Cancel, k)
}
