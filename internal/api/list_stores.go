package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// storeOut is the Store of SPEC.md, Resources.
type storeOut struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Slug            string `json:"slug"`
	City            string `json:"city"`
	State           string `json:"state"`
	ZipCode         string `json:"zip_code"`
	Address         string `json:"address"`
	Active          bool   `json:"active"`
	Open            bool   `json:"open"`
	PickupEnabled   bool   `json:"pickup_enabled"`
	DeliveryEnabled bool   `json:"service_delivery_enabled"`
	UpdatedOn       int64  `json:"updated_on"`
}

func storeShape(s commerce.Store) storeOut {
	return storeOut{s.ID, s.Name, s.Slug, s.City, s.State, s.ZipCode, s.Address, s.Active, s.Open,
		s.PickupEnabled, s.DeliveryEnabled, s.UpdatedOn}
}

// listStores lists the stores that the key may use.
func (a *API) listStores(r *request) (reply, error) {
	q := web.QueryOf(r.Request)
	filter := storage.StoreFilter{Active: q.Bool("active", true), Limit: q.Limit(100, 300)}
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
	return ok(struct {
		OK     bool       `json:"ok"`
		Count  int        `json:"count"`
		Stores []storeOut `json:"stores"`
	}{true, len(stores), stores})
}
