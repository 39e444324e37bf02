package service

import (
	"context"
	"errors"
	"fmt"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode"
)

// LocateAddress returns the coordinates of an address: of text if it is not empty, else of
// parts. It refuses an address that cannot be located (400).
func (s *Service) LocateAddress(ctx context.Context, text string, parts commerce.Address) (commerce.Point, error) {
	query := geocode.Parts(parts)
	if text != "" {
		query = geocode.Text(text)
	}
	place, err := s.o.Geocoder.Find(ctx, query)
	if err == nil && !place.Valid() {
		err = fmt.Errorf("the geocoder says that it is at %v", place.Point)
	}
	switch {
	case errors.Is(err, geocode.ErrNotFound):
		err = &commerce.Error{Kind: commerce.KindInvalid, Code: "address_not_found", Field: "delivery_address", Message: "delivery_address cannot be placed on the map"}
	case err != nil:
		err = &PortError{Port: GeocodePort, Fault: Unavailable, Err: err}
	}
	return place.Point, err
}
