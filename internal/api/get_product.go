package api

import (
	"errors"
	"net/http"
	"slices"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// getProduct reads one product.
func (a *API) getProduct(r *request) (reply, error) {
	storeID, body, err := a.product(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return reply{}, commerce.NotFound("product")
	case err != nil:
		return reply{}, err
	}
	if err := r.Partner.MayUse(storeID); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: body, shared: true}, nil
}

func (a *API) product(r *request) (storeID string, body []byte, err error) {
	id := r.param("product_id")
	kept, holds, err := a.kept.get(r.Context(), question{product: id})
	if err != nil {
		return "", nil, err
	}
	if holds {
		return kept.set.Product.StoreID, kept.body, nil
	}
	item, version, err := a.reader.Product(r.Context(), id)
	if err != nil {
		return "", nil, err
	}
	buffer := pages.Get().(*[]byte)
	long := append(wire.AppendProduct(append(*buffer, `{"ok":true,"product":`...), item), '}')
	body = slices.Clone(long)
	release(buffer, long)
	a.kept.put(question{product: item.ID}, version, &keptAnswer{set: storage.ReadSet{Product: item.Product.Key()}, body: body})
	return item.StoreID, body, nil
}
