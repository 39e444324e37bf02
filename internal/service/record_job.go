package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RecordJob records an attempt of a job that changes only the job itself. It returns the
// job as it goes on.
func (s *Service) RecordJob(ctx context.Context, in command.RecordJob) (commerce.Job, error) {
	return commit.Do(ctx, s.committer, in)
}
