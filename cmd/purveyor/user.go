package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

type userCommand struct {
	Create  userCreate  `cmd:"" help:"Create a user of the back office, and print the one-time link by which the user chooses a password."`
	List    userList    `cmd:"" help:"List all users of the back office."`
	Suspend userSuspend `cmd:"" help:"Shut a user out at once; or undo that."`
	Reset   userReset   `cmd:"" help:"Print another one-time link for a user, and end the user's sessions."`
}

// linked is the part of a command that prints a one-time link.
type linked struct {
	PublicURL string `help:"The service's address from outside, with which the link begins." default:"http://127.0.0.1:8080" env:"PURVEYOR_PUBLIC_URL" placeholder:"URL"`
}

func (l linked) print(out service.Invited) {
	printf("%s chooses a password here, once, within %v:\n  %s\n", out.User.Email, service.LinkLife, welcomeURL(l.PublicURL, out.Token))
}

// welcomeURL is the page of a one-time link.
func welcomeURL(base, token string) string {
	return strings.TrimSuffix(base, "/") + "/office/welcome?token=" + token
}

type userCreate struct {
	onDatabase
	linked
	Email string   `help:"E-mail address, by which the user signs in." required:"" env:"PURVEYOR_USER_EMAIL"`
	Name  string   `help:"Name that others see; default: the part of the address before the @." env:"PURVEYOR_USER_NAME"`
	Role  string   `help:"viewer, clerk, manager or owner. The first user is an owner unless said otherwise." env:"PURVEYOR_USER_ROLE"`
	Store []string `help:"Store that the role is for; may be repeated. Default: all stores." placeholder:"ID" sep:"none" env:"PURVEYOR_USER_STORE"`
}

func (c userCreate) Run(ctx context.Context, db *database) error {
	if c.Role == "" {
		users, err := db.Reader().Users(ctx)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return wrong("--role is missing: viewer, clerk, manager or owner")
		}
		c.Role = string(commerce.Owner)
	}
	if c.Name == "" {
		c.Name, _, _ = strings.Cut(c.Email, "@")
	}
	if len(c.Store) == 0 {
		c.Store = []string{commerce.AllStores}
	}
	in := service.InviteUser{Email: c.Email, Name: c.Name}
	for _, id := range c.Store {
		in.Grants = append(in.Grants, commerce.Grant{Role: commerce.Role(c.Role), StoreID: id})
	}
	out, err := db.uses.InviteUser(ctx, operator(), in)
	if err != nil {
		return flagError(err)
	}
	c.print(out)
	return nil
}

type userList struct {
	onDatabase
	asJSON
}

func (c userList) Run(ctx context.Context, db *database) error {
	users, err := db.Reader().Users(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(listOf(users, listedUserOf))
	}
	table := newTable("ID", "E-MAIL", "NAME", "STATE", "SECOND FACTOR", "RIGHTS")
	for _, u := range users {
		factor := "off"
		if u.TOTPSecret != "" {
			factor = "on"
		}
		var rights []string
		for _, g := range u.Grants {
			rights = append(rights, string(g.Role)+" of "+g.StoreID)
		}
		table.row(u.ID, u.Email, u.Name, userState(u), factor, strings.Join(rights, ", "))
	}
	return table.flush()
}

func userState(u commerce.User) string {
	switch {
	case u.Suspended:
		return "suspended"
	case u.Password == "":
		return "invited"
	}
	return "active"
}

// onUser is a command about one user.
type onUser struct {
	onDatabase
	Email string `help:"E-mail address of the user." required:"" env:"PURVEYOR_USER_EMAIL"`
}

func (c onUser) user(ctx context.Context, db *database) (commerce.User, error) {
	u, err := db.Reader().UserByEmail(ctx, strings.ToLower(c.Email))
	if errors.Is(err, storage.ErrNotFound) {
		err = fmt.Errorf("--email: there is no user %s; purveyor user list shows all", c.Email)
	}
	return u, err
}

type userSuspend struct {
	onUser
	Lift bool `help:"Let the user sign in again."`
}

func (c userSuspend) Run(ctx context.Context, db *database) error {
	u, err := c.user(ctx, db)
	if err != nil {
		return err
	}
	if _, err = db.uses.SuspendUser(ctx, operator(), u.ID, !c.Lift); err != nil {
		return err
	}
	if c.Lift {
		printf("%s may sign in again\n", u.Email)
	} else {
		printf("%s is suspended, and signed out everywhere\n", u.Email)
	}
	return nil
}

type userReset struct {
	onUser
	linked
	SecondFactor bool `help:"Also turn the second factor off."`
}

func (c userReset) Run(ctx context.Context, db *database) error {
	u, err := c.user(ctx, db)
	if err != nil {
		return err
	}
	out, err := db.uses.ResetUser(ctx, operator(), u.ID, c.SecondFactor)
	if err != nil {
		return err
	}
	c.print(out)
	return nil
}
