package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// AskCourier stores which courier provider is about to be asked for a delivery. The
// answer says whether it may be asked.
func (s *Service) AskCourier(ctx context.Context, in command.AskCourier) (command.Asked, error) {
	return commit.Do(ctx, s.committer, in)
}
