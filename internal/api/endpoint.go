package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"math"
	"net/http"
	"net/mail"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
	"purveyor/internal/web"

	"github.com/go-json-experiment/json"
)

// handler serves a route.
type handler = func(*API, *request) (reply, error)

// input is the decoded body of a request. call checks it and returns the input of the use
// case.
type input[C any] interface {
	call(r *request) (C, error)
}

// rules is a set of rules for a request.
type rules int

const (
	needsKey    rules = 1 << iota // the header Idempotency-Key is required
	needsNoBody                   // a request without a body counts as an empty object
	largeBody                     // the body may be large
	bulkBody                      // the body may have the largest size
)

// keyed makes the handler of a call that takes effect at most once for its
// Idempotency-Key. The handler reads the key and the body, runs the use case, and answers
// with the reply that is stored for the key.
func keyed[In input[C], C, R any](rule rules, run func(*service.Service, context.Context, service.Caller, C, service.Once[R]) (service.Outcome[R], error),
	encode func(*request, R) (status int, body []byte)) handler {
	return func(a *API, r *request) (reply, error) {
		key, err := r.idempotencyKey(rule)
		if err != nil {
			return reply{}, err
		}
		in, what, err := readInput[In](r, rule)
		if err != nil {
			return reply{}, err
		}
		once := service.Once[R]{Key: r.replyKey(key), Encode: func(result R) (int, []byte) { return encode(r, result) }}
		if once.Fingerprint, err = fingerprint(in); err != nil {
			return reply{}, err
		}
		out, err := run(a.service, r.Context(), r.caller(), what, once)
		switch {
		case err != nil:
			return reply{}, err
		case out.Reply.Status != 0:
			return reply{status: out.Reply.Status, body: out.Reply.Body, replayed: out.Replayed}, nil
		case out.Pending != nil:
			return reply{}, &web.Error{Status: http.StatusConflict, Code: "in_progress", RetryAfter: 1, OrderID: out.Pending.OrderID,
				Message: "This is still in progress; repeat it with the same Idempotency-Key for its result"}
		}
		status, body := encode(r, out.Result)
		return reply{status: status, body: body}, nil
	}
}

// called makes the handler of a call without a key. It answers with status 200 and the
// result of encode as JSON.
func called[In input[C], C, R any](rule rules, run func(*service.Service, context.Context, service.Caller, C) (R, error), encode func(*request, R) any) handler {
	return func(a *API, r *request) (reply, error) {
		_, what, err := readInput[In](r, rule)
		if err != nil {
			return reply{}, err
		}
		result, err := run(a.service, r.Context(), r.caller(), what)
		if err != nil {
			return reply{}, err
		}
		return ok(encode(r, result))
	}
}

// ofOrder makes the handler of a path that names an order: it finds the order for the
// caller.
func ofOrder(h func(a *API, r *request, order commerce.Order) (reply, error)) handler {
	return func(a *API, r *request) (reply, error) {
		order, err := r.order()
		if err != nil {
			return reply{}, err
		}
		return h(a, r, order)
	}
}

func readInput[In input[C], C any](r *request, rule rules) (in In, what C, err error) {
	if err := r.decodeBody(&in, rule); err != nil {
		return in, what, err
	}
	what, err = in.call(r)
	return in, what, err
}

// ok answers v as JSON.
func ok(v any) (reply, error) { return reply{status: http.StatusOK, body: wire.Encode(v)}, nil }

// idempotencyKey reads the header. It returns "" if the header is absent and the rules
// allow that.
func (r *request) idempotencyKey(rule rules) (string, error) {
	key, err := readIdempotencyKey(r.Header["Idempotency-Key"])
	if err == nil && key == "" && rule&needsKey != 0 {
		err = &web.Error{Status: http.StatusBadRequest, Code: "idempotency_key_missing", Field: "Idempotency-Key",
			Message: "The header Idempotency-Key is required here"}
	}
	return key, err
}

// readIdempotencyKey reads the values of the header: one key of 1 to 255 printable
// characters, without surrounding quotes. If there is no value, it returns "".
func readIdempotencyKey(given []string) (string, error) {
	if len(given) == 0 {
		return "", nil
	}
	key := given[0]
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	if len(given) > 1 || key == "" || len(key) > 4*255 || utf8.RuneCountInString(key) > 255 || strings.ContainsFunc(key, notPrintable) {
		return "", &web.Error{Status: http.StatusBadRequest, Code: "idempotency_key_invalid", Field: "Idempotency-Key",
			Message: "Idempotency-Key must be given once, as 1 to 255 printable characters"}
	}
	return key, nil
}

func notPrintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// repeat tells a call by its Idempotency-Key, if it has one. Its answer is made again from what
// the first call has done.
func (r *request) repeat(in any) (p service.Repeat, err error) {
	key, err := r.idempotencyKey(0)
	if err != nil || key == "" {
		return p, err
	}
	p.Key = r.replyKey(key)
	p.Fingerprint, err = fingerprint(in)
	return p, err
}

// replyKey returns the idempotency key with its scope: the partner, the mode, the method
// and the path of the request.
func (r *request) replyKey(key string) commerce.ReplyKey {
	return commerce.ReplyKey{PartnerID: r.Partner.ID, Op: string(r.mode()) + " " + r.Method + " " + r.URL.Path, Key: key}
}

// fingerprint is the SHA-256 of the decoded request, encoded again. A repeat of the
// request has the same fingerprint.
func fingerprint(in any) ([32]byte, error) {
	decoded, err := json.Marshal(in, json.Deterministic(true))
	return sha256.Sum256(decoded), err
}

// selfDecoder is a body that decodes itself.
type selfDecoder interface{ decode(data []byte) error }

// decodeBody reads the JSON object of a request.
func (r *request) decodeBody(v any, rule rules) error {
	most := web.MaxBody
	switch {
	case rule&bulkBody != 0:
		most = web.MaxBulkBody
	case rule&largeBody != 0:
		most = web.MaxLargeBody
	}
	return r.api.bodies.Decode(r.w, r.Request, r.Partner.ID, most, func(data []byte) error {
		err := decode(data, v, rule)
		r.seen.sees(data, err == nil)
		return err
	})
}

func decode(data []byte, v any, rule rules) error {
	if rule&needsNoBody != 0 && len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	if d, ok := v.(selfDecoder); ok {
		return d.decode(data)
	}
	return jsonin.Decode(data, v)
}

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

// Answers encodes the answers that a job may decide long after the request (SPEC, Checkout
// and orders, Cancel and refund). Each is made from stored rows, so that it can be made
// again from newer ones.
type Answers struct{}
