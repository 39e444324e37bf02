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
	"purveyor/internal/storage"
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
		count := func(needs []commerce.Needs, n int) {
			mu.Lock()
			defer mu.Unlock()
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
		if most != 1 {
			t.Errorf("%d batches had the same store at a time", most)
		}
	})
}

// An engine that loads ahead gets the next batch while it saves one. Commands that come while
// that batch is being loaded gather for the one after it.
func TestLoadAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &scripted{ahead: true, load: func([]commerce.Needs) error { time.Sleep(time.Second); return nil },
			save: func() error { time.Sleep(time.Minute); return nil }}
		c := commit.New(e, commit.Options{})
		defer c.Close()
		all := []*asked{ask(c, touch{"s", "first"})}
		time.Sleep(2 * time.Second) // it is being saved
		all = append(all, ask(c, touch{"s", "second"}))
		synctest.Wait() // it is being loaded
		for range 5 {
			all = append(all, ask(c, touch{"s", "p"}))
		}
		expectNil(t, "a change", all...)
		if got := e.loads(); !slices.Equal(got, []int{1, 1, 5}) {
			t.Errorf("batches of %v, want 1, 1 and 5", got)
		}
		if took := all[1].took; took != time.Minute+time.Second {
			t.Errorf("the second batch waited for the first: %v", took)
		}
	})
}

// A command that changes nothing is decided again if its rows have changed since they were loaded.
func TestVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		e := &scripted{verify: func() error {
			if tries++; tries == 1 {
				return storage.ErrAgain
			}
			return nil
		}}
		c := commit.New(e, commit.Options{})
		defer c.Close()
		expectNil(t, "a command", ask(c, idle{}))
		if tries != 2 {
			t.Errorf("decided %d times, want twice", tries)
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
