package payment

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/watch"
)

// fixed is a processor that gives the same answer to every call.
type fixed struct {
	Processor
	err error
}

func (f fixed) OpenSession(context.Context, SessionRequest) (Session, error) {
	return Session{}, f.err
}
func (f fixed) ExpireSession(context.Context, string) (Session, error) { return Session{}, f.err }
func (f fixed) Session(context.Context, string) (Session, error)       { return Session{}, f.err }
func (f fixed) Refund(context.Context, RefundRequest) (Refund, error)  { return Refund{}, f.err }
func (f fixed) ReadCallback(context.Context, http.Header, []byte) ([]Callback, error) {
	return nil, f.err
}

// TestWatch checks that every call is watched, that a refusal counts as an answer,
// and that callbacks are not watched.
func TestWatch(t *testing.T) {
	isDown, refuses := errors.New("no route"), &Refusal{Message: "no"}
	for name, call := range map[string]func(context.Context, Processor) error{
		"open": func(ctx context.Context, p Processor) error {
			_, err := p.OpenSession(ctx, SessionRequest{})
			return err
		},
		"expire": func(ctx context.Context, p Processor) error { _, err := p.ExpireSession(ctx, "cs"); return err },
		"read":   func(ctx context.Context, p Processor) error { _, err := p.Session(ctx, "cs"); return err },
		"refund": func(ctx context.Context, p Processor) error { _, err := p.Refund(ctx, RefundRequest{}); return err },
	} {
		for want, fails := range map[string]error{"stripe: no route": isDown, "": refuses} {
			reported := ""
			p := Watch("stripe", fixed{err: fails}, watch.Watcher{Failed: func(f *commerce.ProviderError) { reported += f.Provider + ": " + f.Error() }})
			if err := call(t.Context(), p); !errors.Is(err, fails) || reported != want {
				t.Errorf("%s: %v, reported %q, want %q", name, err, reported, want)
			}
			if _, err := p.ReadCallback(t.Context(), nil, nil); err != fails || reported != want {
				t.Errorf("a callback: %v, reported %q", err, reported)
			}
		}
	}
}

func TestErrorTexts(t *testing.T) {
	for want, err := range map[string]error{
		"payment notice: it is not signed":               &BadCallback{Reason: "it is not signed"},
		"refused by the payment processor: no such card": &Refusal{Message: "no such card"},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
