package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// FindLink finds the user of a one-time link; of the first owner's, a user without an ID. It
// refuses a link that was used or has ended (409, link_used), and uses none.
func (s *Service) FindLink(ctx context.Context, token string) (user commerce.User, err error) {
	id := UserOfLink(token)
	link, err := s.reader.SignInLink(ctx, id)
	if err == nil && !link.Opens(commerce.HashKey(token), s.millis()) {
		err = storage.ErrNotFound
	}
	if err == nil && id != "" {
		user, err = s.reader.User(ctx, id)
	} else if err == nil {
		var users []commerce.User
		if users, err = s.reader.Users(ctx); len(users) > 0 { // made while the link was
			err = storage.ErrNotFound
		}
	}
	if errors.Is(err, storage.ErrNotFound) || err == nil && user.Suspended {
		err = commerce.Conflict("link_used", "This link was used, or has ended; ask for another one")
	}
	return user, err
}
