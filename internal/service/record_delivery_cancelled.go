package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RecordDeliveryCancelled records an attempt to call a courier off, and decides the
// answer of the call that waits for it. It returns the job as it goes on.
func (s *Service) RecordDeliveryCancelled(ctx context.Context, in command.RecordDeliveryCancelled) (commerce.Job, error) {
	return s.recordAnswer(ctx, in.Job, in)
}
