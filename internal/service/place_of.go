package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/storage"
)

// PlaceOf returns where an address is, as far as it was looked up before, and how exactly that is
// known. It asks no geocoder. The place is nil if it is not known.
func (s *Service) PlaceOf(ctx context.Context, a commerce.Address) (place *commerce.Place, precision string, err error) {
	key := geocode.Key(geocode.Parts(a))
	if key == "" {
		return nil, "", nil
	}
	found, err := s.reader.GeocodedAddress(ctx, key)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return geocode.Place{Point: found.At, Precision: geocode.Precision(found.Precision)}.ForReach(), found.Precision, nil
}
