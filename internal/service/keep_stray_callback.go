package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// KeepStrayCallback stores a callback of a provider about an unknown delivery, so that
// an operator can look at it.
func (s *Service) KeepStrayCallback(ctx context.Context, by commerce.Actor, deliveryID string, body []byte) error {
	return run(ctx, s, command.KeepStrayCallback{Callback: commerce.StrayCallback{Provider: by.ID, DeliveryID: deliveryID, Body: string(body)}})
}
