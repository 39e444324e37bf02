package command

import "purveyor/internal/commerce"

// RemoveMember takes a member's login away: the sessions end, and no link works any more.
type RemoveMember struct {
	By        string // the member that removes; empty: staff or an operator
	PartnerID string
	MemberID  string
	Sessions  []string // of the member
}

// Needs names both members, and the sessions and the link of the one that is removed.
func (c RemoveMember) Needs() commerce.Needs {
	return commerce.Needs{Members: membersOf(c.By, c.MemberID), Sessions: c.Sessions, SignInLinks: []string{c.MemberID}}
}

// Decide removes.
func (c RemoveMember) Decide(rows *commerce.Rows, _ commerce.Millis) (commerce.Member, commerce.Changes, error) {
	m, err := otherMember(rows, c.By, c.PartnerID, c.MemberID)
	if err != nil {
		return m, commerce.Changes{}, err
	}
	changes := commerce.Changes{GoneMembers: []string{m.ID}, EndedSessions: c.Sessions}
	if link, there := rows.SignInLinks.Get(m.ID); there {
		link.Hash = commerce.KeyHash{}
		changes.SignInLinks = []commerce.SignInLink{link}
	}
	return m, changes, nil
}
