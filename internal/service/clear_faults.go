package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// ClearFaults ends all faults of the caller's partner, and returns how many.
func (s *Service) ClearFaults(ctx context.Context, by Caller) (int, error) {
	cmd := command.ClearFaults{PartnerID: by.Partner.ID}
	return commit.Do(ctx, s.committer, auditPeople(by.Actor, deed{"clear_faults", "", by.Partner.ID}, commit.Keyed[int](cmd)))
}
