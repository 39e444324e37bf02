package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// PauseEndpoint stops the webhooks of a partner until its endpoint is resumed. They wait
// meanwhile.
func (s *Service) PauseEndpoint(ctx context.Context, by commerce.Actor, partnerID string) error {
	_, err := act(ctx, s, by, deed{"pause_endpoint", "", partnerID}, command.PauseEndpoint{PartnerID: partnerID})
	return err
}
