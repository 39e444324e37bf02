package command

import "purveyor/internal/commerce"

// SetSecondFactor turns the second factor of a user on, or off.
type SetSecondFactor struct {
	UserID        string
	Secret        string // base32; empty: off
	Step          int64  // of the code by which the user showed to have the secret
	RecoveryCodes []string
}

// Needs names the user.
func (c SetSecondFactor) Needs() commerce.Needs {
	return commerce.Needs{Users: []string{c.UserID}}
}

// Decide sets the factor.
func (c SetSecondFactor) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.User, commerce.Changes, error) {
	u, err := theUser(rows, c.UserID)
	if err != nil {
		return u, commerce.Changes{}, err
	}
	u.TOTPSecret, u.TOTPStep, u.RecoveryCodes, u.RightsOn, u.UpdatedOn = c.Secret, c.Step, c.RecoveryCodes, now, now
	return u, commerce.Changes{Users: []commerce.User{u}}, nil
}
