package api

import (
	"errors"
	"net/http"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// getProduct reads one product.
func (a *API) getProduct(r *request) (reply, error) {
	id := r.param("product_id")
	var data []byte
	known := a.products.mark(id)
	item, mark, err := a.reader.Product(r.Context(), id, known, func(v commerce.ProductVersion) (cached bool) {
		data, cached = a.products.get(v)
		return cached
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return reply{}, commerce.NotFound("product")
	case err != nil:
		return reply{}, err
	case !r.Partner.MayUse(mark.StoreID):
		return reply{}, commerce.StoreDenied()
	}
	if data == nil {
		data = a.products.put(item)
	}
	if mark.State != known.State {
		a.products.seen(id, mark)
	}
	body := make([]byte, 0, len(data)+len(`{"ok":true,"product":}`))
	body = append(body, `{"ok":true,"product":`...)
	body = append(body, data...)
	return reply{status: http.StatusOK, body: append(body, '}')}, nil
}
