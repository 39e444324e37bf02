package service

import (
	"cmp"
	"context"
	"errors"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// InviteUser is a person that is to work here.
type InviteUser struct {
	Email, Name string
	Grants      []commerce.Grant
	Life        time.Duration // of the link; 0: LinkLife
}

// Invited is a user with the token of the one-time link by which the user chooses a password.
type Invited struct {
	User  commerce.User
	Token string
}

// InviteUser makes a user. It refuses an e-mail address that is taken (409).
func (s *Service) InviteUser(ctx context.Context, by commerce.Actor, in InviteUser) (out Invited, err error) {
	email, name, err := checkPerson(in.Email, in.Name)
	if err != nil {
		return out, err
	}
	if err := s.checkGrants(ctx, in.Grants); err != nil {
		return out, err
	}
	if _, err := s.reader.UserByEmail(ctx, email); err == nil {
		return out, commerce.Conflict("email_taken", "There is a user with this e-mail address")
	} else if !errors.Is(err, storage.ErrNotFound) {
		return out, err
	}
	cmd := command.InviteUser{User: commerce.User{ID: s.newID(commerce.PrefixUser), Email: email, Name: name, Grants: in.Grants}}
	if cmd.Given, err = s.given(ctx, by); err != nil {
		return out, err
	}
	out.Token, cmd.LinkHash, cmd.ExpiresOn = s.link(cmd.User.ID, cmp.Or(in.Life, LinkLife))
	out.User, err = act(ctx, s, by, deed{"invite_user", "", cmd.User.ID}, cmd)
	return out, err
}
