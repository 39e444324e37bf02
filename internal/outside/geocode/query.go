package geocode

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"purveyor/internal/commerce"
)

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
