package api

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/commerce"
	"purveyor/internal/wire"
)

func decode(data []byte, v any) error { return wire.Decode(data, v) }

// Lengths of text, in characters.
const (
	maxID   = 255
	maxName = 500
	maxText = 5000
)

// check collects the first thing that is wrong with a request.
type check struct {
	prefix string // of every path
	err    error
}

func (c *check) fail(field, format string, args ...any) {
	if c.err == nil {
		field = c.prefix + field
		c.err = commerce.Invalid(field, "%s", field+" "+fmt.Sprintf(format, args...))
	}
}

// id is a required reference: not empty, one line.
func (c *check) id(field string, v *string) string {
	text := c.required(field, v, maxID)
	if strings.ContainsFunc(text, unicode.IsControl) {
		c.fail(field, "holds control characters")
	}
	return text
}

func (c *check) required(field string, v *string, most int) string {
	switch {
	case v == nil:
		c.fail(field, "is missing")
		return ""
	case strings.TrimSpace(*v) == "":
		c.fail(field, "is empty")
	}
	return c.optional(field, v, most)
}

func (c *check) optional(field string, v *string, most int) string {
	if v == nil {
		return ""
	}
	if utf8.RuneCountInString(*v) > most {
		c.fail(field, "is longer than %d characters", most)
	}
	return *v
}

// between is a required integer.
func (c *check) between(field string, v *wire.Int, least, most int64) int64 {
	if v == nil {
		c.fail(field, "is missing")
		return 0
	}
	if n := int64(*v); n < least || n > most {
		c.fail(field, "must be from %d to %d", least, most)
	}
	return int64(*v)
}

// optBetween is an optional integer.
func (c *check) optBetween(field string, v *wire.Int, least, most int64) *int64 {
	if v == nil {
		return nil
	}
	n := c.between(field, v, least, most)
	return &n
}

// count is the length of a list.
func (c *check) count(field string, n, most int) {
	switch {
	case n == 0:
		c.fail(field, "must have at least one element")
	case n > most:
		c.fail(field, "must have at most %d elements", most)
	}
}

// fulfillment is as given, else delivery with an address and pickup without.
func (c *check) fulfillment(v *string, hasAddress bool) commerce.Fulfillment {
	switch {
	case v == nil && hasAddress:
		return commerce.Delivery
	case v == nil:
		return commerce.Pickup
	}
	f := commerce.Fulfillment(*v)
	if f != commerce.Delivery && f != commerce.Pickup {
		c.fail("fulfillment_type", "must be delivery or pickup")
	}
	return f
}

// addressIn is a DeliveryAddress of a request (SPEC, Resources).
type addressIn struct {
	Name    *string `json:"name"`
	Email   *string `json:"email"`
	Phone   *string `json:"phone"`
	Address *struct {
		Line1      *string `json:"line1"`
		Line2      *string `json:"line2"`
		City       *string `json:"city"`
		State      *string `json:"state"`
		PostalCode *string `json:"postal_code"`
		Country    *string `json:"country"`
	} `json:"address"`
}

func (c *check) address(field string, v *addressIn) *commerce.DeliveryAddress {
	if v == nil {
		return nil
	}
	a := &commerce.DeliveryAddress{
		Name: c.required(field+".name", v.Name, maxName), Email: c.optional(field+".email", v.Email, maxID),
		Phone: c.optional(field+".phone", v.Phone, 50),
	}
	if v.Address == nil {
		c.fail(field+".address", "is missing")
		return a
	}
	in := field + ".address."
	a.Address = commerce.Address{
		Line1: c.required(in+"line1", v.Address.Line1, maxName), Line2: c.optional(in+"line2", v.Address.Line2, maxName),
		City: c.required(in+"city", v.Address.City, maxName), State: c.required(in+"state", v.Address.State, maxName),
		PostalCode: c.required(in+"postal_code", v.Address.PostalCode, 20), Country: c.required(in+"country", v.Address.Country, 100),
	}
	return a
}
