package api

import (
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// categoryOut is the Category of SPEC.md, Resources.
type categoryOut struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

// listCategories lists categories, of one store if the query names one. A key that is
// restricted to stores gets the categories that have products there.
func (a *API) listCategories(r *request) (reply, error) {
	q := web.QueryOf(r.Request)
	storeID, active := q.Text("store_id"), q.Bool("active", true)
	if q.Err() != nil {
		return reply{}, q.Err()
	}
	stores, err := r.storesOf(storeID)
	if err != nil {
		return reply{}, err
	}
	return a.categories(r, storage.CategoryFilter{Active: &active, StoreIDs: stores}, storeID)
}

// storesOf returns the stores of which a list of the catalog is: the store that the query
// names, or all that the key may use; nil: of every store.
func (r *request) storesOf(named string) ([]string, error) {
	switch {
	case named != "":
		return []string{named}, r.api.service.MayReadStore(r.Context(), r.Partner, named)
	case len(r.Partner.StoreIDs) > 0:
		return r.Partner.StoreIDs, nil
	}
	return nil, nil
}

// categories answers with the categories of a filter. storeID is the store of the query as
// the answer repeats it, or empty.
func (a *API) categories(r *request, filter storage.CategoryFilter, storeID string) (reply, error) {
	list, err := a.reader.Categories(r.Context(), filter)
	if err != nil {
		return reply{}, err
	}
	categories := make([]categoryOut, len(list))
	for i, c := range list {
		categories[i] = categoryOut(c)
	}
	return tagged(struct {
		OK         bool          `json:"ok"`
		Count      int           `json:"count"`
		Categories []categoryOut `json:"categories"`
		StoreID    string        `json:"store_id,omitempty"`
	}{true, len(categories), categories, storeID})
}
