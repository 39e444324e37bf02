package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// ClearFaults ends all faults of a partner, and returns how many.
func (s *Service) ClearFaults(ctx context.Context, partnerID string) (int, error) {
	return commit.Do(ctx, s.committer, command.ClearFaults{PartnerID: partnerID})
}
