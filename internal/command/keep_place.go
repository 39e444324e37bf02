package command

import "purveyor/internal/commerce"

// KeepPlace stores where a geocoder found an address, for all processes.
type KeepPlace struct{ Place commerce.GeocodedAddress }

// Needs names the place.
func (c KeepPlace) Needs() commerce.Needs {
	return commerce.Needs{Places: []string{c.Place.Address}}
}

// Decide says whether there is something new to keep: processes that looked for
// one address at once have found the same.
func (c KeepPlace) Decide(rows *commerce.Rows, now commerce.Millis) (bool, commerce.Changes, error) {
	c.Place.FoundOn = now
	if kept, _ := rows.Places.Get(c.Place.Address); !kept.Outdated(now) {
		kept.FoundOn = now
		if kept == c.Place {
			return false, commerce.Changes{}, nil
		}
	}
	return true, commerce.Changes{Places: []commerce.GeocodedAddress{c.Place}}, nil
}
