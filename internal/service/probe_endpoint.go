package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// ProbeEndpoint leases the job that probes a held endpoint. It returns nil if there is
// nothing to probe with, or another worker probes.
func (s *Service) ProbeEndpoint(ctx context.Context, in command.ProbeEndpoint) (*commerce.Job, error) {
	return commit.Do(ctx, s.committer, in)
}
