package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// storeOut is the Store of SPEC.md, Resources.
type storeOut struct {
	ID              string          `json:"id"`
	Name            string          `json:"name"`
	Slug            string          `json:"slug"`
	City            string          `json:"city"`
	State           string          `json:"state"`
	ZipCode         string          `json:"zip_code"`
	Address         string          `json:"address"`
	Active          bool            `json:"active"`
	Open            bool            `json:"open"`
	PickupEnabled   bool            `json:"pickup_enabled"`
	DeliveryEnabled bool            `json:"service_delivery_enabled"`
	UpdatedOn       commerce.Millis `json:"updated_on"`
}

func storeShape(s commerce.Store) storeOut {
	return storeOut{s.ID, s.Name, s.Slug, s.City, s.State, s.ZipCode, s.Address, s.Active, s.Open,
		s.PickupEnabled, s.DeliveryEnabled, s.UpdatedOn}
}

// atMost is an upper bound of the encoded size of the store.
func (s storeOut) atMost() int {
	return 400 + escaped*(len(s.ID)+len(s.Name)+len(s.Slug)+len(s.City)+len(s.State)+len(s.ZipCode)+len(s.Address))
}

// listStores lists the stores that the key may use, in pages.
func (a *API) listStores(r *request) (reply, error) {
	q := web.QueryOf(r.Request)
	filter := storage.StoreFilter{Active: q.Bool("active", true), Limit: q.Limit(100, 300) + 1}
	filter.After = readCursor(q, "is not a next_cursor of this list", storeForm, func(text, form string) (string, bool) { return openCursor(text, form) })
	if q.Err() != nil {
		return reply{}, q.Err()
	}
	if len(r.Partner.StoreIDs) > 0 {
		filter.IDs = r.Partner.StoreIDs
	}
	list, err := a.reader.Stores(r.Context(), filter)
	if err != nil {
		return reply{}, err
	}
	stores := make([]storeOut, len(list))
	for i, s := range list {
		stores[i] = storeShape(s)
	}
	next := ""
	if n := fitting(stores, filter.Limit-1); n < len(stores) {
		stores, next = stores[:n], sealCursor(storeForm, stores[n-1].ID)
	}
	return tagged(struct {
		OK     bool       `json:"ok"`
		Count  int        `json:"count"`
		Next   string     `json:"next_cursor,omitempty"`
		Stores []storeOut `json:"stores"`
	}{true, len(stores), next, stores})
}
