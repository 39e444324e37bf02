package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
)

// pair is an engine with two products, 5 of each, and a batch that is being saved.
type pair struct {
	*testing.T
	e      *Engine
	path   string
	keys   []commerce.ProductKey
	resume chan struct{}
	saved  chan error
}

func newPair(t *testing.T) *pair {
	p := &pair{T: t, path: filepath.Join(t.TempDir(), "purveyor.db"), saved: make(chan error, 1)}
	p.e = p.open()
	storagetest.SeedProducts(t, p.e, 1, 2, 5)
	p.keys = []commerce.ProductKey{{StoreID: "sto_0", ProductID: "prd_0_000"}, {StoreID: "sto_0", ProductID: "prd_0_001"}}
	return p
}

func (p *pair) open() *Engine { return file(p.path).Open(p.T, time.Now).(*Engine) }

// load opens a batch over products, and over a reply.
func (p *pair) load(key string, products ...int) *batch {
	p.Helper()
	n := commerce.Needs{Replies: []commerce.ReplyKey{replyKey(key)}}
	for _, i := range products {
		n.Stock = append(n.Stock, p.keys[i])
	}
	b, err := p.e.Load(p.Context(), n)
	if err != nil {
		p.Fatal(err)
	}
	return b.(*batch)
}

func replyKey(key string) commerce.ReplyKey {
	return commerce.ReplyKey{PartnerID: "ptn_1", Op: "op", Key: key}
}

// sell takes from the products of a batch and stores its reply.
func (p *pair) sell(b *batch, key string, quantity int64, products ...int) {
	p.Helper()
	c := commerce.Changes{Replies: []commerce.Reply{{ReplyKey: replyKey(key), Body: []byte("{}")}}}
	for _, i := range products {
		s, _ := b.Rows().Stock.Get(p.keys[i])
		s.Quantity -= quantity
		s.UpdatedOn = b.Stamp()
		c.Stock = append(c.Stock, s)
	}
	storagetest.Apply(b, storagetest.WithMoves(b.Rows(), c, b.Stamp()))
}

// save saves a batch that sells so much of product 0, and stops as it writes its first row.
func (p *pair) save(quantity int64) *batch {
	p.Helper()
	b := p.load("first", 0)
	p.sell(b, "first", quantity, 0)
	p.resume = make(chan struct{})
	paused := make(chan struct{})
	stop := func(sql string) {
		if sql == "UPDATE meta SET value = ? WHERE name = ?" {
			observe.Store(nil)
			close(paused)
			<-p.resume
		}
	}
	observe.Store(&stop)
	go func() { p.saved <- b.Save(context.Background()) }()
	<-paused
	return b
}

// left is how much is left of the products in the database.
func (p *pair) left() (list []int64) {
	p.Helper()
	for _, k := range p.keys {
		item, _, err := p.e.Reader().Product(p.Context(), k.ProductID)
		if err != nil {
			p.Fatal(err)
		}
		list = append(list, item.Stock.Quantity)
	}
	return list
}

