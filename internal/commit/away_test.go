package commit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

var errAway = fmt.Errorf("%w: %w", storage.ErrUnavailable, storage.ErrNode)

// TestNodeAway: of the commands in a batch only those fail that need the node that is away.
// For a second, others like them are answered without a try. After that some of them
// are tried, behind the commands of other nodes. When they take place, all are tried.
func TestNodeAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		away, tries, mixed := true, 0, 0
		e := &scripted{load: func(needs []commerce.Needs) error {
			mu.Lock()
			defer mu.Unlock()
			time.Sleep(time.Millisecond)
			lost := slices.ContainsFunc(needs, func(n commerce.Needs) bool {
				return slices.ContainsFunc(n.Stock, func(k commerce.ProductKey) bool { return strings.HasPrefix(k.StoreID, "lost") })
			})
			if away && lost {
				tries++
				if len(needs) > 2 { // more than those that need the same nodes
					mixed++
				}
				return errAway
			}
			return nil
		}}
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		defer c.Close()
		sell := func(stores ...string) (calls []*asked) {
			ask(c, touch{"first", "p"}) // the others gather behind it
			synctest.Wait()
			for _, s := range stores {
				calls = append(calls, ask(c, touch{s, "p"}))
			}
			return calls
		}
		for round := range 3 {
			calls := sell("here", "lost one", "there", "lost one", "lost two")
			for i, a := range calls {
				if lost := i%2 == 1 || i == 4; errors.Is(a.wait(), storage.ErrNode) != lost {
					t.Errorf("round %d: command %d is answered %v", round, i, a.err)
				}
			}
		}
		if tries != 3 || mixed != 1 { // all together, and each of the two stores
			t.Errorf("%d tries that needed the lost node, %d with others; want 3 and 1", tries, mixed)
		}
		for range 5 {
			time.Sleep(time.Second)
			calls := sell("here", "lost one", "there", "lost two")
			for i, a := range calls {
				if errors.Is(a.wait(), storage.ErrNode) != (i%2 == 1) {
					t.Errorf("later: command %d is answered %v", i, a.err)
				}
			}
		}
		if tries != 8 || mixed != 1 { // one of the stores each time
			t.Errorf("%d tries that needed the lost node, %d with others; want 8 and 1", tries, mixed)
		}
		mu.Lock()
		away = false
		mu.Unlock()
		time.Sleep(time.Second)
		expectNil(t, "when the node is back", sell("lost one", "lost two")...)
	})
}

// TestProbeThatProvesNothing: a try that ends with another error than before does not show that
// the node is back. The commands of other stores on it are not tried for that.
func TestProbeThatProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure, tries := errAway, 0
		e := &scripted{load: func([]commerce.Needs) error {
			tries++
			return failure
		}}
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		defer c.Close()
		one, two := touch{"lost one", "p"}, touch{"lost two", "p"}
		expectIs(t, ask(c, one).wait(), storage.ErrNode)
		expectIs(t, ask(c, two).wait(), storage.ErrNode)
		time.Sleep(time.Second)
		failure, tries = storage.ErrTimeout, 0
		expectIs(t, ask(c, one).wait(), storage.ErrTimeout)
		expectIs(t, ask(c, two).wait(), storage.ErrNode)
		if tries != 1 {
			t.Errorf("%d tries, want 1", tries)
		}
	})
}

// TestFailuresOfOthersPutOffNothing: while new stores on another node fail, a store whose node is
// back is tried after a second.
func TestFailuresOfOthersPutOffNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := false
		e := &scripted{load: func([]commerce.Needs) error {
			if back {
				return nil
			}
			return errAway
		}}
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		defer c.Close()
		for i := range 4 {
			expectIs(t, ask(c, touch{fmt.Sprint("lost ", i), "p"}).wait(), storage.ErrNode)
			time.Sleep(250 * time.Millisecond)
		}
		back = true
		expectNil(t, "after a second", ask(c, touch{"lost 0", "p"}))
	})
}

// TestSlotsAreOfJobs: a batch without jobs that another try may save says nothing of a slot.
func TestSlotsAreOfJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed, used := false, map[int64]bool{}
		e := &scripted{}
		e.saved = func(rows *commerce.Rows) error {
			for _, j := range rows.Appended.NewJobs {
				used[j.Slot] = true
			}
			if len(rows.Appended.NewJobs) == 0 && !failed {
				failed = true
				return fmt.Errorf("%w: %w", storage.ErrAgain, errAway)
			}
			return nil
		}
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		defer c.Close()
		expectNil(t, "a command without a job", ask(c, touch{"s", "p"}))
		for range 3 * commerce.JobSlots {
			expectNil(t, "a command with a job", ask(c, later{}))
		}
		if !failed || len(used) != commerce.JobSlots {
			t.Errorf("%d slots are used, want all; the first batch failed: %v", len(used), failed)
		}
	})
}

