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
// For a second, others like them are answered without a try. After that they
// are tried again.
func TestNodeAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		away, tries := true, 0
		e := &scripted{load: func(needs []commerce.Needs) error {
			mu.Lock()
			defer mu.Unlock()
			time.Sleep(time.Millisecond)
			lost := slices.ContainsFunc(needs, func(n commerce.Needs) bool {
				return slices.ContainsFunc(n.Stock, func(k commerce.ProductKey) bool { return strings.HasPrefix(k.StoreID, "lost") })
			})
			if away && lost {
				tries++
				return errAway
			}
			return nil
		}}
		c := commit.New(e, commit.Options{EncodeEvent: wire.EventData})
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
		if tries != 3 { // all together, and each of the two stores
			t.Errorf("%d tries that needed the lost node, want 3", tries)
		}
		mu.Lock()
		away = false
		mu.Unlock()
		time.Sleep(time.Second)
		expectNil(t, "when the node is back", sell("lost one", "lost two")...)
	})
}

// TestSlotAway: jobs of a slot whose node is away go to another one with the next try, and later
// batches leave the slot out.
func TestSlotAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const all = commerce.JobSlots
		used := map[int64]int{}
		e := &scripted{}
		e.saved = func(rows *commerce.Rows) error {
			slot := rows.Appended.NewJobs[0].Slot
			used[slot]++
			if slot%2 == 0 {
				return fmt.Errorf("%w: %w", storage.ErrAgain, errAway)
			}
			return nil
		}
		c := commit.New(e, commit.Options{EncodeEvent: wire.EventData})
		defer c.Close()
		for range 2 * all {
			expectNil(t, "a command with a job", ask(c, later{}))
		}
		for slot, n := range used {
			if slot%2 == 0 && n != 1 {
				t.Errorf("slot %d was tried %d times, want once", slot, n)
			}
		}
		time.Sleep(5 * time.Second)
		before := used[0]
		for range all {
			expectNil(t, "a command with a job", ask(c, later{}))
		}
		if used[0] == before {
			t.Error("slot 0 is never tried again")
		}
	})
}

// later is a command that asks for a job.
type later struct{}

func (later) Needs() commerce.Needs { return commerce.Needs{} }
func (later) Decide(*commerce.Rows, commerce.Millis) (int, commerce.Changes, error) {
	return 0, commerce.Changes{NewJobs: []commerce.Job{{Kind: commerce.JobDeliverWebhook}}}, nil
}
