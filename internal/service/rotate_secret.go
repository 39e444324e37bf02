package service

import (
	"cmp"
	"context"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RotateSecret is the input of Service.RotateSecret. If Secret is empty, the use case
// makes one, from Draw if that is given, as for a key.
type RotateSecret struct {
	Owner   string // of the endpoint; a partner's id for its callback URL
	Secret  string
	Now     bool            // the old secret may have leaked and signs nothing from now on
	Overlap time.Duration   // how long the old secret signs as well; 0: a day
	Seen    commerce.Millis // UpdatedOn of the partner as the person saw it; 0: any
	Draw    string
}

// RotateSecret replaces the secret of an endpoint, and returns the new one. For a while
// webhooks are signed with both, unless in.Now is set.
func (s *Service) RotateSecret(ctx context.Context, by commerce.Actor, in RotateSecret) (secret string, e commerce.Endpoint, err error) {
	cmd := command.RotateSecret{Owner: in.Owner, Actor: by, Secret: in.Secret, Overlap: cmp.Or(in.Overlap, commerce.SecretOverlap), Seen: in.Seen}
	if in.Now {
		cmd.Overlap = 0
	}
	if cmd.Secret == "" {
		if cmd.Secret, err = s.DrawSecret(in.Draw); err != nil {
			return "", e, err
		}
	}
	e, err = act(ctx, s, by, deed{"rotate_secret", "", in.Owner}, cmd)
	return cmd.Secret, e, err
}
