package command

import "purveyor/internal/commerce"

// SeeSession records that a session is used.
type SeeSession struct{ ID string }

// Needs names the session.
func (c SeeSession) Needs() commerce.Needs {
	return commerce.Needs{Sessions: []string{c.ID}}
}

// Decide records. A session that has ended stays away.
func (c SeeSession) Decide(rows *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	session, ok := rows.Sessions.Get(c.ID)
	if !ok {
		return false, commerce.Changes{}, nil
	}
	session.SeenOn = now
	return true, commerce.Changes{Sessions: []commerce.Session{session}}, nil
}
