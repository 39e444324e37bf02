package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// getProduct reads one product.
func (a *API) getProduct(r *request) (reply, error) {
	id := r.param("product_id")
	kept, holds, err := a.kept.get(r.Context(), question{product: id})
	if err == nil && !holds {
		kept, err = a.readProduct(r.Context(), id)
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return reply{}, commerce.NotFound("product")
	case err != nil:
		return reply{}, err
	}
	r.seen.aboutStore(kept.set.Product.StoreID)
	if err := r.Partner.MayUse(kept.set.Product.StoreID); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: kept.body, tag: kept.tag, shared: true}, nil
}

// readProduct makes the answer about a product, and keeps it.
func (a *API) readProduct(ctx context.Context, id string) (*keptAnswer, error) {
	item, version, err := a.reader.Product(ctx, id)
	if err != nil {
		return nil, err
	}
	buffer := pages.Get().(*[]byte)
	long := append(wire.AppendProduct(append(*buffer, `{"ok":true,"product":`...), item), '}')
	kept := &keptAnswer{set: storage.ReadSet{Product: item.Product.Key()}, body: slices.Clone(long)}
	kept.tag = etagOf(kept.body)
	release(buffer, long)
	a.kept.put(question{product: item.ID}, version, kept)
	return kept, nil
}
