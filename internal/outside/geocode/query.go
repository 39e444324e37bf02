package geocode

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"purveyor/internal/commerce"
)

// Text is the query for a free-form address.
func Text(text string) Query { return Query{Text: tidy(text)} }

// Parts is the query for an address in parts. One that has it all in its first
// line is as good.
func Parts(a commerce.Address) Query {
	return Query{Address: commerce.Address{
		Line1: tidy(a.Line1), Line2: tidy(a.Line2), City: tidy(a.City),
		State: tidy(a.State), PostalCode: tidy(a.PostalCode), Country: tidy(a.Country),
	}}
}

// tidy leaves printable text with single spaces.
func tidy(text string) string {
	if len(text) > maxAddress { // nobody will read it
		return text
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// Line is the address in one line, without what tells doors of a building
// apart, as online geocoders want it.
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

// HasStreet tells whether the query may say more than city and ZIP code, of an
// address in the United States.
func (q Query) HasStreet() bool {
	w, ok := read(q)
	return ok && w.street != "" && (q.Text != "" || q.Address.Line1 != "")
}

// Key names an address, however it is written: the hex digits of a hash. Empty:
// there is no such address.
func Key(q Query) string {
	w, ok := read(q)
	if !ok {
		return ""
	}
	line := strings.ReplaceAll(w.rest, ",", " ") + "," + w.state + "," + strconv.Itoa(w.zip)
	sum := sha256.Sum256([]byte(line))
	return hex.EncodeToString(sum[:])
}
