package main

import (
	"context"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

type partnerInvite struct {
	onPartner
	Email     string              `help:"E-mail address of the member." required:"" env:"PURVEYOR_MEMBER_EMAIL"`
	Role      commerce.MemberRole `help:"Role of a new member: admin or read." default:"admin" enum:"admin,read" env:"PURVEYOR_MEMBER_ROLE"`
	PublicURL string              `help:"The service's address from outside, with which the link begins." default:"http://127.0.0.1:8080" env:"PURVEYOR_PUBLIC_URL" placeholder:"URL"`
}

func (c partnerInvite) Run(ctx context.Context, db *database) error {
	out, err := db.uses.InviteMember(ctx, operator(), service.InviteMember{PartnerID: c.ID, Email: c.Email, Role: c.Role})
	if err != nil {
		return partnerMissing(c.ID, err)
	}
	printf("%s signs in to the portal here, once, within %v:\n  %s/portal/enter?token=%s\n", out.Member.Email, commerce.MemberLinkLife, strings.TrimSuffix(c.PublicURL, "/"), out.Token)
	return nil
}

type partnerMembers struct {
	onPartner
	asJSON
}

func (c partnerMembers) Run(ctx context.Context, db *database) error {
	if _, err := db.Reader().Partner(ctx, c.ID); err != nil {
		return partnerMissing(c.ID, err)
	}
	members, err := db.Reader().Members(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(listOf(members, listedMemberOf))
	}
	table := newTable("ID", "E-MAIL", "ROLE")
	for _, m := range members {
		table.row(m.ID, m.Email, string(m.Role))
	}
	return table.flush()
}
