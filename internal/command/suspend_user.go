package command

import "purveyor/internal/commerce"

// SuspendUser shuts a user out, or lets the user in again.
type SuspendUser struct {
	Given
	UserID    string
	Suspended bool
	Sessions  []string // of the user; they end
}

// Needs names the user with the sessions, the giver and the owners.
func (c SuspendUser) Needs() commerce.Needs {
	return commerce.Needs{Users: c.Given.users(c.UserID), Sessions: c.Sessions}
}

// Decide suspends. Refusals as those of GrantRights.
func (c SuspendUser) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.User, commerce.Changes, error) {
	was, err := theUser(rows, c.UserID)
	if err == nil {
		err = c.Given.allowed(rows)
	}
	if err != nil || was.Suspended == c.Suspended {
		return was, commerce.Changes{}, err
	}
	next := was
	next.Suspended, next.RightsOn, next.UpdatedOn = c.Suspended, now, now
	if err := c.Given.keepsOwner(rows, was, next); err != nil {
		return was, commerce.Changes{}, err
	}
	return next, commerce.Changes{Users: []commerce.User{next}, EndedSessions: c.Sessions}, nil
}
