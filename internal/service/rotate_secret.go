package service

import (
	"context"
	"encoding/base64"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RotateSecret says how the callback secret of a partner is replaced. An empty
// Secret is drawn.
type RotateSecret = command.RotateSecret

// RotateSecret replaces the callback secret of a partner, and returns the new one.
// For a day both sign, unless in.Now is set.
func (s *Service) RotateSecret(ctx context.Context, by commerce.Actor, in RotateSecret) (secret string, e commerce.Endpoint, err error) {
	if in.Secret == "" {
		in.Secret = s.newSecret()
	}
	e, err = act(ctx, s, by, in)
	return in.Secret, e, err
}

// newSecret draws a secret in the form of Standard Webhooks.
func (s *Service) newSecret() string {
	var b [24]byte
	s.o.Env.Read(b[:])
	return "whsec_" + base64.StdEncoding.EncodeToString(b[:])
}
