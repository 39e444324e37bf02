// Package geocode is the port to geocoders, which find the place of an address.
// Offline knows ZIP codes, cities and states and makes no calls; Census and Nominatim
// know streets.
package geocode

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"unicode"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// Geocoder finds places.
type Geocoder interface {
	// Find returns the place of an address. ErrNotFound is definite; after any other
	// error the geocoder could not be asked.
	Find(ctx context.Context, q Query) (Place, error)
}

// Query is an address: one text, or parts, of which some may be empty.
type Query struct {
	Text    string // free-form; empty: the parts count
	Address commerce.Address
}

// ErrNotFound means that the geocoder does not know the address.
var ErrNotFound = errors.New("the address cannot be placed")

// Precision says how exactly a place is known.
type Precision string

// The precisions, from the best to the worst.
const (
	Rooftop Precision = "rooftop"
	Range   Precision = "range" // between two house numbers of the street
	Street  Precision = "street"
	ZIP     Precision = "zip"  // centre of a ZIP code area
	City    Precision = "city" // centre of a city
	Area    Precision = "area" // centre of all ZIP codes that share the first digits
)

// Exact reports whether a courier may be sent to the coordinates.
func (p Precision) Exact() bool { return p == Rooftop || p == Range || p == Street }

// Place is the place of an address.
type Place struct {
	commerce.Point
	Precision Precision
	// AreaMiles is the radius of a ZIP code area or a city; 0: not known.
	AreaMiles float64
}

// ForReach returns the place in the form that commerce.Store.ReachOf takes. It is nil
// if only the first digits of the ZIP code are known: such an address counts as
// unknown.
func (p Place) ForReach() *commerce.Place {
	to := &commerce.Place{Point: p.Point}
	switch p.Precision {
	case Rooftop, Range:
	case Street:
		to.RadiusMiles = commerce.StreetMiles
	case ZIP, City:
		to.RadiusMiles = cmp.Or(p.AreaMiles, commerce.MaxAreaMiles)
	default:
		return nil
	}
	return to
}

// Text returns the query for a free-form address.
func Text(text string) Query { return Query{Text: tidy(text)} }

// Parts returns the query for an address in parts. The first line alone may hold the
// whole address.
func Parts(a commerce.Address) Query {
	return Query{Address: commerce.Address{
		Line1: tidy(a.Line1), Line2: tidy(a.Line2), City: tidy(a.City),
		State: tidy(a.State), PostalCode: tidy(a.PostalCode), Country: tidy(a.Country),
	}}
}

// tidy keeps printable text with single spaces.
func tidy(text string) string {
	if len(text) > maxAddress { // longer texts are refused later
		return text
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// Line returns the address in one line, without unit numbers, as online geocoders
// expect it.
func (q Query) Line() string {
	if q.Text != "" {
		return q.Text
	}
	a := q.Address
	var parts []string
	for _, part := range []string{a.Line1, a.City, strings.TrimSpace(a.State + " " + a.PostalCode)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// HasStreet reports whether the query may hold more than city and ZIP code, for an
// address in the United States.
func (q Query) HasStreet() bool {
	w, ok := read(q)
	return ok && w.street != "" && (q.Text != "" || q.Address.Line1 != "")
}

// Key returns the same key for all spellings of an address: the hex digits of a hash.
// Empty: the address is not usable.
func Key(q Query) string {
	w, ok := read(q)
	if !ok {
		return ""
	}
	line := strings.ReplaceAll(w.rest, ",", " ") + "," + w.state + "," + strconv.Itoa(w.zip)
	sum := sha256.Sum256([]byte(line))
	return hex.EncodeToString(sum[:])
}

// Chain asks the online geocoder for addresses that have a street. It asks Offline
// for all others, and when the online geocoder does not know the address or cannot be
// reached. Answers of Offline are not cached: only the online geocoder has a Cache.
type Chain struct {
	env             env.Env
	online, offline Geocoder
}

// Options configure New.
type Options struct {
	Env    env.Env
	Online Geocoder // nil: Offline answers everything
	Source string   // name of the online geocoder, stored with its places
	Memory Memory   // of the places that it found; nil: process memory only
	Log    *slog.Logger
}

// New is the geocoder of a service: the online one, with a guard and a cache, and
// Offline behind it.
func New(o Options) Geocoder {
	if o.Online == nil {
		return Offline{}
	}
	return Chain{o.Env, NewCache(o.Env, NewGuard(o.Env, o.Online, o.Log), o.Source, o.Memory, o.Log), Offline{}}
}

// Find returns the place of an address. After an error other than ErrNotFound, the
// online geocoder might know it.
func (c Chain) Find(ctx context.Context, q Query) (Place, error) {
	if !q.HasStreet() {
		return c.offline.Find(ctx, q)
	}
	limited, cancel := c.env.WithTimeout(ctx, callLimit)
	defer cancel()
	place, err := c.online.Find(limited, q)
	if err == nil && place.Precision.Exact() {
		return place, nil
	}
	rough, roughErr := c.offline.Find(ctx, q)
	if errors.Is(roughErr, ErrNotFound) || err == nil && rough.Precision == Area {
		return place, err // a city that the online geocoder knows is more precise
	}
	return rough, roughErr
}
