package api

import "purveyor/internal/storage"

// listStoreCategories lists the categories that have products in a store,
// active or not.
func (a *API) listStoreCategories(r *request) (reply, error) {
	storeID := r.param("store_id")
	if err := a.service.MayReadStore(r.Context(), r.Partner, storeID); err != nil {
		return reply{}, err
	}
	return a.categories(r, storage.CategoryFilter{StoreIDs: []string{storeID}}, "")
}
