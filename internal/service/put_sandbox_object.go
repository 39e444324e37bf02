package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// PutSandboxObject stores the state of a sandbox object. It returns whether the object was
// stored, and the jobs that post its callbacks.
func (s *Service) PutSandboxObject(ctx context.Context, in command.PutSandboxObject) (bool, []commerce.Job, error) {
	return commit.DoJobs(ctx, s.committer, in)
}
