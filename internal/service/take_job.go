package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// TakeJob leases a job to a worker, unless another worker holds it.
func (s *Service) TakeJob(ctx context.Context, in command.TakeJob) (command.TakenJob, error) {
	return commit.Do(ctx, s.committer, in)
}
