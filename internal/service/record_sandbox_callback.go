package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RecordSandboxCallback records an attempt to post the callback of a sandbox. It returns
// the job as it goes on.
func (s *Service) RecordSandboxCallback(ctx context.Context, in command.RecordSandboxCallback) (commerce.Job, error) {
	return commit.Do(ctx, s.committer, in)
}
