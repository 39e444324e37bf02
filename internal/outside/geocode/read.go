package geocode

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/geocode/gazetteer"
)

const (
	maxAddress   = 1000 // bytes
	maxCityWords = 6
	noZIP        = -1
)

// parsedAddress is what an address says about its place.
type parsedAddress struct {
	zip    int    // or noZIP
	state  string // its code; empty: not given
	rest   string // everything before them, folded by gazetteer.Fold
	street string // the rest without the city, if the city is known
	city   commerce.Place
	inCity bool // the city is known
}

// read parses the end of an address: street, city, state, ZIP code, country. The last
// three may come in another order. It returns false if the address is in another
// country or another script, is too long, or has no such end.
//
// The parts are joined to one text, because callers mix up the parts. Postal code and
// country are taken as they are given.
func read(q Query) (parsedAddress, bool) {
	a := q.Address
	if q.Text != "" {
		a = commerce.Address{Line1: q.Text}
	}
	if len(a.Line1)+len(a.City)+len(a.State)+len(a.PostalCode)+len(a.Country) > maxAddress {
		return parsedAddress{}, false
	}
	state, ok := fromCountry(a.Country)
	if !ok {
		return parsedAddress{}, false
	}
	var space [256]byte
	folded := space[:0]
	for _, part := range [...]string{a.Line1, a.City, a.State} {
		if folded, ok = gazetteer.Fold(folded, part); !ok {
			return parsedAddress{}, false
		}
	}
	text := cutUS(string(folded))
	code, ok := gazetteer.Fold(folded[:0], a.PostalCode)
	if !ok {
		return parsedAddress{}, false
	}
	before, zip := cutZIP(string(code))
	if zip == noZIP || before != "" {
		return parse(text, state)
	}
	w, _ := parse(text, state)
	w.zip = zip
	return w, true
}

// fromCountry returns the state that the country names: empty for the United States
// and for no country. False: it is another country.
func fromCountry(country string) (state string, ok bool) {
	switch country {
	case "", "US", "USA":
		return "", true
	}
	folded, ok := gazetteer.Fold(nil, country)
	if !ok {
		return "", false
	}
	name := string(folded)
	if name == "" || cutUS(name) == "" || name == "america" {
		return "", true
	}
	state = gazetteer.State(name)
	return state, slices.Contains(gazetteer.Territories, state)
}

// parse reads folded text. The state is the one that the country has named, if any.
func parse(text, state string) (parsedAddress, bool) {
	w := parsedAddress{zip: noZIP, rest: text}
	for range 2 { // "CA 94102" and "94102 CA"
		if w.zip == noZIP {
			w.rest, w.zip = cutZIP(w.rest)
		}
		if w.state == "" {
			w.rest, w.state = cutState(w.rest)
		}
	}
	if w.state == "" {
		w.state = state
	}
	w.street = w.rest
	if w.state != "" {
		w.findCity()
	}
	return w, w.zip != noZIP || w.state != ""
}

// findCity looks for the longest name of a city of the state at the end of the rest.
// A comma ends the search, because it ends a name.
func (w *parsedAddress) findCity() {
	at := len(w.rest)
	for range maxCityWords {
		at = strings.LastIndexAny(w.rest[:at], " ,")
		if p, ok := gazetteer.City(w.state, w.rest[at+1:]); ok {
			w.city, w.inCity, w.street = p, true, w.rest[:max(at, 0)]
		}
		if at < 0 || w.rest[at] == ',' {
			return
		}
	}
}

// cutUS cuts the United States off the end.
func cutUS(text string) string {
	for _, name := range [...]string{"united states of america", "united states", "usa", "us"} {
		if before, ok := strings.CutSuffix(text, name); ok && (before == "" || strings.ContainsAny(before[len(before)-1:], " ,")) {
			return strings.TrimRight(before, " ,")
		}
	}
	return text
}

// cutZIP cuts a ZIP code off the end: 94102, 94102 1234, 941021234.
func cutZIP(text string) (string, int) {
	before, word := cutWord(text)
	if len(word) == 4 && digits(word) >= 0 {
		before, word = cutWord(before)
		if len(word) != 5 {
			return text, noZIP
		}
	}
	if len(word) != 5 && len(word) != 9 || digits(word) < 0 {
		return text, noZIP
	}
	return before, digits(word[:5])
}

// digits returns the number that a word is, or -1.
func digits(word string) int {
	n, err := strconv.ParseUint(word, 10, 31) // which accepts no sign
	if err != nil {
		return -1
	}
	return int(n)
}

// cutState cuts the longest name of a state off the end.
func cutState(text string) (before, state string) {
	const maxWords = 4 // of a state's name
	before = text
	at := len(text)
	for range maxWords {
		at = strings.LastIndexAny(text[:at], " ,")
		if code := gazetteer.State(text[at+1:]); code != "" {
			before, state = text[:max(at, 0)], code
		}
		if at < 0 || text[at] == ',' {
			break
		}
	}
	return before, state
}

// cutWord cuts the last word off.
func cutWord(text string) (before, word string) {
	i := strings.LastIndexAny(text, " ,")
	return text[:max(i, 0)], text[i+1:]
}

// Offline knows the ZIP codes, cities and states of the United States and its
// territories, from tables in the program. It makes no calls.
type Offline struct{}

var _ Geocoder = Offline{}

// Find returns the place of the ZIP code, or else of the city. If it knows neither,
// it returns the centre of the ZIP codes that share the first three digits.
func (Offline) Find(_ context.Context, q Query) (Place, error) {
	w, ok := read(q)
	if !ok {
		return Place{}, ErrNotFound
	}
	if w.zip != noZIP {
		if p, ok := gazetteer.ZIP(w.zip); ok {
			return Place{p.Point, ZIP, p.RadiusMiles}, nil
		}
	}
	if w.inCity {
		return Place{w.city.Point, City, w.city.RadiusMiles}, nil
	}
	if w.zip != noZIP {
		if p, ok := gazetteer.Area(w.zip); ok {
			return Place{Point: p, Precision: Area}, nil
		}
	}
	return Place{}, ErrNotFound
}
