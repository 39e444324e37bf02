package api

import (
	"math"
	"net/mail"
	"net/url"
	"strings"
	"unicode"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
)

// check adds checks for the shapes of requests to jsonin.Check.
type check struct{ jsonin.Check }

// upTo reads a number above 0. A number above most becomes most.
func (c *check) upTo(field string, v *jsonin.Number, otherwise, most float64) float64 {
	if v == nil {
		return otherwise
	}
	if *v <= 0 {
		c.Fail(field, "must be above 0")
	}
	return min(float64(*v), most)
}

// limit reads the size of a list. A size above most becomes most.
func (c *check) limit(field string, v *jsonin.Number, otherwise, most int) int {
	if v == nil {
		return otherwise
	}
	n := float64(*v)
	if n < 1 || n != math.Trunc(n) {
		c.Fail(field, "must be an integer of 1 or more")
	}
	return int(min(n, float64(most)))
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// fulfillment reads the fulfillment. Without one, it is delivery if there is an address,
// else pickup.
func (c *check) fulfillment(v *string, hasAddress bool) commerce.Fulfillment {
	switch {
	case v == nil && hasAddress:
		return commerce.ByDelivery
	case v == nil:
		return commerce.ByPickup
	}
	f := commerce.Fulfillment(*v)
	if f != commerce.ByDelivery && f != commerce.ByPickup {
		c.Fail("fulfillment_type", "must be delivery or pickup")
	}
	return f
}

// handOver refuses a delivery without an address, and a pickup order with a delivery fee.
func (c *check) handOver(f commerce.Fulfillment, to *commerce.DeliveryAddress, fee commerce.Cents) {
	switch {
	case f == commerce.ByDelivery && to == nil:
		c.Fail("delivery_address", "is missing")
	case f == commerce.ByPickup && fee != 0:
		c.Fail("delivery_fee", "must be 0 or absent on a pickup order")
	}
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
		Name: c.Required(field+".name", v.Name, jsonin.MaxName), Email: c.oneLine(field+".email", v.Email, jsonin.MaxID),
		Phone: c.Optional(field+".phone", v.Phone, 50),
	}
	if v.Address == nil {
		c.Fail(field+".address", "is missing")
		return a
	}
	in := field + ".address."
	a.Address = commerce.Address{
		Line1: c.Required(in+"line1", v.Address.Line1, jsonin.MaxName), Line2: c.Optional(in+"line2", v.Address.Line2, jsonin.MaxName),
		City: c.Required(in+"city", v.Address.City, jsonin.MaxName), State: c.Required(in+"state", v.Address.State, jsonin.MaxName),
		PostalCode: c.Required(in+"postal_code", v.Address.PostalCode, 20), Country: c.Required(in+"country", v.Address.Country, 100),
	}
	return a
}

// instructions reads text of any number of lines for people. Other control characters are
// refused, because they could steer the terminal or mail program that shows the text.
func (c *check) instructions(field string, v *string) string {
	text := c.Optional(field, v, jsonin.MaxText)
	if strings.ContainsFunc(strings.ReplaceAll(text, "\r\n", "\n"), steers) {
		c.Fail(field, "holds control characters")
	}
	return text
}

func steers(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// oneLine reads optional text without control characters.
func (c *check) oneLine(field string, v *string, most int) string {
	text := c.Optional(field, v, most)
	if strings.ContainsFunc(text, unicode.IsControl) {
		c.Fail(field, "holds control characters")
	}
	return text
}

// email reads an address that mail can be sent to. Processors refuse others.
func (c *check) email(field string, v *string) string {
	text := c.oneLine(field, v, jsonin.MaxID)
	if text == "" {
		return ""
	}
	if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
		c.Fail(field, "must be an e-mail address")
	}
	return text
}

// webURL reads the target of a link on a page: an absolute http or https URL without
// credentials (BEHAVIOUR, Money and content).
func (c *check) webURL(field string, v *string) string {
	text := c.Required(field, v, jsonin.MaxURL)
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		c.Fail(field, "must be an absolute http or https URL")
	case u.User != nil:
		c.Fail(field, "must not contain credentials")
	}
	return text
}
