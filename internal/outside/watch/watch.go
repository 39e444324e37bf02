// Package watch tells of calls to providers that fail.
package watch

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
)

// Calls are the calls to one provider. Refusal is the error by which its port says
// that the provider refused a call: that is an answer, and no failure.
type Calls[Refusal error] struct {
	Provider string // the name that is configured
	Failed   func(*commerce.ProviderError)
}

// Call calls the provider. A failure is told to Failed, and returned as a
// *commerce.ProviderError. A call that its caller gave up, because the process
// stops, is not told.
func Call[Refusal error, Q, R any](ctx context.Context, c Calls[Refusal], call func(context.Context, Q) (R, error), request Q) (R, error) {
	result, err := call(ctx, request)
	if _, refused := errors.AsType[Refusal](err); err == nil || refused {
		return result, err
	}
	failure := &commerce.ProviderError{Provider: c.Provider, Err: err}
	if !errors.Is(err, context.Canceled) {
		c.Failed(failure)
	}
	return result, failure
}
