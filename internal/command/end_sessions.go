package command

import "purveyor/internal/commerce"

// EndSessions signs a user out of browsers.
type EndSessions struct{ Sessions []string }

// Needs names the sessions.
func (c EndSessions) Needs() commerce.Needs {
	return commerce.Needs{Sessions: c.Sessions}
}

// Decide ends them. One that has ended is no error.
func (c EndSessions) Decide(*commerce.Rows, commerce.Millis) (bool, commerce.Changes, error) {
	return true, commerce.Changes{EndedSessions: c.Sessions}, nil
}
