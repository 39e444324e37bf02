package command

import "purveyor/internal/commerce"

// ChangePassword replaces the password of a user, and ends the other sessions.
type ChangePassword struct {
	UserID   string
	Password string   // its hash
	Sessions []string // that end
}

// Needs names the user and the sessions.
func (c ChangePassword) Needs() commerce.Needs {
	return commerce.Needs{Users: []string{c.UserID}, Sessions: c.Sessions}
}

// Decide changes the password.
func (c ChangePassword) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.User, commerce.Changes, error) {
	u, err := theUser(rows, c.UserID)
	if err != nil {
		return u, commerce.Changes{}, err
	}
	u.Password, u.RightsOn, u.UpdatedOn = c.Password, now, now
	return u, commerce.Changes{Users: []commerce.User{u}, EndedSessions: c.Sessions}, nil
}
