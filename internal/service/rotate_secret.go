package service

import (
	"context"
	"encoding/base64"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RotateSecret is the input of Service.RotateSecret. If Secret is empty, the use case
// makes one.
type RotateSecret = command.RotateSecret

// RotateSecret replaces the callback secret of a partner, and returns the new one. For a
// day webhooks are signed with both, unless in.Now is set.
func (s *Service) RotateSecret(ctx context.Context, by commerce.Actor, in RotateSecret) (secret string, e commerce.Endpoint, err error) {
	if in.Secret == "" {
		in.Secret = s.newSecret()
	}
	e, err = act(ctx, s, by, deed{"rotate_secret", "", in.PartnerID}, in)
	return in.Secret, e, err
}

// newSecret makes a random secret in the form of Standard Webhooks.
func (s *Service) newSecret() string {
	var b [24]byte
	s.o.Env.Read(b[:])
	return "whsec_" + base64.StdEncoding.EncodeToString(b[:])
}
