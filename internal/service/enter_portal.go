package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// EnterPortal begins the session of the member that a link's token is for. It refuses a link that
// was used or has ended (409, link_used).
func (s *Service) EnterPortal(ctx context.Context, session commerce.Session, old, token string) (commerce.Session, error) {
	session.UserID = UserOfLink(token)
	return commit.Do(ctx, s.committer, commit.Command[commerce.Session](command.EnterPortal{Session: session, Old: old, LinkHash: commerce.HashKey(token)}))
}
