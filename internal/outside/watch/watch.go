// Package watch reports calls to providers: how each ended, and those that fail.
package watch

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/tracing"
)

// Calls are the calls to one provider. Refusal is the type of error with which its
// port reports a refusal: a refusal is an answer, not a failure.
type Calls[Refusal error] struct {
	Provider string // its configured name
	Watcher
}

// Watcher is told of calls.
type Watcher struct {
	Failed func(*commerce.ProviderError)
	// Began is told that a call begins, and returns what is told of its end; nil: it is not called.
	// refused: the provider has answered, and refuses.
	Began func(provider, call string) (ended func(err error, refused bool))
	// Tracer makes spans of calls; nil: it makes none.
	Tracer *tracing.Tracer
}

// Call calls the provider. name is that of the call. A failure is reported to Failed, and returned as a
// *commerce.ProviderError. A call that its caller gave up, because the process is
// stopping, is not reported.
func Call[Refusal error, Q, R any](ctx context.Context, c Calls[Refusal], name string, call func(context.Context, Q) (R, error), request Q) (R, error) {
	ended := func(error, bool) {}
	if c.Began != nil {
		ended = c.Began(c.Provider, name)
	}
	ctx, span := c.Tracer.Begin(ctx, name, tracing.Client)
	result, err := call(ctx, request)
	_, refused := errors.AsType[Refusal](err)
	ended(err, refused)
	span.Text("purveyor.provider", c.Provider)
	span.End(err)
	if err == nil || refused {
		return result, err
	}
	failure := &commerce.ProviderError{Provider: c.Provider, Err: err}
	if !errors.Is(err, context.Canceled) {
		c.Failed(failure)
	}
	return result, failure
}
