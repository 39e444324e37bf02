package api

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/storage"
)

// placeIn is the address of a search, in parts.
type placeIn struct {
	Line1      *string `json:"line1"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postal_code"`
	Country    *string `json:"country"`
}

// place reads the address of a search: a text, or parts with at least a street or a postal
// code.
func (c *check) place(field string, v *jsonin.TextOr[placeIn]) (text string, parts commerce.Address) {
	switch {
	case v == nil:
		c.Fail(field, "is missing")
	case v.Text != nil:
		text = c.Required(field, v.Text, jsonin.MaxName)
	default:
		in := v.Object
		parts = commerce.Address{Line1: c.Optional(field+".line1", in.Line1, jsonin.MaxName), City: c.Optional(field+".city", in.City, jsonin.MaxName),
			State: c.Optional(field+".state", in.State, jsonin.MaxName), PostalCode: c.Optional(field+".postal_code", in.PostalCode, 20),
			Country: c.Optional(field+".country", in.Country, 100)}
		if blank(parts.Line1) && blank(parts.PostalCode) {
			c.Fail(field, "must have line1 or postal_code")
		}
	}
	return text, parts
}

type nearbyIn struct {
	Address     *jsonin.TextOr[placeIn] `json:"delivery_address"`
	MaxMiles    *jsonin.Number          `json:"max_distance_miles"`
	Limit       *jsonin.Number          `json:"limit"`
	Fulfillment *string                 `json:"fulfillment_type"`
	Active      *bool                   `json:"active"`
}

// nearbyStores lists the stores nearest to an address.
func (a *API) nearbyStores(r *request) (reply, error) {
	var in nearbyIn
	if err := r.decodeBody(&in, 0); err != nil {
		return reply{}, err
	}
	var c check
	text, parts := c.place("delivery_address", in.Address)
	search := commerce.Nearby{Partner: r.Partner, MaxMiles: c.upTo("max_distance_miles", in.MaxMiles, 10, 100),
		Limit: c.limit("limit", in.Limit, 50, 300), Fulfillment: c.fulfillment(in.Fulfillment, true)}
	if c.Err != nil {
		return reply{}, c.Err
	}
	var err error
	if search.Origin, err = a.service.LocateAddress(r.Context(), text, parts); err != nil {
		return reply{}, err
	}
	stores, err := a.near(r.Context(), search, in.Active == nil || *in.Active)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK          bool                 `json:"ok"`
		Count       int                  `json:"count"`
		Origin      pointOut             `json:"origin"`
		MaxMiles    float64              `json:"max_distance_miles"`
		Fulfillment commerce.Fulfillment `json:"fulfillment_type"`
		Stores      []nearStoreOut       `json:"stores"`
	}{true, len(stores), pointOut(search.Origin), search.MaxMiles, search.Fulfillment, stores})
}

// near returns the stores that a search finds. A store may have changed between the search
// and its read, so near computes its distance again: all that an answer shows of a store,
// including the distance, is of one moment.
func (a *API) near(ctx context.Context, search commerce.Nearby, active bool) ([]nearStoreOut, error) {
	found, err := a.candidates(ctx, search, active)
	if err != nil {
		return nil, err
	}
	byID, err := a.storesOf(ctx, found, active)
	if err != nil {
		return nil, err
	}
	sites := make([]commerce.Site, 0, len(byID))
	for _, n := range found {
		if site, known := byID[n.StoreID].Site(); known {
			sites = append(sites, site)
		}
	}
	found = search.Pick(sites)
	out := make([]nearStoreOut, len(found))
	for i, n := range found {
		out[i] = nearStoreShape(byID[n.StoreID], n.Miles)
	}
	return out[:fitting(out, len(out))], nil
}

// storesOf reads the stores that a search found, except for those that the cache has in
// the same version.
func (a *API) storesOf(ctx context.Context, found []commerce.StoreMatch, active bool) (map[string]commerce.Store, error) {
	byID := make(map[string]commerce.Store, len(found))
	var unknown []string
	for _, n := range found {
		if s, known := a.stores.GetIfPresent(n.StoreID); known && s.UpdatedOn == n.UpdatedOn {
			byID[s.ID] = s
		} else {
			unknown = append(unknown, n.StoreID)
		}
	}
	if len(unknown) == 0 {
		return byID, nil
	}
	list, err := a.reader.Stores(ctx, storage.StoreFilter{Active: active, IDs: unknown, Limit: len(unknown)})
	for _, s := range list {
		byID[s.ID] = s
		a.stores.Set(s.ID, s)
	}
	return byID, err
}

// candidates returns all stores that a search can find, and perhaps others. If the key may
// use only a few stores, these are the candidates.
func (a *API) candidates(ctx context.Context, search commerce.Nearby, active bool) ([]commerce.StoreMatch, error) {
	const few = 100
	if own := search.Partner.StoreIDs; len(own) > 0 && len(own) <= few {
		found := make([]commerce.StoreMatch, len(own))
		for i, id := range own {
			found[i].StoreID = id // without a version, so that the store is read
		}
		return found, nil
	}
	circle := search.Narrowest()
	for {
		sites, err := a.reader.Sites(ctx, storage.SiteFilter{Active: active, Area: commerce.StripsAround(circle.Origin, circle.MaxMiles)})
		if err != nil {
			return nil, err
		}
		found := circle.Pick(sites)
		var more bool
		if circle, more = search.Wider(circle, len(found)); !more {
			return found, nil
		}
	}
}

type pointOut struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

// nearStoreOut is a store of the answer (SPEC, Nearby stores).
type nearStoreOut struct {
	ID              string    `json:"id"`
	Name            string    `json:"name"`
	Slug            string    `json:"slug"`
	Address         string    `json:"address"`
	City            string    `json:"city"`
	State           string    `json:"state"`
	ZipCode         string    `json:"zip_code"`
	Geoloc          *pointOut `json:"geoloc"`
	DistanceMiles   float64   `json:"distance_miles"`
	PickupEnabled   bool      `json:"pickup_enabled"`
	DeliveryEnabled bool      `json:"service_delivery_enabled"`
	RadiusMiles     *float64  `json:"service_delivery_radius_miles"`
	WithinRadius    bool      `json:"within_store_delivery_radius"`
	Open            bool      `json:"open"`
}

// atMost is an upper bound of the encoded size of the store.
func (s nearStoreOut) atMost() int {
	return 600 + escaped*(len(s.ID)+len(s.Name)+len(s.Slug)+len(s.City)+len(s.State)+len(s.ZipCode)+len(s.Address))
}

func nearStoreShape(s commerce.Store, miles float64) nearStoreOut {
	site, _ := s.Site() // a store without a site is never found
	at := pointOut(site.At)
	return nearStoreOut{s.ID, s.Name, s.Slug, s.Address, s.City, s.State, s.ZipCode, &at, *rounded(&miles),
		s.PickupEnabled, s.DeliveryEnabled, s.RadiusMiles, site.Delivers(miles), s.Open}
}
