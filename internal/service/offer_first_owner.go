package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commit"
)

// OfferFirstOwner makes the link by which the first user is made, and returns its token. It
// returns none if there is a user.
func (s *Service) OfferFirstOwner(ctx context.Context) (token string, err error) {
	users, err := s.reader.Users(ctx)
	if err != nil || len(users) > 0 {
		return "", err
	}
	var cmd command.OfferFirstOwner
	token, cmd.LinkHash, cmd.ExpiresOn = s.link("", LinkLife)
	_, err = commit.Do(ctx, s.committer, commit.Command[bool](cmd))
	return token, err
}