// TestSlotAway: jobs of a slot whose node is away go to another one with the next try, and later
// batches leave the slot out. Now and then one of these slots is tried. When it can be written,
// all are used again.
func TestSlotAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const all = commerce.JobSlots
		away := true
		saved, refused := map[int64]int{}, map[int64]int{}
		e := &scripted{}
		e.saved = func(rows *commerce.Rows) error {
			slot := rows.Appended.NewJobs[0].Slot
			if slot%2 == 0 && away {
				refused[slot]++
				return fmt.Errorf("%w: %w", storage.ErrAgain, errAway)
			}
			saved[slot]++
			return nil
		}
		c := commit.New(e, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		defer c.Close()
		enqueue := func() {
			t.Helper()
			for range 3 * all {
				expectNil(t, "a command with a job", ask(c, later{}))
			}
		}
		expect := func(when string, tries int) {
			t.Helper()
			n := 0
			for _, of := range refused {
				n += of
			}
			if n != tries {
				t.Errorf("%s: %d tries to write to the node, want %d", when, n, tries)
			}
		}
		enqueue()
		expect("at first", all/2)
		enqueue()
		expect("within five seconds", all/2)
		time.Sleep(5 * time.Second)
		enqueue()
		expect("after five seconds", all/2+1)
		away = false
		time.Sleep(5 * time.Second)
		clear(saved)
		enqueue()
		if len(saved) != all {
			t.Errorf("%d slots are used when the node is back, want all", len(saved))
		}
	})
}

// later is a command that asks for a job.
type later struct{}

func (later) Needs() commerce.Needs { return commerce.Needs{} }
func (later) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	return 0, commerce.Changes{NewJobs: []commerce.Job{{Kind: commerce.JobDeliverWebhook}}}, nil
}

// TestNodeBack: once one group takes place its node is back, and the others are tried, each of
// them, also after one that fails for another reason.
func TestNodeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := map[string]error{"one": errAway, "two": errAway, "three": errAway}
		e := &scripted{load: func(needs []commerce.Needs) error {
			time.Sleep(time.Millisecond)
			return failures[needs[0].Stock[0].StoreID]
		}}
		c := commit.New(e, commit.Options{})
		defer c.Close()
		together := func() (calls []*asked) {
			ask(c, touch{"first", "p"}) // the others gather behind it
			synctest.Wait()
			for _, store := range []string{"one", "two", "three"} {
				calls = append(calls, ask(c, touch{store, "p"}))
				synctest.Wait()
			}
			return calls
		}
		for _, a := range together() {
			expectIs(t, a.wait(), storage.ErrNode)
		}
		time.Sleep(time.Second)
		failures = map[string]error{"two": storage.ErrTimeout}
		before := len(e.loads())
		calls := together()
		expectNil(t, "the node is back", calls[0], calls[2])
		expectIs(t, calls[1].wait(), storage.ErrTimeout)
		if n := len(e.loads()) - before; n != 4 {
			t.Errorf("%d loads, want one of each store", n)
		}
	})
}

// TestFailuresThatAreNotOfASlot: a slot has failed only if a node is away and another try may save
// the batch. It is back only if a batch was saved in it.
func TestFailuresThatAreNotOfASlot(t *testing.T) {
	const all = commerce.JobSlots
	for _, failure := range []error{errAway, storage.ErrAgain, storage.ErrUnavailable} {
		synctest.Test(t, func(t *testing.T) {
			var next error
			var tried []int64
			e := &scripted{saved: func(rows *commerce.Rows) (err error) {
				tried = append(tried, rows.Appended.NewJobs[0].Slot)
				err, next = next, nil
				return err
			}}
			c := commit.New(e, commit.Options{})
			defer c.Close()
			failing := func(err error) {
				next = err
				_ = ask(c, later{}).wait() // whether it takes place depends on the failure
				time.Sleep(time.Second)    // for which commands of a node that is away are refused
			}
			expect := func(when string, slots int) {
				t.Helper()
				tried = nil
				for range 3 * all {
					expectNil(t, "a command with a job", ask(c, later{}))
				}
				slices.Sort(tried)
				if n := len(slices.Compact(tried)); n != slots {
					t.Errorf("%v, %s: %d slots are used, want %d", failure, when, n, slots)
				}
			}
			failing(failure)
			expect("which is not of a slot", all)
			failing(fmt.Errorf("%w: %w", storage.ErrAgain, errAway))
			expect("after one that is of a slot", all-1)
			time.Sleep(5 * time.Second)
			tried = nil
			failing(failure)
			failing(nil)
			if tried[0] != tried[1] {
				t.Errorf("%v: the slot was tried once, and then not again: %v", failure, tried)
			}
		})
	}
}
