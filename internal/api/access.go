package api

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// keyFinder lets the gate look up keys.
type keyFinder struct{ reader storage.Partners }

func (k keyFinder) FindKey(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.Mode, error) {
	p, mode, err := k.reader.KeyHolder(ctx, hash)
	if errors.Is(err, storage.ErrNotFound) {
		err = web.ErrNoKey
	}
	return p, mode, err
}

// order finds the order that the path names, if the caller may see it.
func (r *request) order() (commerce.Order, error) {
	return r.api.service.FindOrder(r.Context(), r.caller(), r.param("order_id"))
}
