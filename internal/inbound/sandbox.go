package inbound

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/web"
)

// Signer signs the callbacks of sandboxes; it is a sandbox.Signer.
type Signer interface {
	Sign(ctx context.Context, now time.Time, body []byte) (string, error)
}

// FromSandbox returns a function that signs a callback of a sandbox and hands it to its
// port. The callback is verified, translated and recorded as one of another provider, but
// no request is made. Its error is about this callback alone, whatever caused it.
func (in *Inbound) FromSandbox(signer Signer) func(ctx context.Context, port string, body []byte) error {
	return func(ctx context.Context, port string, body []byte) error {
		signature, err := signer.Sign(ctx, in.env.Now(), body)
		if err != nil {
			return err
		}
		from, known := in.posters[Prefix+port+"/sandbox"]
		if !known {
			return commerce.NotFound("path")
		}
		header := http.Header{}
		header.Set(sandbox.SignatureHeader, signature)
		if err := from.take(ctx, from.actor(web.NewTraceID(in.env)), header, body); err != nil {
			return fmt.Errorf("the callback was refused: %v", err)
		}
		return nil
	}
}