// TestLoadsAhead: a batch that was loaded while the one before was being saved is saved if
// nothing else happened to the database, and starts again if something did.
func TestLoadsAhead(t *testing.T) {
	const refused = 6 // is more than there is, which a CHECK finds
	for name, c := range map[string]struct {
		first   int64         // sold by the batch before
		product int           // of the batch that is loaded ahead
		between func(p *pair) // before it is saved
		want    error         // of its Save
		left    [2]int64      // of products 0 and 1 after it
	}{
		"it sees what the batch before saves":         {first: 2, product: 0, left: [2]int64{2, 5}},
		"other products":                              {first: 2, product: 1, left: [2]int64{3, 4}},
		"the batch before failed":                     {first: refused, product: 0, want: storage.ErrAgain, left: [2]int64{5, 5}},
		"the batch before failed over other products": {first: refused, product: 1, left: [2]int64{5, 4}},
		"another process changed something": {first: 2, product: 1, want: storage.ErrAgain, left: [2]int64{3, 5}, between: func(p *pair) {
			if err := saveReply(p.open(), "of another process"); err != nil {
				p.Fatal(err)
			}
		}},
		"another process wrote without a stamp, as a claim of jobs does": {first: 2, product: 1, want: storage.ErrAgain, left: [2]int64{3, 5}, between: func(p *pair) {
			e := p.open()
			if _, err := e.writeOne(p.Context(), "UPDATE meta SET value = value + 1 WHERE name = ?", bind("next_store_no")); err != nil {
				p.Fatal(err)
			}
		}},
		"this process used the connection, as a claim of jobs does": {first: 2, product: 1, want: storage.ErrAgain, left: [2]int64{3, 5}, between: func(p *pair) {
			if _, err := p.e.ClaimJobs(p.Context(), storage.JobClaim{Worker: "w", Limit: 1}); err != nil {
				p.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			first := p.save(c.first)
			second := p.load("second", c.product)
			defer second.Discard()
			if second.ahead == nil || second.Stamp() <= first.Stamp() {
				t.Errorf("the batch is loaded ahead: %v, with stamp %d after %d", second.ahead != nil, second.Stamp(), first.Stamp())
			}
			p.sell(second, "second", 1, c.product)
			close(p.resume)
			if err := <-p.saved; (err == nil) != (c.first != refused) {
				t.Fatalf("the batch before: %v", err)
			}
			if c.between != nil {
				c.between(p)
			}
			if err := second.Save(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("saved with %v, want %v", err, c.want)
			}
			if left := p.left(); [2]int64(left[:2]) != c.left {
				t.Errorf("%v are left, want %v", left, c.left)
			}
			// The next try is loaded under the lock, and is saved.
			again := p.load("third", c.product)
			p.sell(again, "third", 1, c.product)
			if err := again.Save(t.Context()); err != nil || again.ahead != nil {
				t.Errorf("once more: %v, ahead %v", err, again.ahead != nil)
			}
		})
	}
}

// A batch that asks for a row which the batch before saves, other than of stock, is not
// loaded ahead.
func TestLoadsNotAhead(t *testing.T) {
	p := newPair(t)
	first := p.save(1)
	second := &batch{engine: p.e}
	second.require([]commerce.Needs{{Replies: []commerce.ReplyKey{replyKey("first")}}})
	if second.loadAhead(first) {
		t.Error("the reply of the batch before is not there")
	}
	close(p.resume)
	if err := <-p.saved; err != nil {
		t.Fatal(err)
	}
	second = p.load("first")
	defer second.Discard()
	if _, found := second.Rows().Replies.Get(replyKey("first")); !found {
		t.Error("the reply of the batch before is not there afterwards")
	}
}

// A batch that changes nothing may have seen the stock of the batch before, so it is
// answered only after that batch is saved.
func TestVerifiesAhead(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for sold, want := range map[int64]error{5: nil, 6: storage.ErrAgain} {
		p := newPair(t)
		p.save(sold)
		if err := p.load("impatient", 0).Verify(gone); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("an answer while the batch before is being saved: %v", err)
		}
		second := p.load("second", 0)
		close(p.resume)
		<-p.saved
		if err := second.Verify(t.Context()); !errors.Is(err, want) {
			t.Errorf("%d sold before: %v, want %v", sold, err, want)
		}
	}
}

// After a batch that was loaded ahead in vain, the next ones are loaded under the lock.
func TestLoadsCarefully(t *testing.T) {
	p := newPair(t)
	p.save(6)
	second := p.load("second", 0)
	close(p.resume)
	<-p.saved
	if err := second.Verify(t.Context()); !errors.Is(err, storage.ErrAgain) {
		t.Fatal(err)
	}
	first := p.save(0)
	for i := range carefulLoads + 1 {
		b := &batch{engine: p.e}
		b.require([]commerce.Needs{{Stock: p.keys[1:]}})
		if ahead := b.loadAhead(first); ahead != (i == carefulLoads) {
			t.Errorf("load %d is ahead: %v", i, ahead)
		}
	}
	close(p.resume)
	if err := <-p.saved; err != nil {
		t.Error(err)
	}
}

// Stock rows are copied from one batch to another that runs beside it, so they have no part
// that both would share.
func TestStockIsFlat(t *testing.T) {
	for f := range reflect.TypeFor[commerce.Stock]().Fields() {
		if k := f.Type.Kind(); k != reflect.String && k != reflect.Int64 && k != reflect.Bool {
			t.Errorf("%s is a %s", f.Name, k)
		}
	}
}
