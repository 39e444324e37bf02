package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// TestEndpoint sends an endpoint, by its owner, a webhook event without meaning. The event is the newest
// one of kind commerce.WebhookTest.
func (s *Service) TestEndpoint(ctx context.Context, by commerce.Actor, owner string) error {
	_, err := act(ctx, s, by, deed{"test_endpoint", "", owner}, command.TestEndpoint{Owner: owner, Actor: by, TraceID: by.TraceID})
	return err
}
