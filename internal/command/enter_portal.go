package command

import "purveyor/internal/commerce"

// EnterPortal begins a session of a member by a one-time link.
type EnterPortal struct {
	Session  commerce.Session // with its id; its user is the member
	Old      string           // the session that the browser had; it ends. Empty: none
	LinkHash commerce.KeyHash
}

// Needs names the member, both sessions and the link.
func (c EnterPortal) Needs() commerce.Needs {
	n := commerce.Needs{Members: []string{c.Session.UserID}, Sessions: []string{c.Session.ID}, SignInLinks: []string{c.Session.UserID}}
	if c.Old != "" {
		n.Sessions = append(n.Sessions, c.Old)
	}
	return n
}

// Decide signs in, and uses the link. It refuses a link that was used or has ended, and a member
// that was removed.
func (c EnterPortal) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Session, commerce.Changes, error) {
	link, _ := rows.SignInLinks.Get(c.Session.UserID)
	if _, there := rows.Members.Get(c.Session.UserID); !there || !link.Opens(c.LinkHash, now) {
		return c.Session, commerce.Changes{}, commerce.Conflict("link_used", "This link was used, or has ended; ask for another one")
	}
	link.Hash = commerce.KeyHash{}
	c.Session.CreatedOn, c.Session.SeenOn = now, now
	changes := commerce.Changes{SignInLinks: []commerce.SignInLink{link}, Sessions: []commerce.Session{c.Session}}
	if c.Old != "" {
		changes.EndedSessions = []string{c.Old}
	}
	return c.Session, changes, nil
}
