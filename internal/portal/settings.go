package portal

import (
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// settingsRoutes are the pages of the partner's members and alarms.
var settingsRoutes = []route{
	{method: get, path: Prefix + "/settings", handle: (*visit).settings, word: "Settings", icon: "users"},
	{method: post, path: Prefix + "/settings/members", changes: true, handle: (*visit).inviteMember},
	{method: post, path: Prefix + "/settings/members/{id}/role", changes: true, handle: (*visit).changeMember},
	{method: post, path: Prefix + "/settings/alarms", changes: true, handle: (*visit).changeAlarms},
	{method: get, path: Prefix + "/settings/members/{id}/remove", changes: true, handle: (*visit).askRemove},
	{method: post, path: Prefix + "/settings/members/{id}/remove", changes: true, handle: (*visit).removeMember},
}

const settingsPath = Prefix + "/settings"

// settingsPage is the data of the page "settings".
type settingsPage struct {
	Members []commerce.Member
	Email   string // that was typed, as what follows
	Role    commerce.MemberRole
	Alarms  string // addresses, one on each line
}

// settingsPage is the page with the partner's settings, and with what was typed.
func (v *visit) settingsPage() (page settingsPage, err error) {
	page = settingsPage{Email: v.PostFormValue("email"), Role: commerce.MemberRole(v.PostFormValue("role")), Alarms: strings.Join(v.partner.AlarmAddresses, "\n")}
	if typed, ok := v.PostForm["alarms"]; ok {
		page.Alarms = strings.Join(typed, "\n")
	}
	page.Members, err = v.p.reads.Members(v.Context(), v.partner.ID)
	return page, err
}

func (v *visit) settings() error {
	page, err := v.settingsPage()
	if err != nil {
		return err
	}
	return v.page("settings", "Settings", page)
}

// refusedSettings shows the page with what was typed, and why it was refused.
func (v *visit) refusedSettings(refused error) error {
	page, err := v.settingsPage()
	if err != nil {
		return err
	}
	return v.again(refused, "settings", "Settings", page)
}

// changeAlarms sets the addresses to which alarms are mailed.
func (v *visit) changeAlarms() error {
	list := strings.FieldsFunc(v.PostFormValue("alarms"), func(r rune) bool { return strings.ContainsRune(",; \r\n", r) })
	p, err := v.p.uses.UpdatePartner(v.Context(), v.actor(), service.UpdatePartner{ID: v.partner.ID, AlarmAddresses: &list})
	if err != nil {
		return v.refusedSettings(err)
	}
	return v.done(settingsPath, "Addresses that get alarms now: "+strconv.Itoa(len(p.AlarmAddresses)))
}

// inviteMember mails a link to a new member, or another one to a member.
func (v *visit) inviteMember() error {
	out, err := v.p.uses.InviteMember(v.Context(), v.actor(), service.InviteMember{PartnerID: v.partner.ID, Email: v.PostFormValue("email"), Role: commerce.MemberRole(v.PostFormValue("role"))})
	if err != nil {
		return v.refusedSettings(err)
	}
	return v.done(settingsPath, "A link is on its way to "+out.Member.Email)
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
