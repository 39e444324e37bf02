package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// FindOrderByExternal finds an order by the partner's own id. It looks for an order of the
// caller's mode first; a live key then finds the test order with this id.
func (s *Service) FindOrderByExternal(ctx context.Context, c Caller, externalID string) (commerce.Order, error) {
	modes := []commerce.Mode{c.Mode}
	if c.Mode == commerce.Live {
		modes = append(modes, commerce.Test)
	}
	for _, mode := range modes {
		key, err := s.reader.ExternalOrder(ctx, commerce.ExternalKey{PartnerID: c.Partner.ID, Mode: mode, ExternalID: externalID})
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		order := commerce.Order{}
		if err == nil {
			order, err = s.reader.Order(ctx, key)
		}
		return c.visible(order, err)
	}
	return commerce.Order{}, commerce.NotFound("order")
}
