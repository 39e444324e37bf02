package command

import "purveyor/internal/commerce"

// SetPreferences changes the name of a user, and how the user likes the pages.
type SetPreferences struct {
	UserID      string
	Name        string
	Preferences commerce.Preferences
}

// Needs names the user.
func (c SetPreferences) Needs() commerce.Needs {
	return commerce.Needs{Users: []string{c.UserID}}
}

// Decide sets them.
func (c SetPreferences) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.User, commerce.Changes, error) {
	u, err := theUser(rows, c.UserID)
	if err != nil || u.Name == c.Name && u.Preferences == c.Preferences {
		return u, commerce.Changes{}, err
	}
	u.Name, u.Preferences, u.UpdatedOn = c.Name, c.Preferences, now
	return u, commerce.Changes{Users: []commerce.User{u}}, nil
}
