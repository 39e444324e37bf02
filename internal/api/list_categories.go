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

// listCategories lists categories, of one store if asked.
func (a *API) listCategories(r *request) (reply, error) {
	q := web.QueryOf(r.Request)
	filter := storage.CategoryFilter{StoreID: q.Text("store_id"), Active: q.Bool("active", true)}
	if q.Err() != nil {
		return reply{}, q.Err()
	}
	return a.categories(r, filter)
}

// listStoreCategories lists the active categories that have products in a store.
func (a *API) listStoreCategories(r *request) (reply, error) {
	return a.categories(r, storage.CategoryFilter{StoreID: r.param("store_id"), Active: true})
}

func (a *API) categories(r *request, filter storage.CategoryFilter) (reply, error) {
	if filter.StoreID != "" {
		if err := a.mayRead(r, filter.StoreID); err != nil {
			return reply{}, err
		}
	}
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
	}{true, len(categories), categories, filter.StoreID})
}
