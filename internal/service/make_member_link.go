package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// MakeMemberLink makes a new link of a member for a mail. The one before ends.
func (s *Service) MakeMemberLink(ctx context.Context, memberID string) (out InvitedMember, err error) {
	cmd := command.MakeMemberLink{MemberID: memberID}
	out.Token, cmd.LinkHash, cmd.ExpiresOn = s.link(memberID, commerce.MemberLinkLife)
	out.Member, err = commit.Do(ctx, s.committer, commit.Command[commerce.Member](cmd))
	return out, err
}
