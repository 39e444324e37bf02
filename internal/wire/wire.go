// Package wire writes the JSON shapes of SPEC.md, Resources, that more than
// one way out of the service carries: products, orders and timeline events,
// in answers and in webhooks. Products are appended by hand, because encoding is
// most of the cost of a list of them; a test compares them with the plain encoder.
package wire

import (
	"strconv"

	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object appends the members of one JSON object.
type object struct {
	b     []byte
	comma bool
}

func open(b []byte) object { return object{b: append(b, '{')} }

func (o *object) close() []byte { return append(o.b, '}') }

func (o *object) name(name string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) str(name, v string) {
	o.name(name)
	o.b = AppendString(o.b, v)
}

// optStr leaves an empty string out.
func (o *object) optStr(name, v string) {
	if v != "" {
		o.str(name, v)
	}
}

// nullStr writes null for an empty string.
func (o *object) nullStr(name, v string) {
	o.name(name)
	o.b = AppendStringOrNull(o.b, v)
}

func (o *object) num(name string, v int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) bool(name string, v bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) raw(name string, v []byte) {
	o.name(name)
	o.b = append(o.b, v...)
}

func (o *object) strings(name string, list []string) {
	o.name(name)
	o.b = append(o.b, '[')
	for i, v := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = AppendString(o.b, v)
	}
	o.b = append(o.b, ']')
}

// AppendString appends v as a JSON string. Everything that is stored is valid
// UTF-8, because no decoder lets anything else in.
func AppendString(b []byte, v string) []byte {
	b, err := jsontext.AppendQuote(b, v)
	if err != nil {
		return b // v is written all the same, with U+FFFD for what is no UTF-8
	}
	return b
}

// AppendStringOrNull appends null for an empty string.
func AppendStringOrNull(b []byte, v string) []byte {
	if v == "" {
		return append(b, "null"...)
	}
	return AppendString(b, v)
}

// orNull is nil, which is written as null, for an empty text.
func orNull[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

// stored lets out what is stored: decoders let nothing else in, and text that is
// no UTF-8 all the same is written with U+FFFD.
var stored = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// appendJSON appends the JSON of a shape of this package, which always encodes.
func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v, stored)
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}

// ISO is a time of the wire: ISO 8601 in UTC, to the millisecond.
func ISO(t commerce.Millis) string { return t.Time().UTC().Format("2006-01-02T15:04:05.000Z") }
