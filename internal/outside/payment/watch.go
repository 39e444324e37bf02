package payment

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/watch"
)

// Watch returns p with its calls watched, under its configured name. A call that
// fails is reported to failed, and returns a *commerce.ProviderError. Reading
// callbacks is not watched: its errors are about what was posted to us.
func Watch(name string, p Processor, failed func(*commerce.ProviderError)) Processor {
	return watched{p, watch.Calls[*Refusal]{Provider: name, Failed: failed}}
}

type watched struct {
	Processor
	calls watch.Calls[*Refusal]
}

func (w watched) OpenSession(ctx context.Context, r SessionRequest) (Session, error) {
	return watch.Call(ctx, w.calls, w.Processor.OpenSession, r)
}

func (w watched) ExpireSession(ctx context.Context, id string) (Session, error) {
	return watch.Call(ctx, w.calls, w.Processor.ExpireSession, id)
}

func (w watched) Session(ctx context.Context, id string) (Session, error) {
	return watch.Call(ctx, w.calls, w.Processor.Session, id)
}

func (w watched) Refund(ctx context.Context, r RefundRequest) (Refund, error) {
	return watch.Call(ctx, w.calls, w.Processor.Refund, r)
}
