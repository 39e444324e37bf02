package wire

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

// Check collects the first thing that is wrong with what was decoded, as a
// *commerce.Error with its path.
type Check struct {
	Prefix string // of every path
	Err    error

	list  string // that Each is in; empty: none
	index int
}

// Fail notes a reason, if it is the first. Inside Each, field is one of the
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

// Each checks the n elements of a list by f, up to the first thing that is
// wrong. The path of an element is built only to name it in the error.
func (c *Check) Each(list string, n int, f func(i int)) {
	c.list = list
	for c.index = 0; c.index < n && c.Err == nil; c.index++ {
		f(c.index)
	}
	c.list = ""
}

// ID is a required reference: not empty, one line.
func (c *Check) ID(field string, v *string) string {
	text := c.Required(field, v, MaxID)
	if strings.ContainsFunc(text, unicode.IsControl) {
		c.Fail(field, "holds control characters")
	}
	return text
}

// Required is text of at most so many characters that is not blank.
func (c *Check) Required(field string, v *string, most int) string {
	if v == nil || strings.TrimSpace(*v) == "" {
		c.Fail(field, "is missing")
	}
	return c.Optional(field, v, most)
}

// Optional is text of at most so many characters; empty if it is not given.
func (c *Check) Optional(field string, v *string, most int) string {
	if v == nil {
		return ""
	}
	if utf8.RuneCountInString(*v) > most {
		c.Fail(field, "is longer than %d characters", most)
	}
	return *v
}

// Between is a required integer.
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

// OptBetween is an optional integer.
func (c *Check) OptBetween(field string, v *Int, least, most int64) *int64 {
	if v == nil {
		return nil
	}
	n := c.Between(field, v, least, most)
	return &n
}

// MaxImages is how many pictures a product may have.
const MaxImages = 50

// Images are the pictures of a product: few, none of them blank.
func (c *Check) Images(field string, v *[]string) {
	if v == nil {
		return
	}
	if len(*v) > MaxImages {
		c.Fail(field, "must have at most %d elements", MaxImages)
	}
	c.Each(field, len(*v), func(i int) { c.Required("", &(*v)[i], MaxURL) })
}

// NotEmpty wants a list to have an element.
func (c *Check) NotEmpty(field string, n int) {
	if n == 0 {
		c.Fail(field, "must have at least one element")
	}
}
