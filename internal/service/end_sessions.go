package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// EndSessions ends sessions of a user: the given one, or (empty) all.
func (s *Service) EndSessions(ctx context.Context, by commerce.Actor, userID, sessionID string) error {
	ids, err := s.sessionsOf(ctx, userID, "")
	if err != nil {
		return err
	}
	var cmd command.EndSessions
	for _, id := range ids {
		if sessionID == "" || id == sessionID {
			cmd.Sessions = append(cmd.Sessions, id)
		}
	}
	_, err = act(ctx, s, by, deed{"end_sessions", "", userID}, cmd)
	return err
}
