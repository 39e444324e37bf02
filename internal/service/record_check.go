package service

import (
	"context"

	"purveyor/internal/command"
)

// RecordCheck records what a courier provider answered about a delivery without recent
// callbacks, and schedules the next check.
func (s *Service) RecordCheck(ctx context.Context, in command.RecordCheck) error {
	return run(ctx, s, in)
}
