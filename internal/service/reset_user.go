package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ResetUser makes another one-time link for a user, and ends all sessions.
func (s *Service) ResetUser(ctx context.Context, by commerce.Actor, userID string, dropSecondFactor bool) (out Invited, err error) {
	cmd := command.ResetUser{UserID: userID, DropSecondFactor: dropSecondFactor}
	if cmd.Given, err = s.given(ctx, by); err != nil {
		return out, err
	}
	if cmd.Sessions, err = s.sessionsOf(ctx, userID, ""); err != nil {
		return out, err
	}
	out.Token, cmd.LinkHash, cmd.ExpiresOn = s.link(userID, LinkLife)
	out.User, err = act(ctx, s, by, deed{"reset_user", "", userID}, cmd)
	return out, err
}
