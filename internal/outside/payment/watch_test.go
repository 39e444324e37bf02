package payment

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"purveyor/internal/commerce"
)

// fixed is a processor that gives one answer to every call.
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
func (f fixed) ReadNotice(context.Context, http.Header, []byte) ([]Notice, error) {
	return nil, f.err
}

// Failures are told with the processor's name. Answers are not, and neither is a
// call that its caller gave up.
func TestWatch(t *testing.T) {
	isDown := errors.New("no route")
	for name, call := range map[string]func(context.Context, Processor) error{
		"open": func(ctx context.Context, p Processor) error {
			_, err := p.OpenSession(ctx, SessionRequest{})
			return err
		},
		"expire": func(ctx context.Context, p Processor) error { _, err := p.ExpireSession(ctx, "cs"); return err },
		"read":   func(ctx context.Context, p Processor) error { _, err := p.Session(ctx, "cs"); return err },
		"refund": func(ctx context.Context, p Processor) error { _, err := p.Refund(ctx, RefundRequest{}); return err },
	} {
		for _, c := range []struct {
			err         error
			told, typed bool
		}{{nil, false, false}, {&Refusal{Message: "no"}, false, false}, {isDown, true, true}, {&commerce.CredentialsError{Message: "revoked"}, true, true}, {context.Canceled, false, true}} {
			told := 0
			p := Watch("stripe", fixed{err: c.err}, func(f *commerce.ProviderError) { told++ })
			err := call(t.Context(), p)
			failure, ok := errors.AsType[*commerce.ProviderError](err)
			if !errors.Is(err, c.err) || (told == 1) != c.told || ok != c.typed || ok && (failure.Provider != "stripe" || failure.Error() != c.err.Error()) {
				t.Errorf("%s, %v: %v, told %d times", name, c.err, err, told)
			}
			if _, err := p.ReadNotice(t.Context(), nil, nil); err != c.err || told > 1 {
				t.Errorf("a notice: %v, told %d times", err, told)
			}
		}
	}
}

func TestErrorTexts(t *testing.T) {
	for want, err := range map[string]error{
		"payment notice: it is not signed":               &BadNotice{Reason: "it is not signed"},
		"refused by the payment processor: no such card": &Refusal{Message: "no such card"},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
