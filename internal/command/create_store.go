package command

import "purveyor/internal/commerce"

// CreateStore makes a store.
type CreateStore struct {
	Store commerce.Store // No and UpdatedOn are given by the command
}

// Needs names the store and the next number of a store.
func (c CreateStore) Needs() commerce.Needs {
	return commerce.Needs{NextStoreNo: true, Stores: []string{c.Store.ID}}
}

// Access implements commit.Keyed: staff are checked by their front.
func (c CreateStore) Access(*commerce.Rows) error { return nil }

// Decide makes the store. It refuses the id of another one.
func (c CreateStore) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Store, commerce.Changes, error) {
	if _, known := rows.Stores.Get(c.Store.ID); known {
		return c.Store, commerce.Changes{}, commerce.Conflict("store_exists", "There is a store %s already", c.Store.ID)
	}
	store := c.Store
	store.No, store.UpdatedOn = rows.NextStoreNo, now
	return store, commerce.Changes{Stores: []commerce.Store{store}}, nil
}
