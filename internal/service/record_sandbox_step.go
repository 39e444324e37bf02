package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RecordSandboxStep records a step of a sandbox object. It returns the job as it goes on.
func (s *Service) RecordSandboxStep(ctx context.Context, in command.RecordSandboxStep) (commerce.Job, error) {
	return commit.Do(ctx, s.committer, in)
}
