package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// limited makes callers send so many requests together.
func limited(callers []caller, most int) []caller {
	var left atomic.Int64
	left.Store(int64(most))
	for i := range callers {
		next := callers[i].next
		callers[i].next = func(r *fasthttp.Request) bool { return left.Add(-1) >= 0 && next(r) }
	}
	return callers
}

// book notes the orders that were acknowledged, to check them at the end.
type book struct {
	sold []atomic.Int64 // by the index of the product

	mu     sync.Mutex
	orders []order
}

// order is one that was acknowledged.
type order struct {
	id, session string
	cents       int64
}

func newBook(products int) *book { return &book{sold: make([]atomic.Int64, products)} }

func (b *book) note(of basket, o order) {
	b.sold[of.a.Index].Add(1)
	b.sold[of.b.Index].Add(2)
	b.mu.Lock() // uncontended at some thousand orders per second
	b.orders = append(b.orders, o)
	b.mu.Unlock()
}

func (b *book) ids() []string {
	list := make([]string, len(b.orders))
	for i, o := range b.orders {
		list[i] = o.id
	}
	return list
}

// sales says which orders are made.
type sales struct {
	shops []shop
	key   string
	hot   bool // always the same two products
	book  *book
	path  string
	has   string // what the answer has in it
	// body writes the request of a basket.
	body func(b []byte, of basket, rng *rand.Rand) []byte
}

// callers make orders. Each has one of product a and two of product b.
func (s sales) callers(n int) []caller {
	list := make([]caller, n)
	for i := range list {
		rng := newRand()
		var body []byte
		var last basket
		list[i] = caller{
			next: func(r *fasthttp.Request) bool {
				last = draw(s.shops, s.hot, rng)
				body = s.body(body[:0], last, rng)
				post{s.path, body, []string{"X-Api-Key", s.key, "Idempotency-Key", token(rng)}}.set(r)
				return true
			},
			answer: func(status int, body []byte) error {
				made := order{textOf(body, `"order_id":"`), textOf(body, `"session_id":"`), last.a.Price + 2*last.b.Price}
				if status != 201 || made.id == "" || !bytes.Contains(body, []byte(s.has)) {
					return fmt.Errorf("status %d: %.300s", status, body)
				}
				s.book.note(last, made)
				return nil
			},
		}
	}
	return list
}

// fully are as many callers as there are connections.
func (s sales) fully() []caller { return s.callers(connections) }

// reports are orders for pickup. Their external ids count up, like those of shop
// systems, or are scattered like UUIDs.
func reports(shops []shop, key string, scattered bool, b *book) sales {
	return sales{shops: shops, key: key, book: b, path: "/v1/orders/report", body: func(b []byte, of basket, rng *rand.Rand) []byte {
		external := nextExternalID()
		if scattered {
			external = token(rng)
		}
		return fmt.Appendf(b, `{"external_order_id":"%s","store_id":"%s","fulfillment_type":"pickup","items":[`+
			`{"product_id":"%s","quantity":1,"price":%d},{"product_id":"%s","quantity":2,"price":%d}]}`,
			external, of.shop.ID, of.a.ID, of.a.Price, of.b.ID, of.b.Price)
	}}
}

// deliveries are orders that a courier of the sandbox takes.
func deliveries(shops []shop, testKey string, b *book) sales {
	return sales{shops: shops, key: testKey, book: b, path: "/v1/orders/report", has: `"created":true`, body: func(b []byte, of basket, rng *rand.Rand) []byte {
		return fmt.Appendf(b, `{"external_order_id":"%s","store_id":"%s","fulfillment_type":"delivery","items":[{"product_id":"%s","quantity":1,"price":%d}],"delivery_address":%s}`,
			nextExternalID(), of.shop.ID, of.a.ID, of.a.Price, address(rng))
	}}
}

// checkouts are of the same baskets as reports. The sandbox obeys the tag of the
// customer's e-mail address, if there is one.
func checkouts(shops []shop, testKey, tag string, b *book) sales {
	return sales{shops: shops, key: testKey, book: b, path: "/v1/checkout/session", has: `"session_id":"`, body: func(b []byte, of basket, rng *rand.Rand) []byte {
		email := ""
		if tag != "" {
			email = fmt.Sprintf(`"customer_email":"%s+%s@example.com",`, token(rng), tag)
		}
		return fmt.Appendf(b, `{"store_id":"%s","fulfillment_type":"pickup",%s"items":[{"product_id":"%s","quantity":1},{"product_id":"%s","quantity":2}],`+
			`"success_url":"https://shop.example.com/thanks?session={CHECKOUT_SESSION_ID}","cancel_url":"https://shop.example.com/cart"}`,
			of.shop.ID, email, of.a.ID, of.b.ID)
	}}
}

// orderNumber counts on from the microseconds of the start. No run overtakes
// these, so no two runs share a number.
var orderNumber atomic.Int64

func init() { orderNumber.Store(time.Now().UnixMicro()) }

func nextExternalID() string { return fmt.Sprintf("W-%d", orderNumber.Add(1)) }

// address is that of a customer near the stores.
func address(rng *rand.Rand) string {
	zips := []string{"94102", "94103", "94105", "94107", "94108", "94109", "94110", "94114", "94115", "94117", "94118", "94121", "94122", "94131", "94133"}
	return fmt.Sprintf(`{"name":"Robin Park","phone":"+14155550199","address":{"line1":"%d Market St","city":"San Francisco","state":"CA","postal_code":%q,"country":"US"}}`,
		1+rng.IntN(2000), zips[rng.IntN(len(zips))])
}

// stockOf reads the stock of products over the API.
func stockOf(addr, key string, goods []good) []int64 {
	stock := make([]int64, len(goods))
	each(addr, key, pathsOf(goods), func(i int, body []byte) error {
		var answer struct {
			Product struct {
				Quantity int64 `json:"available_quantity"`
			} `json:"product"`
		}
		err := json.Unmarshal(body, &answer)
		stock[i] = answer.Product.Quantity
		return err
	})
	return stock
}

func pathsOf(goods []good) []string {
	paths := make([]string, len(goods))
	for i, g := range goods {
		paths[i] = pathOf(g)
	}
	return paths
}

func pathOf(g good) string { return "/v1/products/" + g.ID }

func orderPath(id string) string { return "/v1/orders/" + id }

func orderPaths(ids []string) []string {
	paths := make([]string, len(ids))
	for i, id := range ids {
		paths[i] = orderPath(id)
	}
	return paths
}

// verify checks that stock is what it was before less what was sold, and that
// every acknowledged order can be read. It returns what it checked.
func (b *book) verify(addr, key string, sample []good, before []int64) string {
	after := stockOf(addr, key, sample)
	for i, g := range sample {
		if sold := b.sold[g.Index].Load(); after[i] != before[i]-sold {
			check(fmt.Errorf("product %s: stock %d, want %d, of which %d were sold", g.ID, after[i], before[i]-sold, sold))
		}
	}
	each(addr, key, orderPaths(b.ids()), func(i int, body []byte) error { return hasText(b.orders[i].id)(200, body) })
	return fmt.Sprintf("stock = start - sold for %d products; all %d acknowledged orders were read", len(sample), len(b.orders))
}
