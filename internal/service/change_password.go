package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ChangePassword replaces the password of the caller, and ends all sessions but one.
func (s *Service) ChangePassword(ctx context.Context, by Caller, hash, session string) (user commerce.User, err error) {
	cmd := command.ChangePassword{UserID: by.User.ID, Password: hash}
	if cmd.Sessions, err = s.sessionsOf(ctx, by.User.ID, session); err != nil {
		return user, err
	}
	return act(ctx, s, by.Actor, deed{"change_password", "", by.User.ID}, cmd)
}
