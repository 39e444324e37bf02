package command

import (
	"reflect"

	"purveyor/internal/commerce"
)

// UpdateStore gives a store new values.
type UpdateStore struct {
	Store commerce.Store  // all values that it shall have; No and UpdatedOn stay
	Seen  commerce.Millis // UpdatedOn of the store as the person saw it; 0: any
}

// Needs names the store.
func (c UpdateStore) Needs() commerce.Needs {
	return commerce.Needs{Lock: true, Stores: []string{c.Store.ID}}
}

// Decide changes the store. A store that has the values already stays as it is. Refusals: 404
// for a store that is not known, 409 for one that was changed since the person saw it.
func (c UpdateStore) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Store, commerce.Changes, error) {
	before, known := rows.Stores.Get(c.Store.ID)
	if !known {
		return before, commerce.Changes{}, commerce.NotFound("store")
	}
	store := c.Store
	store.No, store.UpdatedOn = before.No, before.UpdatedOn
	switch {
	case reflect.DeepEqual(store, before):
		return before, commerce.Changes{}, nil
	case changedSince(c.Seen, before.UpdatedOn):
		return before, commerce.Changes{}, changedMeanwhile("store")
	}
	store.UpdatedOn = now
	return store, commerce.Changes{Stores: []commerce.Store{store}}, nil
}

// changedSince reports whether a row has moved since a person saw it. Seen 0: that does not
// matter.
func changedSince(seen, updatedOn commerce.Millis) bool { return seen != 0 && seen != updatedOn }

// changedMeanwhile is the refusal of a change that was made from an older state.
func changedMeanwhile(noun string) error {
	return commerce.Conflict("changed_meanwhile", "The %s has changed since you opened this page", noun)
}
