package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"

	"purveyor/internal/commerce"
)

// Checkout is an order that waits for its payment.
type Checkout struct {
	OrderID, SessionID string
	TotalCents         int64
}

// Checkouts are those that were acknowledged.
type Checkouts struct {
	left atomic.Int64 // to be made

	mu   sync.Mutex
	List []Checkout
}

// Shoppers says who orders, and what of.
type Shoppers struct {
	Shops []Shop
	Key   string
	Tag   string // of the customers' e-mail addresses; empty: they have none
	Most  int64  // checkouts of all together; 0: no end
}

// Callers are so many that check out: as many lines and goods as a Reporter's
// orders have.
func (s Shoppers) Callers(n int, into *Checkouts) []Caller {
	into.left.Store(s.Most)
	list := make([]Caller, n)
	for i := range list {
		list[i] = &shopper{Shoppers: s, into: into, rng: NewRand()}
	}
	return list
}

type shopper struct {
	Shoppers
	into *Checkouts
	rng  *rand.Rand

	request, body []byte
	total         int64
}

// Next is the request of another checkout.
func (s *shopper) Next() []byte {
	if s.Most > 0 && s.into.left.Add(-1) < 0 {
		return nil
	}
	of := draw(s.Shops, false, s.rng)
	s.total = takesOfA*of.a.Price + takesOfB*of.b.Price
	b := append(s.body[:0], `{"store_id":"`...)
	b = append(b, of.shop.ID...)
	b = append(b, `","fulfillment_type":"pickup","success_url":"https://shop.example.com/thanks?session={CHECKOUT_SESSION_ID}",`+
		`"cancel_url":"https://shop.example.com/cart",`...)
	if s.Tag != "" {
		b = append(b, `"customer_email":"`...)
		b = appendToken(b, s.rng)
		b = append(b, '+')
		b = append(b, s.Tag...)
		b = append(b, `@example.com",`...)
	}
	b = append(b, `"items":[`...)
	b = appendWanted(b, of.a, takesOfA)
	b = append(b, ',')
	b = appendWanted(b, of.b, takesOfB)
	s.body = append(b, `]}`...)
	var key [32]byte
	s.request = appendPost(s.request[:0], "/v1/checkout/session", s.Key, string(appendToken(key[:0], s.rng)), s.body)
	return s.request
}

func appendWanted(b []byte, g *Good, quantity int64) []byte {
	b = append(b, `{"product_id":"`...)
	b = append(b, g.ID...)
	b = append(b, `","quantity":`...)
	b = strconv.AppendInt(b, quantity, 10)
	return append(b, '}')
}

// Answered takes down a checkout that was acknowledged.
func (s *shopper) Answered(status int, body []byte) error {
	order, session := textOf(body, orderIDField), textOf(body, sessionIDField)
	if status != 201 || order == "" || session == "" {
		return fmt.Errorf("status %d: %.300s", status, body)
	}
	s.into.mu.Lock() // uncontended at some thousand checkouts a second
	s.into.List = append(s.into.List, Checkout{order, session, s.total})
	s.into.mu.Unlock()
	return nil
}

var sessionIDField = []byte(`"session_id":"`)

// textOf is the text that follows a field's name, up to the next quote; empty
// if there is none.
func textOf(body, field []byte) string {
	_, rest, _ := bytes.Cut(body, field)
	text, _, ended := bytes.Cut(rest, []byte{'"'})
	if !ended {
		return ""
	}
	return string(text)
}

// HasStatus tells whether the answer to GET /v1/orders/{id} says so.
func HasStatus(body []byte, status commerce.OrderStatus) bool {
	return textOf(body, []byte(`"status":"`)) == string(status)
}
