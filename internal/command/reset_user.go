package command

import "purveyor/internal/commerce"

// ResetUser gives a user a new one-time link, by which the user chooses another password, and
// ends all sessions.
type ResetUser struct {
	Given
	UserID           string
	LinkHash         commerce.KeyHash
	ExpiresOn        commerce.Millis // of the link
	DropSecondFactor bool
	Sessions         []string // of the user
}

// Needs names the user with link and sessions, and the giver.
func (c ResetUser) Needs() commerce.Needs {
	return commerce.Needs{Users: c.Given.users(c.UserID), SignInLinks: []string{c.UserID}, Sessions: c.Sessions}
}

// Decide resets. The old password holds until the link is used.
func (c ResetUser) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.User, commerce.Changes, error) {
	u, err := theUser(rows, c.UserID)
	if err == nil {
		err = c.Given.allowed(rows)
	}
	if err != nil {
		return u, commerce.Changes{}, err
	}
	if u.UpdatedOn, u.RightsOn = now, now; c.DropSecondFactor {
		u.TOTPSecret, u.TOTPStep, u.RecoveryCodes = "", 0, nil
	}
	return u, commerce.Changes{Users: []commerce.User{u}, EndedSessions: c.Sessions,
		SignInLinks: []commerce.SignInLink{{UserID: u.ID, Hash: c.LinkHash, ExpiresOn: c.ExpiresOn}}}, nil
}
