package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// KeepPlace stores where a geocoder found an address, for all processes.
func (s *Service) KeepPlace(ctx context.Context, place commerce.GeocodedAddress) error {
	return run(ctx, s, command.KeepPlace{Place: place})
}
