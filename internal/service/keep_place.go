package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// KeepPlace keeps where a geocoder has found an address, for all processes.
func (s *Service) KeepPlace(ctx context.Context, place commerce.GeocodedAddress) error {
	return run(ctx, s, command.KeepPlace{Place: place})
}
