package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// SignIn is a sign-in whose password, code or link was checked.
type SignIn = command.SignIn

// SignIn begins a session. It refuses a code or a link that was used before (409), and returns a
// commerce.TooManyTries after too many failures.
func (s *Service) SignIn(ctx context.Context, in SignIn) (commerce.Session, error) {
	return commit.Do(ctx, s.committer, commit.Command[commerce.Session](in))
}
