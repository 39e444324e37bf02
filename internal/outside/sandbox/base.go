package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"purveyor/internal/env"
)

// Base is what the sandboxes of all ports have in common.
type Base struct {
	// Now is the clock by which sessions and quotes expire and signatures age.
	// NewBase sets that of the Env.
	Now     func() time.Time
	Env     env.Env
	Objects Objects
	Signer  *Signer
	URL     string // the service's public URL, without a slash at its end
}

// NewBase makes the base of a sandbox. Its pages must be served below baseURL, the
// service's public URL.
func NewBase(e env.Env, objects Objects, baseURL string) Base {
	return Base{Now: e.Now, Env: e, Objects: objects, Signer: NewSigner(e, objects), URL: strings.TrimSuffix(baseURL, "/")}
}

// CallbackForm implements the interfaces of the ports. The bound is far above the size
// of any callback of a sandbox.
func (*Base) CallbackForm() (headers []string, maxBytes int) {
	return []string{SignatureHeader}, 64 << 10
}

// Read verifies the signature of a callback, decodes its JSON as an N, and translates
// that. The error is made by bad if the callback cannot be trusted, decoded or
// translated.
func Read[N, C any](ctx context.Context, b *Base, header http.Header, body []byte, translate func(N) (C, error), bad func(reason string) error) ([]C, error) {
	err := b.Signer.Verify(ctx, b.Now(), header.Get(SignatureHeader), body)
	if err != nil && !errors.Is(err, ErrSignature) {
		return nil, err
	}
	if err != nil {
		return nil, bad(err.Error())
	}
	var n N
	if err := json.Unmarshal(body, &n); err != nil {
		return nil, bad("it is no JSON as the sandbox writes it: " + err.Error())
	}
	c, err := translate(n)
	if err != nil {
		return nil, bad(err.Error())
	}
	return []C{c}, nil
}
