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
	filter := storage.CategoryFilter{Active: &active}
	switch {
	case storeID != "":
		if err := a.service.MayReadStore(r.Context(), r.Partner, storeID); err != nil {
			return reply{}, err
		}
		filter.StoreIDs = []string{storeID}
	case len(r.Partner.StoreIDs) > 0:
		filter.StoreIDs = r.Partner.StoreIDs
	}
	return a.categories(r, filter, storeID)
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
	return ok(struct {
		OK         bool          `json:"ok"`
		Count      int           `json:"count"`
		Categories []categoryOut `json:"categories"`
		StoreID    string        `json:"store_id,omitempty"`
	}{true, len(categories), categories, storeID})
}
