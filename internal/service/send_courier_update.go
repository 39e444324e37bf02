package service

import (
	"context"

	"purveyor/internal/command"
)

// SendCourierUpdate publishes the newest update about a courier, and ends the job that
// does so.
func (s *Service) SendCourierUpdate(ctx context.Context, in command.SendCourierUpdate) error {
	return run(ctx, s, in)
}
