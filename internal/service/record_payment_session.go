package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RecordPaymentSession records an attempt to open the page on which the customer pays,
// and decides the answer of the checkout that waits for it. It returns the job as it goes
// on.
func (s *Service) RecordPaymentSession(ctx context.Context, in command.RecordPaymentSession) (commerce.Job, error) {
	return s.recordAnswer(ctx, in.Job, in)
}
