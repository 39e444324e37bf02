package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RefuseSignIn counts a sign-in that failed. It returns a commerce.TooManyTries after too many.
func (s *Service) RefuseSignIn(ctx context.Context, tries []commerce.SignInTry) error {
	_, err := commit.Do(ctx, s.committer, commit.Command[bool](command.RefuseSignIn{Tries: tries}))
	return err
}
