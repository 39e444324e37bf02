package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ResumeEndpoint sends a webhook to a paused or failing endpoint at once. If the endpoint
// answers, all waiting webhooks are sent.
func (s *Service) ResumeEndpoint(ctx context.Context, by commerce.Actor, owner string) error {
	_, err := act(ctx, s, by, deed{"resume_endpoint", "", owner}, command.ResumeEndpoint{Owner: owner, Actor: by})
	return err
}
