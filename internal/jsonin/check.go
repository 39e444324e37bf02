package jsonin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/commerce"
)

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

	list  string // that Each is in; empty: none
	index int
}

// Fail keeps an error if it is the first. Inside Each, field is a field of the
// element.
func (c *Check) Fail(field, reason string, args ...any) {
	if c.Err != nil {
		return
	}
	if c.list != "" {
		field = commerce.Index(c.list, c.index, field)
	}
	field = c.Prefix + field
	c.Err = commerce.Invalid(field, "%s", field+" "+fmt.Sprintf(reason, args...))
}

// Each checks the n elements of a list with f, up to the first error. The path
// of an element is built only for an error.
func (c *Check) Each(list string, n int, f func(i int)) {
	c.list = list
	for c.index = 0; c.index < n && c.Err == nil; c.index++ {
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
