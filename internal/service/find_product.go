package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// FindProduct finds a product in a store whose products the user may read. Any other
// product is answered as not found.
func (s *Service) FindProduct(ctx context.Context, by Caller, id string) (commerce.Item, error) {
	item, _, err := s.reader.Product(ctx, id)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !by.User.May(commerce.MayReadProducts, item.StoreID) {
		return commerce.Item{}, commerce.NotFound("product")
	}
	return item, err
}
