package commit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/testkit/pg"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"
)

const products = 3

// step is one thing that partners do at the same time as others.
type step struct {
	kind     string // report, adjust, upsert, set, import, cancel
	product  int
	quantity int64
}

var steps = rapid.Custom(func(t *rapid.T) step {
	return step{
		kind:     rapid.SampledFrom([]string{"report", "report", "adjust", "upsert", "set", "import", "cancel"}).Draw(t, "kind"),
		product:  rapid.IntRange(0, products-1).Draw(t, "product"),
		quantity: rapid.Int64Range(1, 8).Draw(t, "quantity"),
	}
})

// books is what the test knows must be in stock.
type books struct {
	mu      sync.Mutex
	want    [products]int64
	sold    [products]int64
	named   bool             // a quantity was named meanwhile: only the moves tell what is there
	pending []commerce.Order // not cancelled yet
}

func (b *books) move(product int, delta int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.want[product] += delta
}

// name says that a quantity was named, and not moved by a delta.
func (b *books) name() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.named = true
}

// TestStockAddsUp: whatever happens at the same time, stock is start plus
// adjustments minus orders plus cancels, never below zero, and nothing is
// sold that is not there. The moves of each product chain to its quantity.
func TestStockAddsUp(t *testing.T) { onEveryEngine(t, testStockAddsUp) }

func testStockAddsUp(t *testing.T, open opener) {
	checks, most := 0, math.MaxInt
	if strings.HasSuffix(t.Name(), "postgres") { // a database for each takes long to make there
		if most = 25; pg.Shared(t).Cluster() { // and several times as long
			most = 10
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		if checks++; checks > most {
			return
		}
		start := rapid.Int64Range(0, 20).Draw(rt, "start")
		s := openShop(t, open, products, start)
		defer s.Close()
		b := &books{want: [products]int64{start, start, start}}
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			round := rapid.SliceOfN(steps, 1, 16).Draw(rt, "at once")
			b.named = false
			var wg sync.WaitGroup
			for _, st := range round {
				wg.Go(func() { s.take(rt, b, st) })
			}
			wg.Wait()
			storagetest.CheckStock(t, s.engine.Reader())
			for p := range products {
				got := s.Stock(p)
				if b.named {
					b.want[p] = got.Quantity
				}
				if got.Quantity != b.want[p] || got.Quantity < 0 || got.SoldCount != b.sold[p] || got.SoldCents != fixture.Price*commerce.Cents(b.sold[p]) {
					rt.Fatalf("product %d: %+v; want %d left and %d sold", p, got, b.want[p], b.sold[p])
				}
			}
		}
	})
}

// take does one step and enters its result in the books.
func (s *shop) take(t *rapid.T, b *books, st step) {
	ctx := s.T.Context()
	var err error
	switch st.kind {
	case "report":
		var o commerce.Order
		if o, err = commit.Do(ctx, s.Committer, s.Report(st.product, st.quantity)); err == nil {
			b.move(st.product, -st.quantity)
			b.mu.Lock()
			b.sold[st.product] += st.quantity
			b.pending = append(b.pending, o)
			b.mu.Unlock()
		}
	case "adjust":
		delta := st.quantity
		if delta%2 == 0 {
			delta = -delta
		}
		if _, err = commit.Do(ctx, s.Committer, command.AdjustInventory{Actor: fixture.Actor(commerce.Live),
			Lines: []command.AdjustmentLine{{Product: fixture.ProductKey(st.product), Delta: delta}}}); err == nil {
			b.move(st.product, delta)
		}
	case "upsert": // changes the product and must leave its stock alone
		_, err = commit.Do(ctx, s.Committer, command.UpsertProduct{Actor: fixture.Actor(commerce.Live), ID: fixture.ProductID(st.product), StoreID: fixture.StoreID,
			CategoryID: fixture.CategoryID, Name: fmt.Sprint("Renamed ", st.quantity)})
	case "set":
		_, err = commit.Do(ctx, s.Committer, command.UpsertProduct{Actor: fixture.Actor(commerce.Live), ID: fixture.ProductID(st.product), StoreID: fixture.StoreID,
			CategoryID: fixture.CategoryID, Name: "Product", Quantity: &st.quantity})
		b.name()
	case "import":
		_, err = commit.Do(ctx, s.Committer, command.ImportCatalog{Actor: "operator:ann", Products: []command.ImportProduct{
			{ID: fixture.ProductID(st.product), Name: "Product", StoreID: fixture.StoreID, Quantity: &st.quantity}}})
		b.name()
	case "cancel":
		b.mu.Lock()
		if len(b.pending) == 0 {
			b.mu.Unlock()
			return
		}
		o := b.pending[0]
		b.pending = b.pending[1:]
		b.mu.Unlock()
		if _, err = commit.Do(ctx, s.Committer, command.CancelOrder{Facts: command.FactsOf(o), Actor: fixture.Actor(commerce.Live)}); err == nil {
			line := o.Lines[0]
			var product int
			_, _ = fmt.Sscanf(line.ProductID, "prd_%d", &product)
			b.move(product, line.Quantity)
			b.mu.Lock()
			b.sold[product] -= line.Quantity
			b.mu.Unlock()
		}
	}
	var refusal *commerce.Error
	if err != nil && (!errors.As(err, &refusal) || refusal.Code != "insufficient_stock") {
		t.Errorf("%+v: %v", st, err)
	}
}

