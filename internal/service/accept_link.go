package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// AcceptLink is what a person gives that follows a one-time link.
type AcceptLink struct {
	Token       string
	Email, Name string // of the first owner; other users have them
	Password    string // its hash
}

// AcceptLink uses a one-time link, and sets the user's password. It leaves the second factor.
func (s *Service) AcceptLink(ctx context.Context, by commerce.Actor, in AcceptLink) (user commerce.User, err error) {
	if _, err := s.FindLink(ctx, in.Token); err != nil {
		return user, err
	}
	cmd := command.AcceptLink{UserID: UserOfLink(in.Token), LinkHash: commerce.HashKey(in.Token), Password: in.Password}
	if cmd.UserID == "" {
		if cmd.First.Email, cmd.First.Name, err = checkPerson(in.Email, in.Name); err != nil {
			return user, err
		}
		cmd.First.ID = s.newID(commerce.PrefixUser)
	} else if cmd.Sessions, err = s.sessionsOf(ctx, cmd.UserID, ""); err != nil {
		return user, err
	}
	by.Kind, by.ID = commerce.ActorStaff, cmd.UserID+cmd.First.ID
	return act(ctx, s, by, deed{"accept_link", "", by.ID}, cmd)
}
