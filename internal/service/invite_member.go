package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// InviteMember is a person that is to use the portal for a partner.
type InviteMember struct {
	PartnerID, Email string
	Role             commerce.MemberRole // of a new member
}

// InvitedMember is a member with the token of the link by which the member signs in; empty if the
// link is mailed.
type InvitedMember struct {
	Member commerce.Member
	Token  string
}

// InviteMember makes a member, or gives the partner's member with this address another link. It
// refuses an address that a member of another partner has (409). If a member invites, the link is
// mailed; else it is returned.
func (s *Service) InviteMember(ctx context.Context, by commerce.Actor, in InviteMember) (out InvitedMember, err error) {
	email, _, err := checkPerson(in.Email, in.Email)
	if err != nil {
		return out, err
	}
	if !in.Role.Known() {
		return out, commerce.Invalid("role", "The role must be admin or read")
	}
	m, err := s.reader.MemberByEmail(ctx, email)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		m = commerce.Member{ID: s.newID(commerce.PrefixMember), PartnerID: in.PartnerID, Email: email, Role: in.Role}
	case err != nil:
		return out, err
	case m.PartnerID != in.PartnerID:
		return out, commerce.Conflict("email_taken", "This address cannot be invited here; use another one")
	}
	cmd := command.InviteMember{By: memberOf(by), Member: m}
	if cmd.By == "" {
		out.Token, cmd.LinkHash, cmd.ExpiresOn = s.link(m.ID, commerce.MemberLinkLife)
	}
	out.Member, err = act(ctx, s, by, deed{"invite_member", "", m.ID}, cmd)
	return out, err
}

// memberOf is the member that an actor is; empty: it is staff or an operator.
func memberOf(by commerce.Actor) string {
	if by.Kind == commerce.ActorMember {
		return by.ID
	}
	return ""
}
