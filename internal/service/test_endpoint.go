package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// TestEndpoint sends a partner a webhook event without meaning. The event is the newest
// one of kind commerce.WebhookTest.
func (s *Service) TestEndpoint(ctx context.Context, by commerce.Actor, partnerID string) error {
	_, err := act(ctx, s, by, deed{"test_endpoint", "", partnerID}, command.TestEndpoint{PartnerID: partnerID, TraceID: by.TraceID})
	return err
}
