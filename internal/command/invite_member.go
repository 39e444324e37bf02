package command

import "purveyor/internal/commerce"

// InviteMember makes a member with a one-time link, or gives a member that is there another link.
type InviteMember struct {
	By        string          // the member that invites; empty: staff or an operator
	Member    commerce.Member // as it was read, or new with its id
	LinkHash  commerce.KeyHash
	ExpiresOn commerce.Millis // of the link
}

// Needs names the partner, the member with its link, and the member that invites.
func (c InviteMember) Needs() commerce.Needs {
	return commerce.Needs{Partners: []string{c.Member.PartnerID}, Members: membersOf(c.By, c.Member.ID), SignInLinks: []string{c.Member.ID}}
}

// Decide invites. An invitation by a member reaches the address by a mail, so that no other person
// has the link.
func (c InviteMember) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Member, commerce.Changes, error) {
	m := c.Member
	if _, known := rows.Partners.Get(m.PartnerID); !known {
		return m, commerce.Changes{}, commerce.NotFound("partner")
	}
	if err := adminOf(rows, c.By, m.PartnerID); err != nil {
		return m, commerce.Changes{}, err
	}
	var changes commerce.Changes
	if stored, there := rows.Members.Get(m.ID); there {
		m = stored
	} else {
		m.CreatedOn, m.UpdatedOn = now, now
		changes.Members = []commerce.Member{m}
	}
	if c.By != "" {
		changes.NewJobs = []commerce.Job{linkJob(m, now)}
	} else {
		changes.SignInLinks = []commerce.SignInLink{{UserID: m.ID, Hash: c.LinkHash, ExpiresOn: c.ExpiresOn}}
	}
	return m, changes, nil
}