// stockInput and stockOutput are one operation on the stock of one product.
type stockInput struct {
	kind  string // take, add, set, read
	value int64
}

type stockOutput struct {
	ok       bool
	quantity int64 // read, and after an adjustment
}

// stockModel is a counter that does not go below zero.
var stockModel = porcupine.Model{
	Init: func() any { return int64(10) },
	Step: func(state, input, output any) (bool, any) {
		have, in, out := state.(int64), input.(stockInput), output.(stockOutput)
		switch in.kind {
		case "take":
			return out.ok == (have >= in.value), have - ifTrue(out.ok, in.value)
		case "add":
			next := have + in.value
			if next < 0 {
				return !out.ok, have
			}
			return out.ok && out.quantity == next, next
		case "set":
			return out.ok, in.value
		default:
			return out.quantity == have, have
		}
	},
}

func ifTrue(condition bool, v int64) int64 {
	if condition {
		return v
	}
	return 0
}

// TestStockIsLinearizable records what concurrent partners saw of one product
// and asks whether one at a time could have seen the same.
func TestStockIsLinearizable(t *testing.T) { onEveryEngine(t, testStockIsLinearizable) }

func testStockIsLinearizable(t *testing.T, open opener) {
	s := openShop(t, open, 1, 10)
	var mu sync.Mutex
	var history []porcupine.Operation
	began := time.Now()
	var wg sync.WaitGroup
	for client := range 6 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 7))
			for range 60 {
				in := stockInput{[]string{"take", "take", "add", "set", "read"}[random.IntN(5)], random.Int64N(9)}
				if in.kind == "add" {
					in.value -= 4
				}
				if in.kind == "take" {
					in.value++
				}
				call := time.Since(began).Nanoseconds()
				out := s.do(in)
				end := time.Since(began).Nanoseconds()
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if result := porcupine.CheckOperationsTimeout(stockModel, history, time.Minute); result != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(history), result)
	}
}

func (s *shop) do(in stockInput) stockOutput {
	ctx := s.T.Context()
	switch in.kind {
	case "take":
		_, err := commit.Do(ctx, s.Committer, s.Report(0, in.value))
		return stockOutput{ok: s.accepted(err)}
	case "add":
		done, err := commit.Do(ctx, s.Committer, command.AdjustInventory{Actor: fixture.Actor(commerce.Live),
			Lines: []command.AdjustmentLine{{Product: fixture.ProductKey(0), Delta: in.value}}})
		if !s.accepted(err) {
			return stockOutput{}
		}
		return stockOutput{ok: true, quantity: done[0].Next}
	case "set":
		_, err := commit.Do(ctx, s.Committer, command.UpsertProduct{Actor: fixture.Actor(commerce.Live), ID: fixture.ProductID(0), StoreID: fixture.StoreID,
			CategoryID: fixture.CategoryID, Name: "Product", Quantity: &in.value})
		return stockOutput{ok: s.accepted(err)}
	default:
		return stockOutput{quantity: s.Stock(0).Quantity}
	}
}

func (s *shop) accepted(err error) bool {
	var refusal *commerce.Error
	if err != nil && !errors.As(err, &refusal) {
		s.T.Error(err)
	}
	return err == nil
}
