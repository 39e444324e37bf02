package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// MakeFault has the next calls of the caller's test keys hit by a fault. It draws the fault's id. Error: 409
// limit_reached.
func (s *Service) MakeFault(ctx context.Context, by Caller, f commerce.Fault, o Once[commerce.Fault]) (Outcome[commerce.Fault], error) {
	f.ID = s.newID(commerce.PrefixFault)
	return once(ctx, s, by, o, auditPeople(by.Actor, deed{"make_fault", "", by.Partner.ID}, commit.Keyed[commerce.Fault](command.MakeFault{PartnerID: by.Partner.ID, Fault: f})), neverRefused)
}
