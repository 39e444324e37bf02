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

func (s *Service) storeNo(ctx context.Context, id string) (int64, error) {
	if no, ok := s.storeNos.Load(id); ok {
		return no.(int64), nil
	}
	store, err := s.reader.Store(ctx, id)
	if err != nil {
		return 0, err
	}
	s.storeNos.Store(id, store.No)
	return store.No, nil
}

func (s *Service) storeID(ctx context.Context, no int64) (string, error) {
	if id, ok := s.storeIDs.Load(no); ok {
		return id.(string), nil
	}
	store, err := s.reader.StoreByNo(ctx, no)
	if err != nil {
		return "", err
	}
	s.storeIDs.Store(no, store.ID)
	return store.ID, nil
}
