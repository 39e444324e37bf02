package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RecordDelivery records an attempt to find a courier, and decides the answer of the
// report that waits for it. It returns the job as it goes on.
func (s *Service) RecordDelivery(ctx context.Context, in command.RecordDelivery) (commerce.Job, error) {
	return s.recordAnswer(ctx, in.Job, in)
}
