package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ChangeMember gives a member of a partner another role, and ends the member's sessions.
func (s *Service) ChangeMember(ctx context.Context, by commerce.Actor, partnerID, memberID string, role commerce.MemberRole) (commerce.Member, error) {
	if !role.Known() {
		return commerce.Member{}, commerce.Invalid("role", "The role must be admin or read")
	}
	sessions, err := s.sessionsOf(ctx, memberID, "")
	if err != nil {
		return commerce.Member{}, err
	}
	return act(ctx, s, by, deed{"change_member", "", memberID}, command.ChangeMember{By: memberOf(by), PartnerID: partnerID, MemberID: memberID, Role: role, Sessions: sessions})
}
