package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// SeeSession records that a session is used.
func (s *Service) SeeSession(ctx context.Context, id string) error {
	_, err := commit.Do(ctx, s.committer, commit.Command[bool](command.SeeSession{ID: id}))
	return err
}
