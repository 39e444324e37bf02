package command

import (
	"slices"

	"purveyor/internal/commerce"
)

// GrantRights replaces the grants of a user.
type GrantRights struct {
	Given
	UserID string
	Grants []commerce.Grant
	Seen   commerce.Millis // the user's UpdatedOn as the giver saw it; 0: no check
}

// Needs names the user, the giver and the owners.
func (c GrantRights) Needs() commerce.Needs {
	return commerce.Needs{Users: c.Given.users(c.UserID)}
}

// Decide grants. Refusals: 403 for a giver without the right, 409 for the last owner and for a
// user that was changed meanwhile.
func (c GrantRights) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.User, commerce.Changes, error) {
	was, err := theUser(rows, c.UserID)
	if err == nil {
		err = c.Given.allowed(rows)
	}
	if err != nil || slices.Equal(was.Grants, c.Grants) {
		return was, commerce.Changes{}, err
	}
	if c.Seen != 0 && was.UpdatedOn != c.Seen {
		return was, commerce.Changes{}, commerce.Conflict("changed_meanwhile", "The user was changed since you opened this page")
	}
	next := was
	next.Grants, next.RightsOn, next.UpdatedOn = c.Grants, now, now
	if err := c.Given.keepsOwner(rows, was, next); err != nil {
		return was, commerce.Changes{}, err
	}
	return next, commerce.Changes{Users: []commerce.User{next}}, nil
}
