package inbound

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"purveyor/internal/outside/sandbox"
	"purveyor/internal/web"
)

// Signer signs the callbacks of sandboxes; it is a sandbox.Signer.
type Signer interface {
	Sign(ctx context.Context, now time.Time, body []byte) (string, error)
}

// FromSandbox returns a function that posts a signed callback of a sandbox to the path of
// its port. The callback takes the same way as those of other providers, but without a
// socket. An answer other than 2xx is an error.
func (in *Inbound) FromSandbox(signer Signer) func(ctx context.Context, port string, body []byte) error {
	handler := web.Trace(in.env, slog.New(slog.DiscardHandler), in)
	return func(ctx context.Context, port string, body []byte) error {
		signature, err := signer.Sign(ctx, in.env.Now(), body)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, Prefix+port+"/sandbox", bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set(sandbox.SignatureHeader, signature)
		var a answer
		handler.ServeHTTP(&a, r)
		if a.status < 200 || a.status > 299 {
			return fmt.Errorf("the callback was answered %d: %.200s", a.status, a.body.Bytes())
		}
		return nil
	}
}

// answer is an http.ResponseWriter that keeps the answer in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
