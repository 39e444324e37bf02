package service

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// act runs a command of a person: an operator, staff or a member.
func act[R any](ctx context.Context, s *Service, by commerce.Actor, cmd commit.Command[R]) (R, error) {
	return commit.Do(ctx, s.committer, cmd)
}
