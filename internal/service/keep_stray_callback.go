package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// KeepStrayCallback keeps a callback of a provider about a delivery that is none
// of ours, for people who look for it.
func (s *Service) KeepStrayCallback(ctx context.Context, by commerce.Actor, deliveryID string, body []byte) error {
	return run(ctx, s, command.KeepStrayCallback{Callback: commerce.StrayCallback{Provider: by.ID, DeliveryID: deliveryID, Body: string(body)}})
}
