package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RecordMessage records an attempt to send an e-mail or a text. It returns the job as it
// goes on.
func (s *Service) RecordMessage(ctx context.Context, in command.RecordMessage) (commerce.Job, error) {
	return commit.Do(ctx, s.committer, in)
}
