package commit_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// meeting is a load that counts the batches that have a product open, and takes a second.
type meeting struct {
	mu                sync.Mutex
	open              map[string]int
	most              map[string]int // batches at a time, by product
	atOnce, allAtOnce int
}

func (m *meeting) load(needs []commerce.Needs) error {
	products := map[string]bool{}
	for _, n := range needs {
		for _, k := range n.Stock {
			products[k.ProductID] = true
		}
	}
	m.mu.Lock()
	m.atOnce++
	m.allAtOnce = max(m.allAtOnce, m.atOnce)
	for p := range products {
		m.open[p]++
		m.most[p] = max(m.most[p], m.open[p])
	}
	m.mu.Unlock()
	time.Sleep(time.Second)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.atOnce--
	for p := range products {
		m.open[p]--
	}
	return nil
}

// Batches are committed beside each other. Commands for one hot product go to one loop, also
// those that change another product with it, so that no batch waits for the lock of another.
func TestLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meeting{open: map[string]int{}, most: map[string]int{}}
		c := commit.New(&scripted{writers: 3, load: m.load}, commit.Options{Batch: 4})
		defer c.Close()
		for range 10 { // a product is hot when many commands have wanted it
			expectNil(t, "a change", ask(c, touch{"s", "hot"}))
		}
		var all []*asked
		for i := range 300 {
			all = append(all, ask(c, touchBoth{touch{"s", "hot"}, touch{"s", fmt.Sprint("cold ", i)}}), ask(c, touch{"s", fmt.Sprint("other ", i)}))
			synctest.Wait()
		}
		expectNil(t, "a change", all...)
		if m.most["hot"] != 1 || m.allAtOnce != 3 {
			t.Errorf("%d batches had the hot product at a time, and %d were open; want 1 and 3", m.most["hot"], m.allAtOnce)
		}
	})
}

// In a cluster the batches that are committed beside each other have different stores, whichever
// products they have.
func TestLoopsOfStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		open, most := map[string]int{}, 0 // batches, by store
		atOnce, allAtOnce := 0, 0
		count := func(needs []commerce.Needs, n int) {
			mu.Lock()
			defer mu.Unlock()
			atOnce += n
			allAtOnce = max(allAtOnce, atOnce)
			met := map[string]bool{}
			for _, of := range needs {
				for _, k := range of.Stock {
					if !met[k.StoreID] {
						met[k.StoreID] = true
						open[k.StoreID] += n
						most = max(most, open[k.StoreID])
					}
				}
			}
		}
		c := commit.New(&scripted{writers: 3, nodes: true, load: func(needs []commerce.Needs) error {
			count(needs, 1)
			time.Sleep(time.Second)
			count(needs, -1)
			return nil
		}}, commit.Options{Batch: 4})
		defer c.Close()
		var all []*asked
		for i := range 200 {
			all = append(all, ask(c, touch{fmt.Sprint("s", i%5), fmt.Sprint("p", i)}))
		}
		expectNil(t, "a change", all...)
		if most != 1 || allAtOnce == 1 {
			t.Errorf("%d batches had the same store at a time, and %d were open; want 1, and more than one", most, allAtOnce)
		}
	})
}

// touchBoth changes two stock rows. Which one is named first says nothing.
type touchBoth struct{ hot, cold touch }

func (c touchBoth) Needs() commerce.Needs {
	return commerce.Needs{Stock: []commerce.ProductKey{c.cold.key(), c.hot.key()}}
}

func (c touchBoth) Decide(rows *commerce.Rows, now commerce.Millis) (int, commerce.Changes, error) {
	return 1, commerce.Changes{}, nil
}

// TestCommandsWithoutRows: commands that wait for no row go to all loops, in turn.
func TestCommandsWithoutRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meeting{open: map[string]int{}, most: map[string]int{}}
		c := commit.New(&scripted{writers: 2, load: m.load}, commit.Options{})
		defer c.Close()
		expectNil(t, "without rows", ask(c, idle{}), ask(c, idle{}))
		if m.allAtOnce != 2 {
			t.Errorf("%d batches were open at a time, want 2", m.allAtOnce)
		}
	})
}

// TestBatchesAreBounded: a batch has as many commands as it may, and not one more.
func TestBatchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &scripted{load: func([]commerce.Needs) error { time.Sleep(time.Second); return nil }}
		c := commit.New(e, commit.Options{Batch: 4})
		defer c.Close()
		var all []*asked
		for i := range 10 {
			all = append(all, ask(c, touch{"s", fmt.Sprint(i)}))
			synctest.Wait()
		}
		expectNil(t, "a change", all...)
		if want := []int{1, 4, 4, 1}; !slices.Equal(e.loads(), want) {
			t.Errorf("batches of %v, want %v", e.loads(), want)
		}
	})
}

// TestPanicOfOne: a command that panics while it is decided fails alone, without another try of its
// batch. After a panic while the batch is saved, its jobs are not started.
func TestPanicOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{room: 2}
		e := &scripted{load: func([]commerce.Needs) error { time.Sleep(time.Second); return nil }}
		c := commit.New(e, commit.Options{Starter: d})
		defer c.Close()
		ask(c, idle{}) // the others gather behind it
		synctest.Wait()
		bug, good := ask(c, buggy{}), ask(c, touch{"s", "p"})
		expectNil(t, "a neighbour", good)
		if err := bug.wait(); err == nil || !slices.Equal(e.loads(), []int{1, 2}) {
			t.Errorf("%v, after batches of %v", err, e.loads())
		}
		e.save = func() error { panic("a bug") }
		if err := ask(c, later{}).wait(); err == nil || len(d.started) != 0 || len(d.cancelled) != 1 {
			t.Errorf("%v; started %+v, cancelled %+v", err, d.started, d.cancelled)
		}
	})
}
