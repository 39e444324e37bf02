package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// ParkJobs leaves webhook jobs with their endpoint while it holds its jobs. It returns
// how many it parked.
func (s *Service) ParkJobs(ctx context.Context, in command.ParkJobs) (int, error) {
	return commit.Do(ctx, s.committer, in)
}
