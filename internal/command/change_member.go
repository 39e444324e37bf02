package command

import "purveyor/internal/commerce"

// ChangeMember gives a member another role, and ends the member's sessions.
type ChangeMember struct {
	By        string // the member that changes; empty: staff or an operator
	PartnerID string
	MemberID  string
	Role      commerce.MemberRole
	Sessions  []string // of the member
}

// Needs names both members and the sessions.
func (c ChangeMember) Needs() commerce.Needs {
	return commerce.Needs{Members: membersOf(c.By, c.MemberID), Sessions: c.Sessions}
}

// Decide changes.
func (c ChangeMember) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Member, commerce.Changes, error) {
	m, err := otherMember(rows, c.By, c.PartnerID, c.MemberID)
	if err != nil || m.Role == c.Role {
		return m, commerce.Changes{}, err
	}
	m.Role, m.UpdatedOn = c.Role, now
	return m, commerce.Changes{Members: []commerce.Member{m}, EndedSessions: c.Sessions}, nil
}
