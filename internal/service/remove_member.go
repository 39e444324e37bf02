package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RemoveMember takes the login of a partner's member away.
func (s *Service) RemoveMember(ctx context.Context, by commerce.Actor, partnerID, memberID string) (commerce.Member, error) {
	sessions, err := s.sessionsOf(ctx, memberID, "")
	if err != nil {
		return commerce.Member{}, err
	}
	return act(ctx, s, by, deed{"remove_member", "", memberID}, command.RemoveMember{By: memberOf(by), PartnerID: partnerID, MemberID: memberID, Sessions: sessions})
}
