package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// book notes what was acknowledged, to be checked at the end.
type book struct {
	sold []atomic.Int64 // by the index of the product

	mu     sync.Mutex
	orders []string
}

func newBook(products int) *book { return &book{sold: make([]atomic.Int64, products)} }

func (b *book) note(of basket) {
	b.sold[of.a.index].Add(takesOfA)
	b.sold[of.b.index].Add(takesOfB)
}

// reporter reports one order after another over HTTP.
type reporter struct {
	shops []shop
	key   string
	hot   bool
	// scattered external ids have no order, as UUIDs have none. Shop systems count.
	scattered bool
	book      *book
	rng       *rand.Rand

	request, body []byte
	last          basket
}

// reporters are callers that write into one book.
func reporters(shops []shop, key string, hot, scattered bool, b *book) []caller {
	list := make([]caller, callers)
	for i := range list {
		list[i] = &reporter{shops: shops, key: key, hot: hot, scattered: scattered, book: b, rng: newRand()}
	}
	return list
}

func (r *reporter) next() []byte {
	r.last = draw(r.shops, r.hot, r.rng)
	b := append(r.body[:0], `{"external_order_id":"`...)
	if r.scattered {
		b = appendToken(b, r.rng)
	} else {
		b = appendOrderNumber(b)
	}
	b = append(b, `","store_id":"`...)
	b = append(b, r.last.shop.id...)
	b = append(b, `","fulfillment_type":"pickup","items":[`...)
	b = appendLine(b, r.last.a, takesOfA)
	b = append(b, ',')
	b = appendLine(b, r.last.b, takesOfB)
	r.body = append(b, `]}`...)
	var key [32]byte
	r.request = appendPost(r.request[:0], "/v1/orders/report", r.key, string(appendToken(key[:0], r.rng)), r.body)
	return r.request
}

func appendLine(b []byte, g *good, quantity int64) []byte {
	b = append(b, `{"product_id":"`...)
	b = append(b, g.id...)
	b = append(b, `","quantity":`...)
	b = strconv.AppendInt(b, quantity, 10)
	b = append(b, `,"price":`...)
	b = strconv.AppendInt(b, g.price, 10)
	return append(b, '}')
}

// orderNumber counts on from the microseconds of the start, which no run
// overtakes: so no two runs share one.
var orderNumber atomic.Int64

func init() { orderNumber.Store(time.Now().UnixMicro()) }

// appendOrderNumber appends the next external id, as a shop system counts them.
func appendOrderNumber(b []byte) []byte {
	return strconv.AppendInt(append(b, "W-"...), orderNumber.Add(1), 10)
}

// appendToken appends 128 random bits in hex, as unordered as a UUID.
func appendToken(b []byte, rng *rand.Rand) []byte {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], rng.Uint64())
	binary.BigEndian.PutUint64(raw[8:], rng.Uint64())
	return hex.AppendEncode(b, raw[:])
}

var orderIDField = []byte(`"order_id":"`)

func (r *reporter) answered(status int, body []byte) error {
	if status != 201 {
		return fmt.Errorf("status %d: %.300s", status, body)
	}
	_, rest, ok := bytes.Cut(body, orderIDField)
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 {
		return fmt.Errorf("no order_id: %.300s", body)
	}
	r.book.note(r.last)
	r.book.mu.Lock() // uncontended at some thousand orders a second
	r.book.orders = append(r.book.orders, string(rest[:end]))
	r.book.mu.Unlock()
	return nil
}

// stockOf reads the stock of some products over the API.
func stockOf(addr, key string, goods []good) ([]int64, error) {
	stock := make([]int64, len(goods))
	err := each(addr, key, productPaths(goods), func(i int, body []byte) error {
		var answer struct {
			Product struct {
				Quantity int64 `json:"available_quantity"`
			} `json:"product"`
		}
		err := json.Unmarshal(body, &answer)
		stock[i] = answer.Product.Quantity
		return err
	})
	return stock, err
}

func productPaths(goods []good) []string {
	paths := make([]string, len(goods))
	for i, g := range goods {
		paths[i] = "/v1/products/" + g.id
	}
	return paths
}

// sampleOf is what is checked: the hot pair and some products of each store.
func sampleOf(shops []shop) []good {
	var sample []good
	for _, s := range shops {
		sample = append(sample, s.goods[:min(len(s.goods), 50)]...)
	}
	return sample
}

// verify checks that the stock is what it was before less what was sold, and
// that every acknowledged order can be read. It returns what it checked.
func (b *book) verify(addr, key string, sample []good, before []int64) (string, error) {
	after, err := stockOf(addr, key, sample)
	if err != nil {
		return "", err
	}
	for i, g := range sample {
		if want := before[i] - b.sold[g.index].Load(); after[i] != want {
			return "", fmt.Errorf("product %s: stock %d, want %d of which %d were sold", g.id, after[i], want, b.sold[g.index].Load())
		}
	}
	paths := make([]string, len(b.orders))
	for i, id := range b.orders {
		paths[i] = "/v1/orders/" + id
	}
	err = each(addr, key, paths, func(i int, body []byte) error {
		if !bytes.Contains(body, []byte(b.orders[i])) {
			return fmt.Errorf("another order: %.200s", body)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("stock = start - sold for %d products; all %d acknowledged orders were read", len(sample), len(b.orders)), nil
}
