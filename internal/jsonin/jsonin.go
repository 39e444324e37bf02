// Package jsonin decodes and checks JSON that comes from outside: bodies of
// requests and the file of `purveyor import`.
package jsonin

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"purveyor/internal/commerce"
)

// Decode reads one JSON object into v. It refuses input that is ambiguous or that
// cannot be stored: duplicate names, invalid UTF-8, trailing data, NUL characters.
// Unknown members are ignored, unless an option refuses them. The error is a
// *commerce.Error that names the path at fault.
func Decode(data []byte, v any, options ...json.Options) error {
	data = bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(data) == 0:
		return commerce.Invalid("body", "the body is empty; send a JSON object")
	case data[0] != '{':
		return commerce.Invalid("body", "the body must be a JSON object")
	}
	if err := json.Unmarshal(data, v, options...); err != nil {
		return decodeError(err)
	}
	if hasNUL(data) {
		return commerce.Invalid("body", "the body holds a NUL character (\\u0000), which is not allowed")
	}
	return nil
}

// hasNUL reports whether data has the escape of U+0000. An escaped backslash
// before u0000 is not such an escape. The raw character is not valid JSON.
func hasNUL(data []byte) bool {
	for {
		i := bytes.Index(data, []byte(`\u0000`))
		if i < 0 {
			return false
		}
		backslashes := 0
		for i-backslashes-1 >= 0 && data[i-backslashes-1] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return true
		}
		data = data[i+1:]
	}
}

func decodeError(err error) error {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		path := Path(semantic.JSONPointer)
		return commerce.Invalid(path, "%s %s", path, expectation(semantic))
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		path := Path(syntactic.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return commerce.Invalid(path, "%s is given twice", path)
		}
		return commerce.Invalid(path, "the body is not valid JSON at byte %d: %v", syntactic.ByteOffset, syntactic.Err)
	}
	return commerce.Invalid("body", "the body is not valid JSON: %v", err)
}

func expectation(err *json.SemanticError) string {
	if reason, ok := errors.AsType[*valueError](err.Err); ok {
		return reason.Error()
	}
	if err.GoType != nil {
		switch err.GoType.Kind() {
		case reflect.String:
			return "must be a string"
		case reflect.Bool:
			return "must be true or false"
		case reflect.Slice:
			return "must be an array"
		case reflect.Struct, reflect.Map:
			return "must be an object"
		case reflect.Int64, reflect.Float64:
			return "must be a number"
		}
	}
	return "has a value that cannot be used"
}

// Path returns a JSON pointer as partners read it: items[0].quantity. The top
// is "body". A path that is longer than any real path is cut.
func Path(p jsontext.Pointer) string {
	const longest = 200
	var b strings.Builder
	for token := range p.Tokens() {
		switch _, err := strconv.ParseUint(token, 10, 32); {
		case err == nil && b.String() != "metadata": // its names may be numbers
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
		if b.Len() > longest {
			return strings.ToValidUTF8(b.String()[:longest], "") + "..."
		}
	}
	if b.Len() == 0 {
		return "body"
	}
	return b.String()
}

// valueError says why a value is refused.
type valueError struct{ reason string }

// Refusal is an error with which a type refuses a value; Decode shows its reason.
func Refusal(reason string, args ...any) error { return &valueError{fmt.Sprintf(reason, args...)} }

func (e *valueError) Error() string { return e.reason }

// Int is an integer. It is read from the text of the number, so that 5, 5.0 and
// 5e0 are the same and 5.5 is refused.
type Int int64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Int) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	n, err := scaled(d, 0, "must be an integer")
	*v = Int(n)
	return err
}

// Number is a number that need not be exact. One that is out of range is infinite.
type Number float64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Number) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := number(d, "must be a number")
	if err != nil {
		return err
	}
	n, _ := strconv.ParseFloat(text, 64) // of a JSON number: out of range at most, and then n is infinite
	*v = Number(n)
	return nil
}

// TextOr is either a text or an object.
type TextOr[T any] struct {
	Text   *string // nil: the object was given
	Object T
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *TextOr[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '"':
		return json.UnmarshalDecode(d, &v.Text)
	case '{':
		return json.UnmarshalDecode(d, &v.Object)
	}
	if err := d.SkipValue(); err != nil {
		return err
	}
	return &valueError{"must be a string or an object"}
}

// Major is an amount in major units with at most two decimal places, read exactly
// into cents.
type Major commerce.Cents

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Major) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	n, err := scaled(d, 2, "must be a number with at most two decimal places")
	*v = Major(n)
	return err
}

// Rate is a tax rate, see commerce.ParseRate.
type Rate commerce.Rate

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Rate) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := number(d, "must be a number")
	if err != nil {
		return err
	}
	rate, err := commerce.ParseRate(text)
	if err != nil {
		return &valueError{err.Error()}
	}
	*v = Rate(rate)
	return nil
}

func scaled(d *jsontext.Decoder, places int, expected string) (int64, error) {
	text, err := number(d, expected)
	if err != nil {
		return 0, err
	}
	n, err := commerce.ParseScaled(text, places)
	if err != nil {
		return 0, &valueError{fmt.Sprintf("%s (it %v)", expected, err)}
	}
	return n, nil
}

