package command

import "purveyor/internal/commerce"

// MakeMemberLink stores a new one-time link of a member before it is mailed. If we crash before the
// mail is sent, the next attempt makes another one, and this one has ended.
type MakeMemberLink struct {
	MemberID  string
	LinkHash  commerce.KeyHash
	ExpiresOn commerce.Millis
}

// Needs names the member and the link.
func (c MakeMemberLink) Needs() commerce.Needs {
	return commerce.Needs{Members: []string{c.MemberID}, SignInLinks: []string{c.MemberID}}
}

// Decide stores the link, unless the member was removed meanwhile (404).
func (c MakeMemberLink) Decide(rows *commerce.Rows, _ commerce.Millis) (commerce.Member, commerce.Changes, error) {
	m, there := rows.Members.Get(c.MemberID)
	if !there {
		return m, commerce.Changes{}, commerce.NotFound("member")
	}
	return m, commerce.Changes{SignInLinks: []commerce.SignInLink{{UserID: m.ID, Hash: c.LinkHash, ExpiresOn: c.ExpiresOn}}}, nil
}
