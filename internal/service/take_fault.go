package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// TakeFault counts a call of a partner's test key, and returns the fault that hits it; the zero Fault: none does.
func (s *Service) TakeFault(ctx context.Context, partnerID, operation string) (commerce.Fault, error) {
	return commit.Do(ctx, s.committer, command.TakeFault{PartnerID: partnerID, Operation: operation})
}
