// Package watch reports calls to providers that fail.
package watch

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
)

// Calls are the calls to one provider. Refusal is the type of error with which its
// port reports a refusal: a refusal is an answer, not a failure.
type Calls[Refusal error] struct {
	Provider string // its configured name
	Failed   func(*commerce.ProviderError)
}

// Call calls the provider. A failure is reported to Failed, and returned as a
// *commerce.ProviderError. A call that its caller gave up, because the process is
// stopping, is not reported.
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
