package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// RefuseSignIn counts a sign-in that failed.
func (s *Service) RefuseSignIn(ctx context.Context, counts []string) error {
	_, err := commit.Do(ctx, s.committer, commit.Command[bool](command.RefuseSignIn{Counts: counts}))
	return err
}
