package commerce

import "testing"

func TestReachOf(t *testing.T) {
	lat, lng, radius, none := 42.65, -73.75, 5.0, 0.0
	store := Store{Lat: &lat, Lng: &lng, RadiusMiles: &radius}
	at := func(miles, own float64) *Place {
		return &Place{Point: Point{Lat: lat + miles/(earthMiles*radian), Lng: lng}, RadiusMiles: own}
	}
	wide, closed, lost := store, store, store
	wide.RadiusMiles, closed.RadiusMiles, lost.Lat = nil, &none, nil
	for name, c := range map[string]struct {
		store  Store
		to     *Place
		miles  bool
		beyond bool
	}{
		"a house at the edge":           {store, at(4.9999, 0), true, false},
		"a house beyond it":             {store, at(5.0001, 0), true, true},
		"an area that begins within":    {store, at(7.4999, 2.5), true, false},
		"an area beyond":                {store, at(7.5001, 2.5), true, true},
		"no place":                      {store, nil, false, false},
		"a store without a limit":       {wide, at(5000, 0), true, false},
		"a store that goes nowhere":     {closed, at(0.01, 0), true, true},
		"the store's own door":          {closed, at(0, 0), true, false},
		"a store that cannot be placed": {lost, at(5000, 0), false, false},
	} {
		if r := c.store.ReachOf(c.to); (r.Miles != nil) != c.miles || r.Beyond != c.beyond {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
