package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// MayReadStore refuses an unknown store (404) and a store that the key may not use (403).
// A store that was found once is not read again, because stores are never deleted.
func (s *Service) MayReadStore(ctx context.Context, p commerce.Partner, storeID string) error {
	_, err := s.storeNo(ctx, storeID)
	return storeRefusal(p, storeID, err)
}

// store reads a store. It refuses as MayReadStore does.
func (s *Service) store(ctx context.Context, p commerce.Partner, id string) (commerce.Store, error) {
	store, err := s.reader.Store(ctx, id)
	return store, storeRefusal(p, id, err)
}

func storeRefusal(p commerce.Partner, storeID string, err error) error {
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return commerce.NotFound("store")
	case err != nil:
		return err
	}
	return p.MayUse(storeID)
}
