package backoffice

import (
	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// memberFields are the fields of the form that invites a member.
var memberFields = []fieldWord{{"email", "E-mail address"}, {"role", "Role"}}

// memberPage is the data of the page "partner_member".
type memberPage struct {
	commerce.Partner
	Form editForm
}

func (v *visit) newMember(p commerce.Partner) error {
	return v.page("partner_member", "Invite a member: "+p.Name, memberPage{p, formOf(memberFields, map[string]string{"role": string(commerce.MemberAdmin)}, 0)})
}

// inviteMember makes a member, or another link for one, and shows the link.
func (v *visit) inviteMember(p commerce.Partner) error {
	form := v.posted(memberFields)
	out, err := v.o.uses.InviteMember(v.Context(), v.caller().Actor, service.InviteMember{PartnerID: p.ID, Email: form.Typed["email"], Role: commerce.MemberRole(form.Typed["role"])})
	if err != nil {
		err = form.refusedAs(err, nil, 0)
		return v.againOr(err, "partner_member", "Invite a member: "+p.Name, memberPage{p, form})
	}
	return v.page("partner_shown", "Link for "+out.Member.Email, shownOnce{p, []shownSecret{{"Link", v.o.publicURL + "/portal/enter?token=" + out.Token}},
		"It signs the member in to the portal, once, within 10 minutes. Give it in a safe way. Later links are mailed to the address."})
}

// memberNamed is the member that the path names.
func (v *visit) memberNamed(p commerce.Partner) (commerce.Member, error) {
	m, err := v.o.reads.Member(v.Context(), v.PathValue("mid"))
	if err == nil && m.PartnerID != p.ID {
		err = commerce.NotFound("member")
	}
	return m, notFoundOr(err, "member")
}

func (v *visit) askRemoveMember(p commerce.Partner) error {
	m, err := v.memberNamed(p)
	if err != nil {
		return err
	}
	return v.askFirst(askPartner{Partner: p, Act: "members/" + m.ID + "/remove", Word: "Remove the member", Danger: true, Text: m.Email + " is signed out at once, and can sign in no more."})
}

func (v *visit) removeMember(p commerce.Partner) error {
	m, err := v.o.uses.RemoveMember(v.Context(), v.caller().Actor, p.ID, v.PathValue("mid"))
	if err != nil {
		return err
	}
	return v.done(Prefix+"/partners/"+p.ID, m.Email+" is removed")
}
