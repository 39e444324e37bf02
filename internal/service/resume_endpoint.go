package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ResumeEndpoint sends a webhook to a paused or failing endpoint at once. If the endpoint
// answers, all waiting webhooks are sent.
func (s *Service) ResumeEndpoint(ctx context.Context, by commerce.Actor, partnerID string) error {
	_, err := act(ctx, s, by, deed{"resume_endpoint", "", partnerID}, command.ResumeEndpoint{PartnerID: partnerID})
	return err
}
