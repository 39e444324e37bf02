package load

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

// Book notes what was acknowledged, to be checked at the end.
type Book struct {
	sold []atomic.Int64 // by the index of the product

	mu     sync.Mutex
	Orders []string
}

// NewBook is an empty book for so many products.
func NewBook(products int) *Book { return &Book{sold: make([]atomic.Int64, products)} }

// Sold is how many of a product were sold by orders that are acknowledged.
func (b *Book) Sold(g Good) int64 { return b.sold[g.Index].Load() }

func (b *Book) note(of basket) {
	b.sold[of.a.Index].Add(takesOfA)
	b.sold[of.b.Index].Add(takesOfB)
}

// Reporter reports one order after another over HTTP.
type Reporter struct {
	shops []Shop
	key   string
	hot   bool
	// scattered external ids have no order, as UUIDs have none. Shop systems count.
	scattered bool
	book      *Book
	rng       *rand.Rand

	request, body []byte
	last          basket
}

// Reporters are callers that write into one book.
func Reporters(shops []Shop, key string, hot, scattered bool, b *Book) []Caller {
	list := make([]Caller, Callers)
	for i := range list {
		list[i] = &Reporter{shops: shops, key: key, hot: hot, scattered: scattered, book: b, rng: NewRand()}
	}
	return list
}

// NewReporter reports from these shops, spread.
func NewReporter(shops []Shop) *Reporter { return &Reporter{shops: shops, rng: NewRand()} }

// Order makes the body of another order, valid until the next call.
func (r *Reporter) Order() []byte {
	r.last = draw(r.shops, r.hot, r.rng)
	b := append(r.body[:0], `{"external_order_id":"`...)
	if r.scattered {
		b = appendToken(b, r.rng)
	} else {
		b = appendOrderNumber(b)
	}
	b = append(b, `","store_id":"`...)
	b = append(b, r.last.shop.ID...)
	b = append(b, `","fulfillment_type":"pickup","items":[`...)
	b = appendLine(b, r.last.a, takesOfA)
	b = append(b, ',')
	b = appendLine(b, r.last.b, takesOfB)
	r.body = append(b, `]}`...)
	return r.body
}

// Next is the request of another order.
func (r *Reporter) Next() []byte {
	body := r.Order()
	var key [32]byte
	r.request = appendPost(r.request[:0], "/v1/orders/report", r.key, string(appendToken(key[:0], r.rng)), body)
	return r.request
}

func appendLine(b []byte, g *Good, quantity int64) []byte {
	b = append(b, `{"product_id":"`...)
	b = append(b, g.ID...)
	b = append(b, `","quantity":`...)
	b = strconv.AppendInt(b, quantity, 10)
	b = append(b, `,"price":`...)
	b = strconv.AppendInt(b, g.Price, 10)
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

// Answered takes down an order that was acknowledged.
func (r *Reporter) Answered(status int, body []byte) error {
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
	r.book.Orders = append(r.book.Orders, string(rest[:end]))
	r.book.mu.Unlock()
	return nil
}

// StockOf reads the stock of some products over the API.
func StockOf(addr, key string, goods []Good) ([]int64, error) {
	stock := make([]int64, len(goods))
	err := Each(addr, key, productPaths(goods), func(i int, body []byte) error {
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

func productPaths(goods []Good) []string {
	paths := make([]string, len(goods))
	for i, g := range goods {
		paths[i] = "/v1/products/" + g.ID
	}
	return paths
}

// SampleOf is what is checked: the hot pair and some products of each store.
func SampleOf(shops []Shop) []Good {
	var sample []Good
	for _, s := range shops {
		sample = append(sample, s.Goods[:min(len(s.Goods), 50)]...)
	}
	return sample
}

// Verify checks that the stock is what it was before less what was sold, and
// that every acknowledged order can be read. It returns what it checked.
func (b *Book) Verify(addr, key string, sample []Good, before []int64) (string, error) {
	after, err := StockOf(addr, key, sample)
	if err != nil {
		return "", err
	}
	for i, g := range sample {
		if want := before[i] - b.sold[g.Index].Load(); after[i] != want {
			return "", fmt.Errorf("product %s: stock %d, want %d of which %d were sold", g.ID, after[i], want, b.sold[g.Index].Load())
		}
	}
	paths := make([]string, len(b.Orders))
	for i, id := range b.Orders {
		paths[i] = "/v1/orders/" + id
	}
	err = Each(addr, key, paths, func(i int, body []byte) error {
		if !bytes.Contains(body, []byte(b.Orders[i])) {
			return fmt.Errorf("another order: %.200s", body)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("stock = start - sold for %d products; all %d acknowledged orders were read", len(sample), len(b.Orders)), nil
}
