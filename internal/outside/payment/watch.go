package payment

import (
	"context"
	"errors"
	"net/http"

	"purveyor/internal/commerce"
)

// Watch is p, known by its configured name. Calls that fail are told to failed
// and return a *commerce.ProviderError. A *Refusal is an answer and no failure.
// A call that its caller gave up, because the process stops, is not told.
func Watch(name string, p Processor, failed func(*commerce.ProviderError)) Processor {
	return watched{name, p, failed}
}

type watched struct {
	name   string
	next   Processor
	failed func(*commerce.ProviderError)
}

func (w watched) tell(err error) error {
	if err == nil || refused(err) {
		return err
	}
	failure := &commerce.ProviderError{Provider: w.name, Err: err}
	if !errors.Is(err, context.Canceled) {
		w.failed(failure)
	}
	return failure
}

func (w watched) OpenSession(ctx context.Context, r SessionRequest) (Session, error) {
	s, err := w.next.OpenSession(ctx, r)
	return s, w.tell(err)
}

func (w watched) ExpireSession(ctx context.Context, id string) (Session, error) {
	s, err := w.next.ExpireSession(ctx, id)
	return s, w.tell(err)
}

func (w watched) Session(ctx context.Context, id string) (Session, error) {
	s, err := w.next.Session(ctx, id)
	return s, w.tell(err)
}

func (w watched) Refund(ctx context.Context, r RefundRequest) (Refund, error) {
	made, err := w.next.Refund(ctx, r)
	return made, w.tell(err)
}

// ReadNotice is not watched: its errors are about what was posted to us.
func (w watched) ReadNotice(ctx context.Context, header http.Header, body []byte) ([]Notice, error) {
	return w.next.ReadNotice(ctx, header, body)
}

func (w watched) NoticeForm() (headers []string, maxBytes int) { return w.next.NoticeForm() }
