package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ResumeEndpoint has a paused or failing endpoint tried at once. If it answers,
// all that waits is sent.
func (s *Service) ResumeEndpoint(ctx context.Context, by commerce.Actor, partnerID string) error {
	_, err := act(ctx, s, by, command.ResumeEndpoint{PartnerID: partnerID})
	return err
}
