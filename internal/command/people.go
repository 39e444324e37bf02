package command

import "purveyor/internal/commerce"

// Given are the rights of an actor to give rights to others.
type Given struct {
	By string // the user that gives; empty: an operator in the shell, which may give all
	// Owners are all users that own all stores, as they were read. One of them must stay.
	Owners []string
}

// users are the rows that the rules about rights look at.
func (g Given) users(changed string) []string {
	users := append([]string{changed}, g.Owners...)
	if g.By != "" {
		users = append(users, g.By)
	}
	return users
}

// allowed refuses a giver that does not own all stores any more.
func (g Given) allowed(rows *commerce.Rows) error {
	if g.By == "" {
		return nil
	}
	if giver, _ := rows.Users.Get(g.By); !giver.OwnsAll() {
		return &commerce.Error{Kind: commerce.KindForbidden, Code: "permission_missing", Message: "Only an owner of all stores may do this"}
	}
	return nil
}

// keepsOwner refuses a change after which no user would own all stores.
func (g Given) keepsOwner(rows *commerce.Rows, was, next commerce.User) error {
	if !was.OwnsAll() || next.OwnsAll() {
		return nil
	}
	for _, id := range g.Owners {
		if u, _ := rows.Users.Get(id); id != next.ID && u.OwnsAll() {
			return nil
		}
	}
	return commerce.Conflict("last_owner", "This is the last owner of all stores; make another one first")
}

// theUser is a stored user.
func theUser(rows *commerce.Rows, id string) (commerce.User, error) {
	u, ok := rows.Users.Get(id)
	if !ok {
		return u, commerce.NotFound("user")
	}
	return u, nil
}
