package portal

import (
	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// settingsRoutes are the pages of the partner's members.
var settingsRoutes = []route{
	{method: get, path: Prefix + "/settings", handle: (*visit).settings, word: "Settings", icon: "users"},
	{method: post, path: Prefix + "/settings/members", changes: true, handle: (*visit).inviteMember},
	{method: post, path: Prefix + "/settings/members/{id}/role", changes: true, handle: (*visit).changeMember},
	{method: get, path: Prefix + "/settings/members/{id}/remove", changes: true, handle: (*visit).askRemove},
	{method: post, path: Prefix + "/settings/members/{id}/remove", changes: true, handle: (*visit).removeMember},
}

const settingsPath = Prefix + "/settings"

// settingsPage is the data of the page "settings".
type settingsPage struct {
	Members []commerce.Member
	Email   string // that was typed
	Role    commerce.MemberRole
}

func (v *visit) settings() error {
	page := settingsPage{Role: commerce.MemberRead}
	var err error
	if page.Members, err = v.p.reads.Members(v.Context(), v.partner.ID); err != nil {
		return err
	}
	return v.page("settings", "Settings", page)
}

// inviteMember mails a link to a new member, or another one to a member.
func (v *visit) inviteMember() error {
	page := settingsPage{Email: v.PostFormValue("email"), Role: commerce.MemberRole(v.PostFormValue("role"))}
	out, err := v.p.uses.InviteMember(v.Context(), v.actor(), service.InviteMember{PartnerID: v.partner.ID, Email: page.Email, Role: page.Role})
	if err == nil {
		return v.done(settingsPath, "A link is on its way to "+out.Member.Email)
	}
	members, readErr := v.p.reads.Members(v.Context(), v.partner.ID)
	if readErr != nil {
		return readErr
	}
	page.Members = members
	return v.again(err, "settings", "Settings", page)
}

func (v *visit) changeMember() error {
	m, err := v.p.uses.ChangeMember(v.Context(), v.actor(), v.partner.ID, v.PathValue("id"), commerce.MemberRole(v.PostFormValue("role")))
	if err != nil {
		return err
	}
	return v.done(settingsPath, m.Email+" has the role "+string(m.Role)+" now, and has to sign in again")
}

func (v *visit) askRemove() error {
	m, err := v.p.reads.Member(v.Context(), v.PathValue("id"))
	if ignoreMissing(err) == nil && m.PartnerID != v.partner.ID {
		err = commerce.NotFound("member")
	}
	if err != nil {
		return err
	}
	return v.page("ask", "Remove "+m.Email, ask{Text: m.Email + " is signed out at once, and can sign in no more.", Word: "Remove the member", Back: settingsPath})
}

func (v *visit) removeMember() error {
	m, err := v.p.uses.RemoveMember(v.Context(), v.actor(), v.partner.ID, v.PathValue("id"))
	if err != nil {
		return err
	}
	return v.done(settingsPath, m.Email+" is removed")
}
