package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// PauseEndpoint sends nothing to a partner until its endpoint is resumed. Its
// events wait.
func (s *Service) PauseEndpoint(ctx context.Context, by commerce.Actor, partnerID string) error {
	_, err := act(ctx, s, by, command.PauseEndpoint{PartnerID: partnerID})
	return err
}
