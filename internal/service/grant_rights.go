package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// GrantRights are the new grants of a user.
type GrantRights struct {
	UserID string
	Grants []commerce.Grant
	Seen   commerce.Millis // the user's UpdatedOn as the giver saw it; 0: no check
}

// GrantRights replaces the grants of a user. They hold from the user's next request on.
func (s *Service) GrantRights(ctx context.Context, by commerce.Actor, in GrantRights) (commerce.User, error) {
	if err := s.checkGrants(ctx, in.Grants); err != nil {
		return commerce.User{}, err
	}
	given, err := s.given(ctx, by)
	if err != nil {
		return commerce.User{}, err
	}
	return act(ctx, s, by, deed{"grant_rights", "", in.UserID}, command.GrantRights{Given: given, UserID: in.UserID, Grants: in.Grants, Seen: in.Seen})
}
