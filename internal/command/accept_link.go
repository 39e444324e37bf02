package command

import "purveyor/internal/commerce"

// AcceptLink is the use of a one-time link: the user chooses a password. The link of the first
// owner makes that user.
type AcceptLink struct {
	UserID   string // of the link; empty: the first owner
	LinkHash commerce.KeyHash
	First    commerce.User // the first owner, with id, e-mail address and name
	Password string        // its hash
	Sessions []string      // of the user; they end
}

// Needs names the link and the user with the sessions.
func (c AcceptLink) Needs() commerce.Needs {
	id := c.UserID
	if id == "" {
		id = c.First.ID
	}
	return commerce.Needs{Users: []string{id}, SignInLinks: []string{c.UserID}, Sessions: c.Sessions}
}

// Decide uses the link, which works once.
func (c AcceptLink) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.User, commerce.Changes, error) {
	link, _ := rows.SignInLinks.Get(c.UserID)
	if !link.Opens(c.LinkHash, now) {
		return commerce.User{}, commerce.Changes{}, commerce.Conflict("link_used", "This link was used, or has ended; ask for another one")
	}
	u := c.First
	if c.UserID == "" {
		u.CreatedOn, u.Grants = now, []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}
	} else {
		stored, err := theUser(rows, c.UserID)
		if err != nil || stored.Suspended {
			return stored, commerce.Changes{}, commerce.Conflict("link_used", "This link was used, or has ended; ask for another one")
		}
		u = stored
	}
	u.Password, u.UpdatedOn, u.RightsOn = c.Password, now, now
	link.Hash = commerce.KeyHash{}
	return u, commerce.Changes{Users: []commerce.User{u}, SignInLinks: []commerce.SignInLink{link}, EndedSessions: c.Sessions}, nil
}
