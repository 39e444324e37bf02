package courier

import (
	"context"
	"errors"
	"net/http"

	"purveyor/internal/commerce"
)

// Watch is p, known by its configured name. Calls that fail are told to failed
// and return a *commerce.ProviderError. A *Refusal is an answer and no failure.
// A call that its caller gave up, because the process stops, is not told.
func Watch(name string, p Provider, failed func(*commerce.ProviderError)) Provider {
	return watched{name, p, failed}
}

type watched struct {
	name   string
	next   Provider
	failed func(*commerce.ProviderError)
}

func (w watched) tell(err error) error {
	if err == nil || errors.As(err, new(*Refusal)) {
		return err
	}
	failure := &commerce.ProviderError{Provider: w.name, Err: err}
	if !errors.Is(err, context.Canceled) {
		w.failed(failure)
	}
	return failure
}

func (w watched) Quote(ctx context.Context, r QuoteRequest) (Quote, error) {
	q, err := w.next.Quote(ctx, r)
	return q, w.tell(err)
}

func (w watched) Create(ctx context.Context, r CreateRequest) (Delivery, error) {
	d, err := w.next.Create(ctx, r)
	return d, w.tell(err)
}

func (w watched) Get(ctx context.Context, k Key) (Delivery, error) {
	d, err := w.next.Get(ctx, k)
	return d, w.tell(err)
}

func (w watched) Cancel(ctx context.Context, k Key) (Delivery, error) {
	d, err := w.next.Cancel(ctx, k)
	return d, w.tell(err)
}

// ReadNotice is not watched: its errors are about what was posted to us.
func (w watched) ReadNotice(ctx context.Context, header http.Header, body []byte) ([]Notice, error) {
	return w.next.ReadNotice(ctx, header, body)
}

func (w watched) NoticeForm() (headers []string, maxBytes int) { return w.next.NoticeForm() }
