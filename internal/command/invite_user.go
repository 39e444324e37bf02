package command

import "purveyor/internal/commerce"

// InviteUser makes a user with a one-time link, by which the user chooses a password.
type InviteUser struct {
	Given
	User      commerce.User // with its id, e-mail address, name and grants
	LinkHash  commerce.KeyHash
	ExpiresOn commerce.Millis // of the link
}

// Needs names the new user with its link, the giver, and the link of the first owner.
func (c InviteUser) Needs() commerce.Needs {
	return commerce.Needs{Users: c.Given.users(c.User.ID), SignInLinks: []string{c.User.ID, ""}}
}

// Decide makes the user. Once there is one, the link for the first owner has ended.
func (c InviteUser) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.User, commerce.Changes, error) {
	if err := c.Given.allowed(rows); err != nil {
		return commerce.User{}, commerce.Changes{}, err
	}
	u := c.User
	u.CreatedOn, u.UpdatedOn, u.RightsOn = now, now, now
	changes := commerce.Changes{Users: []commerce.User{u}, SignInLinks: []commerce.SignInLink{{UserID: u.ID, Hash: c.LinkHash, ExpiresOn: c.ExpiresOn}}}
	if first, _ := rows.SignInLinks.Get(""); first.Hash != (commerce.KeyHash{}) {
		first.Hash = commerce.KeyHash{}
		changes.SignInLinks = append(changes.SignInLinks, first)
	}
	return u, changes, nil
}
