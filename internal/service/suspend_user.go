package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// SuspendUser shuts a user out and ends all sessions, or lets the user in again.
func (s *Service) SuspendUser(ctx context.Context, by commerce.Actor, userID string, suspended bool) (commerce.User, error) {
	given, err := s.given(ctx, by)
	if err != nil {
		return commerce.User{}, err
	}
	cmd := command.SuspendUser{Given: given, UserID: userID, Suspended: suspended}
	if cmd.Sessions, err = s.sessionsOf(ctx, userID, ""); err != nil {
		return commerce.User{}, err
	}
	return act(ctx, s, by, deed{"suspend_user", "", userID}, cmd)
}
