package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/storage"
	"purveyor/internal/web"
	"purveyor/internal/wire"
)

// placeIn is an address to search around, in parts.
type placeIn struct {
	Line1      *string `json:"line1"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postal_code"`
	Country    *string `json:"country"`
}

// place is what a geocoder is asked: a text, or at least a street or a postal
// code.
func (c *check) place(field string, v *wire.TextOr[placeIn]) (q geocode.Query) {
	switch {
	case v == nil:
		c.Fail(field, "is missing")
	case v.Text != nil:
		q = geocode.Text(c.Required(field, v.Text, wire.MaxName))
	default:
		in := v.Object
		q = geocode.Parts(commerce.Address{Line1: c.Optional(field+".line1", in.Line1, wire.MaxName), City: c.Optional(field+".city", in.City, wire.MaxName),
			State: c.Optional(field+".state", in.State, wire.MaxName), PostalCode: c.Optional(field+".postal_code", in.PostalCode, 20),
			Country: c.Optional(field+".country", in.Country, 100)})
		if blank(q.Address.Line1) && blank(q.Address.PostalCode) {
			c.Fail(field, "must have line1 or postal_code")
		}
	}
	return q
}

type nearbyIn struct {
	Address     *wire.TextOr[placeIn] `json:"delivery_address"`
	MaxMiles    *wire.Number          `json:"max_distance_miles"`
	Limit       *wire.Number          `json:"limit"`
	Fulfillment *string               `json:"fulfillment_type"`
	Active      *bool                 `json:"active"`
}

// nearbyStores lists the stores that are nearest to an address.
func (a *API) nearbyStores(r *request) (reply, error) {
	var in nearbyIn
	if err := r.decodeBody(&in); err != nil {
		return reply{}, err
	}
	var c check
	query := c.place("delivery_address", in.Address)
	search := commerce.Nearby{Partner: r.Partner, MaxMiles: c.upTo("max_distance_miles", in.MaxMiles, 10, 100),
		Limit: c.limit("limit", in.Limit, 50, 300), Fulfillment: c.fulfillment(in.Fulfillment, true)}
	if c.Err != nil {
		return reply{}, c.Err
	}
	origin, err := a.locate(r.Context(), query)
	if err != nil {
		return reply{}, err
	}
	search.Origin = origin.Point
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

// locate asks the geocoder, which nothing can be found without.
func (a *API) locate(ctx context.Context, q geocode.Query) (geocode.Place, error) {
	place, err := a.geocoder.Find(ctx, q)
	if err == nil && !place.Valid() {
		err = fmt.Errorf("the geocoder says that it is at %v", place.Point)
	}
	switch {
	case errors.Is(err, geocode.ErrNotFound):
		err = &web.Error{Status: http.StatusBadRequest, Code: "address_not_found", Field: "delivery_address", Message: "delivery_address cannot be placed on the map"}
	case err != nil:
		err = errors.Join(&web.Error{Status: http.StatusInternalServerError, Code: "geocoder_unavailable", Log: slog.LevelWarn,
			Message: "The service cannot look up addresses right now; try again"}, err)
	}
	return place, err
}

// near gives the stores that a search finds. They may have been read after they
// were found, so each is looked at once more: what the answer says of a store, its
// distance included, is of one moment.
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

// storesOf reads the stores that were found, but for those that are known in
// the version that was seen.
func (a *API) storesOf(ctx context.Context, found []commerce.StoreMatch, active bool) (map[string]commerce.Store, error) {
	byID := make(map[string]commerce.Store, len(found))
	var unknown []string
	for _, n := range found {
		if s, known := a.stores.get(n.StoreID, int64(n.UpdatedOn)); known {
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
		a.stores.put(s)
	}
	return byID, err
}

// candidates are the stores that a search finds, and perhaps others: all that a
// key may use, if these are few.
func (a *API) candidates(ctx context.Context, search commerce.Nearby, active bool) ([]commerce.StoreMatch, error) {
	const few = 100
	if own := search.Partner.StoreIDs; len(own) > 0 && len(own) <= few {
		found := make([]commerce.StoreMatch, len(own))
		for i, id := range own {
			found[i].StoreID = id // in whatever version: it is read
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

// atMost is an upper bound of what the store takes in an answer.
func (s nearStoreOut) atMost() int {
	return 600 + escaped*(len(s.ID)+len(s.Name)+len(s.Slug)+len(s.City)+len(s.State)+len(s.ZipCode)+len(s.Address))
}

func nearStoreShape(s commerce.Store, miles float64) nearStoreOut {
	site, _ := s.Site() // it was found by it
	at := pointOut(site.At)
	return nearStoreOut{s.ID, s.Name, s.Slug, s.Address, s.City, s.State, s.ZipCode, &at, *rounded(&miles),
		s.PickupEnabled, s.DeliveryEnabled, s.RadiusMiles, site.Delivers(miles), s.Open}
}
