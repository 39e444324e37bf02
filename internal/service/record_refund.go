package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RecordRefund records an attempt to refund a payment, and decides the answer of the call
// that waits for it. It returns the job as it goes on.
func (s *Service) RecordRefund(ctx context.Context, in command.RecordRefund) (commerce.Job, error) {
	return s.recordAnswer(ctx, in.Job, in)
}
