package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// TakeJob leases a job to a worker, unless another worker holds it. there is false if the
// job is done or was given up.
func (s *Service) TakeJob(ctx context.Context, key commerce.JobKey, worker string) (job commerce.Job, there, taken bool, err error) {
	result, err := commit.Do(ctx, s.committer, command.TakeJob{Job: key, Worker: worker})
	return result.Job, result.There, result.Taken, err
}
