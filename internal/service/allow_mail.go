package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// AllowMail counts an e-mail to a customer before it is sent. It returns why the e-mail
// must not be sent, or empty.
func (s *Service) AllowMail(ctx context.Context, in command.AllowMail) (commerce.UnsentReason, error) {
	return commit.Do(ctx, s.committer, in)
}