func number(d *jsontext.Decoder, expected string) (string, error) {
	value, err := d.ReadValue()
	switch {
	case err != nil:
		return "", err
	case value.Kind() != '0':
		return "", &valueError{expected}
	}
	return string(value), nil
}

// Bound is the number of elements that a List may have.
type Bound interface{ Most() int }

// List is an array with a bound. Decoding stops at the first element beyond the
// bound, so that a body of countless elements costs no more than a long list.
type List[T any, B Bound] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *List[T, B]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*l = nil
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '[', 0: // 0 is not JSON: ReadToken reports it
	default: // decoding ends with this error, so the value need not be skipped
		return &valueError{"must be an array"}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	var bound B
	for kind := d.PeekKind(); kind != ']'; kind = d.PeekKind() {
		if kind != 0 && len(*l) == bound.Most() {
			return &valueError{fmt.Sprintf("must have at most %d elements", bound.Most())}
		}
		var element T
		if err := json.UnmarshalDecode(d, &element); err != nil {
			return err
		}
		*l = append(*l, element)
	}
	_, err := d.ReadToken()
	return err
}

// Texts is an object of texts, or null, by their names, with a bound of the names. An absent
// object is nil. Decoding stops at the first name beyond the bound.
type Texts[B Bound] map[string]*string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *Texts[B]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*t = nil
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '{', 0: // 0 is not JSON: ReadToken reports it
	default: // decoding ends with this error, so the value need not be skipped
		return &valueError{"must be an object"}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	var bound B
	*t = Texts[B]{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		text := name.String()
		if len(*t) == bound.Most() {
			return &valueError{fmt.Sprintf("is more than the %d names that are allowed at once", bound.Most())}
		}
		var value *string
		if err := json.UnmarshalDecode(d, &value); err != nil {
			return err
		}
		(*t)[text] = value
	}
	_, err := d.ReadToken()
	return err
}

// Lengths of text, in characters.
const (
	MaxID   = 255
	MaxName = 500
	MaxURL  = 2000
	MaxText = 5000
)

// Check keeps the first error in decoded input: a *commerce.Error that names the
// path at fault.
type Check struct {
	Prefix string // of every path
	Err    error
	// Tell hears of every error, not only of the first; nil: only Err is wanted.
	Tell func(field, reason string)

	list  string // that Each is in; empty: none
	index int
}

// Fail keeps an error if it is the first. Inside Each, field is a field of the
// element.
func (c *Check) Fail(field, reason string, args ...any) {
	if c.Err != nil && c.Tell == nil {
		return
	}
	if c.list != "" {
		field = commerce.Index(c.list, c.index, field)
	}
	field = c.Prefix + field
	reason = fmt.Sprintf(reason, args...)
	if c.Err == nil {
		c.Err = commerce.Invalid(field, "%s", field+" "+reason)
	}
	if c.Tell != nil {
		c.Tell(field, reason)
	}
}

// Each checks the n elements of a list with f, up to the first error if no other is wanted. The path
// of an element is built only for an error.
func (c *Check) Each(list string, n int, f func(i int)) {
	c.list = list
	for c.index = 0; c.index < n && (c.Err == nil || c.Tell != nil); c.index++ {
		f(c.index)
	}
	c.list = ""
}

// ID checks a required reference: not empty, one line.
func (c *Check) ID(field string, v *string) string {
	text := c.Required(field, v, MaxID)
	if strings.ContainsFunc(text, unicode.IsControl) {
		c.Fail(field, "holds control characters")
	}
	return text
}

// Required checks a text that must not be blank, of at most most characters.
func (c *Check) Required(field string, v *string, most int) string {
	if v == nil || strings.TrimSpace(*v) == "" {
		c.Fail(field, "is missing")
	}
	return c.Optional(field, v, most)
}

// Optional checks a text of at most most characters, and returns "" if none is
// given.
func (c *Check) Optional(field string, v *string, most int) string {
	if v == nil {
		return ""
	}
	if utf8.RuneCountInString(*v) > most {
		c.Fail(field, "is longer than %d characters", most)
	}
	return *v
}

// Between checks a required integer.
func (c *Check) Between(field string, v *Int, least, most int64) int64 {
	if v == nil {
		c.Fail(field, "is missing")
		return 0
	}
	if n := int64(*v); n < least || n > most {
		c.Fail(field, "must be from %d to %d", least, most)
	}
	return int64(*v)
}

// OptBetween checks an optional integer.
func (c *Check) OptBetween(field string, v *Int, least, most int64) *int64 {
	if v == nil {
		return nil
	}
	n := c.Between(field, v, least, most)
	return &n
}

// MaxImages is the number of pictures that a product may have.
const MaxImages = 50

// Images checks the pictures of a product: at most MaxImages, and no blank one.
func (c *Check) Images(field string, v *[]string) {
	if v == nil {
		return
	}
	if len(*v) > MaxImages {
		c.Fail(field, "must have at most %d elements", MaxImages)
	}
	c.Each(field, len(*v), func(i int) { c.Required("", &(*v)[i], MaxURL) })
}

// NotEmpty refuses a list without elements.
func (c *Check) NotEmpty(field string, n int) {
	if n == 0 {
		c.Fail(field, "must have at least one element")
	}
}
