package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/importfile"
)

// UpdateStore gives a store new values, by the rules of the import file. store has all values
// that it shall have. A store that was changed since by.Seen is refused (409,
// changed_meanwhile), unless it has these values already.
func (s *Service) UpdateStore(ctx context.Context, by Caller, store commerce.Store) (commerce.Store, error) {
	if err := importfile.CheckStore(fieldsOf(store)); err != nil {
		return store, err
	}
	return act(ctx, s, by.Actor, deed{"update_store", store.ID, store.ID}, command.UpdateStore{Store: store, Seen: by.Seen})
}
