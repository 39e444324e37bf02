package jobs

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
)

// claims is a store that notes the slots from which jobs are claimed.
type claims struct {
	*store
	fail  error
	slots []int64
	meet  func() // before a claim is answered
}

func (q *claims) ClaimJobs(ctx context.Context, c storage.JobClaim) ([]commerce.Job, error) {
	q.slots = append(q.slots, c.Slot)
	if q.fail != nil {
		return nil, q.fail
	}
	list, err := q.store.ClaimJobs(ctx, c)
	if q.meet != nil && len(list) > 0 {
		q.meet()
		q.meet = nil
	}
	return list, err
}

// TestPassOverSlots: a pass claims jobs from each slot once. If the node of one slot is away, the
// others are still asked; if the whole database is away, no further slot is.
func TestPassOverSlots(t *testing.T) {
	for fail, want := range map[error]int{nil: commerce.JobSlots, storage.ErrNode: commerce.JobSlots, storage.ErrUnavailable: 1} {
		q := &claims{store: newStore(), fail: fail}
		r := handling("me", Options{Queue: q, Ledger: q, Kinds: map[commerce.JobKind]Kind{work: {Width: 1}}})
		wait, err := r.pass(now())
		slices.Sort(q.slots)
		if n := len(slices.Compact(q.slots)); n != want || len(q.slots) != want || wait != idlePause || (err != nil) != (want == 1) {
			t.Errorf("%v: claims from slots %v, want %d; %v, %v", fail, q.slots, want, wait, err)
		}
	}
}

// TestLooksForStaleJobs: all lanes are looked through for stale jobs once a second, and at once
// after the clock was set back.
func TestLooksForStaleJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner("me", newStore(), nil)
		l := r.laneOf(commerce.Job{Owner: "a"})
		look := func(when string, want int) {
			t.Helper()
			l.queue = []*task{{lane: l}} // its lease has ended
			if r.setBack(); len(l.queue) != want {
				t.Errorf("%s: %d stale jobs are left, want %d", when, len(l.queue), want)
			}
		}
		look("the first time", 0)
		look("at the same time", 1)
		time.Sleep(staleEvery - time.Millisecond)
		look("before a second has passed", 1)
		time.Sleep(time.Millisecond)
		look("a second later", 0)
		r.looked = now().Add(time.Hour)
		look("after the clock was set back", 0)
	})
}

// TestLaneFillsMeanwhile: while a job is claimed, new jobs take the last places of its lane. It is
// given back at once, because another process may have room for it.
func TestLaneFillsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &claims{store: newStore()}
		r := handling("me", Options{Queue: q, Ledger: q, Kinds: map[commerce.JobKind]Kind{work: {Width: 1, Do: takes(10 * time.Second)(q.store)}}})
		r.Run()
		defer r.Stop(t.Context())
		after(100 * time.Millisecond) // it has looked at storage
		j := q.add("a", now())
		q.meet = func() {
			for i := 0; ; i++ {
				if _, ok := r.Reserve(commerce.Job{ID: fmt.Sprint("job_new", i), Kind: work, Mode: commerce.Live, Owner: "a", RunAt: now()}); !ok {
					return
				}
			}
		}
		r.Wake()
		after(100 * time.Millisecond)
		if j, there := q.get(j.Key()); !there || j.LeasedBy != "" {
			t.Errorf("%+v, %v; it should be free", j, there)
		}
	})
}

// TestBeside: the runner drives other step machines until it stops.
func TestBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running context.Context
		steps := 0
		r := newRunner("me", newStore(), nil)
		r.Run(func(ctx context.Context) env.Next {
			running = ctx
			if ctx.Err() != nil {
				return env.Ended
			}
			steps++
			return env.Next(time.Second)
		})
		after(2500 * time.Millisecond)
		if steps != 3 || running.Err() != nil {
			t.Errorf("%d steps, %v", steps, running.Err())
		}
		r.Stop(t.Context())
		if running.Err() == nil {
			t.Error("a step under way is not told of the stop")
		}
	})
}
