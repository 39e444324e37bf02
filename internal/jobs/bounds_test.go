package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
)

// TestOpenLanes: the more tries a pool has under way, the fewer each lane may have.
func TestOpenLanes(t *testing.T) {
	for _, c := range []struct{ all, width, most int }{{0, 16, 16}, {7, 16, 16}, {8, 16, 4}, {8, 3, 3}, {11, 16, 4}, {12, 16, 1}, {16, 16, 1}} {
		for running := range 17 {
			l := &lane{width: c.width, running: running, queue: []*task{{}}, pool: &pool{most: 16, running: c.all}}
			if got := l.open(); got != (running < c.most) {
				t.Errorf("%d tries in the pool, %d of a lane of width %d: may begin another: %v", c.all, running, c.width, got)
			}
		}
	}
	if (&lane{width: 1, pool: &pool{most: 16}}).open() {
		t.Error("a lane without jobs may begin a try")
	}
}

// TestIdleLanes: a lane with anything to lose is not forgotten.
func TestIdleLanes(t *testing.T) {
	if !(&lane{}).idle() {
		t.Error("nothing is something")
	}
	for _, l := range []*lane{{queue: []*task{{}}}, {promised: 1}, {running: 1}, {recording: 1}, {listed: true}, {short: true}, {queue: []*task{{}}, promised: 1}, {queue: []*task{{}}, running: 1}, {promised: 1, recording: 1},
		{queue: []*task{{}}, promised: 1, running: 1, recording: 1, listed: true, short: true}} {
		if l.idle() {
			t.Errorf("%+v is idle", l)
		}
	}
	p := &pool{most: 16}
	for leased, want := range map[int]bool{0: false, p.mostLeased() - claimSize: false, p.mostLeased() - claimSize + 1: true, p.mostLeased(): true} {
		if p.leased = leased; p.full() != want {
			t.Errorf("%d jobs are leased, and a claim may give too many: %v", leased, !want)
		}
	}
}

// held is how many jobs the runner has.
func (r *Runner) held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tasks)
}

// TestFullLanes: a lane takes so many jobs, and no more than a quarter of its pool. What has
// no room is left to others, and is done as soon as there is room.
func TestFullLanes(t *testing.T) {
	in(t, takes(10*time.Second), func(t *testing.T, s *store, r *Runner) {
		for range 2000 {
			s.add("a", now())
		}
		r.Wake()
		after(900 * time.Millisecond)
		leased := 0
		for _, j := range s.jobs {
			if j.Leased(now()) {
				leased++
			}
		}
		if n := r.held(); n != roomPerTry+1 || leased != n { // one is under way
			t.Errorf("%d jobs of one lane are held, and %d leased", n, leased)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := handling("me", Options{Queue: s, Ledger: s, Pools: map[Pool]int{"": 8}, Kinds: map[commerce.JobKind]Kind{work: {Do: takes(time.Millisecond)(s), Width: 16}}})
		r.Run()
		defer r.Stop(t.Context())
		after(100 * time.Millisecond) // it has looked at storage
		reserve := func(owner string, most int) (list []commerce.Job) {
			for len(list) < most {
				j := s.leased(owner)
				if _, ok := r.Reserve(j); !ok {
					s.put(j.LeasedTo("", 0)) // stored as it is without a reservation
					return list
				}
				list = append(list, j)
			}
			return list
		}
		ofA := reserve("a", 1000)
		if want := (&pool{most: 8}).mostLeased() / 4; len(ofA) != want {
			t.Errorf("a lane took %d, want %d", len(ofA), want)
		}
		looks := s.looked()
		r.EndReservation(ofA, true)
		after(1500 * time.Millisecond) // before the next look at storage without a reason
		if n := s.of("a"); n != 0 {
			t.Errorf("%d jobs that had no room in their lane wait, though there is room", n)
		}
		again := func() { // the runner looks at storage, and then not for two seconds
			r.Wake()
			after(100 * time.Millisecond)
		}
		again()
		var all []commerce.Job
		for _, owner := range []string{"b", "c", "d", "e", "f"} { // the last meets a full pool, and no lane is full
			all = append(all, reserve(owner, len(ofA))...)
		}
		if want := (&pool{most: 8}).mostLeased(); len(all) != want {
			t.Errorf("the pool took %d, want %d", len(all), want)
		}
		r.EndReservation(all, true)
		after(1500 * time.Millisecond)
		for _, owner := range []string{"b", "c", "d", "e", "f"} {
			if n := s.of(owner); n != 0 {
				t.Errorf("%d jobs of %s that had no room in the pool wait, though there is room", n, owner)
			}
		}
		full := reserve("g", len(ofA))
		s.add("g", now()) // by another process
		again()
		r.EndReservation(full, true)
		after(1500 * time.Millisecond)
		if n := s.of("g"); n != 0 {
			t.Errorf("%d jobs wait that came while their lane was full", n)
		}
		all = nil
		for _, owner := range []string{"h", "i", "j", "k"} {
			all = append(all, reserve(owner, len(ofA))...)
		}
		s.add("l", now())
		again()
		r.EndReservation(all, true)
		after(1500 * time.Millisecond)
		if n := s.of("l"); n != 0 {
			t.Errorf("%d jobs wait that came while the pool was full", n)
		}
		if n := s.looked() - looks; n > 40 {
			t.Errorf("storage was asked %d times", n)
		}
	})
}

// TestLanesTakeTurns: lanes of a pool are served in turn, however many jobs each has.
func TestLanesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var order []string
		r := handling("me", Options{Queue: s, Ledger: s, Pools: map[Pool]int{"": 1}, Kinds: map[commerce.JobKind]Kind{work: {Width: 16, Do: func(_ context.Context, j commerce.Job) Outcome {
			order = append(order, j.Owner)
			time.Sleep(time.Millisecond)
			return Outcome{Record: s.record(j)}
		}}}})
		r.Run()
		defer r.Stop(t.Context())
		for _, owner := range []string{"a", "b", "c"} {
			start(t, s, r, owner, 4)
		}
		after(time.Second)
		if want := []string{"a", "b", "c", "a", "b", "c", "a", "b", "c", "a", "b", "c"}; !slices.Equal(order, want) && !slices.Equal(order[1:], []string{"a", "b", "c", "a", "b", "c", "a", "b", "c", "b", "c"}) {
			t.Errorf("the order is %v", order)
		}
	})
}

// TestSlowRecords: the next tries of a lane do not wait for the record of the last one.
func TestSlowRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var running, tries atomic.Int64
		recorded := make(chan struct{})
		r := newRunner("me", s, map[commerce.JobKind]Kind{work: {Width: 4, Do: func(ctx context.Context, j commerce.Job) Outcome {
			tries.Add(1)
			running.Add(1)
			defer running.Add(-1)
			time.Sleep(10 * time.Millisecond)
			return Outcome{Record: func(context.Context) (commerce.Job, error) { <-recorded; s.done(j); return commerce.Job{}, nil }}
		}}})
		r.Run()
		defer r.Stop(t.Context())
		start(t, s, r, "a", 200)
		for _, want := range []int64{1, 2, 4, 4, 4} {
			after(5 * time.Millisecond)
			if n := running.Load(); n != want {
				t.Errorf("%d at a time, want %d", n, want)
			}
			after(5 * time.Millisecond)
		}
		after(time.Second)
		if n := tries.Load(); n < 4*unrecorded || n > 4*unrecorded+4 {
			t.Errorf("%d tries wait for their record, want %d", n, 4*unrecorded)
		}
		close(recorded)
		after(time.Second) // before the runner looks at storage again
		if n := tries.Load(); n != 200 || s.of("a") != 0 {
			t.Errorf("%d tries of 200 were made once records went on, %d jobs are left", n, s.of("a"))
		}
	})
}

// takenByAnother is a store in which another process takes what is given back.
type takenByAnother struct{ *store }

func (l takenByAnother) ReturnJobs(ctx context.Context, jobs []commerce.Job) error {
	err := l.store.ReturnJobs(ctx, jobs)
	for _, j := range jobs {
		l.put(j.LeasedTo("other", now().Add(commerce.JobLease)))
	}
	return err
}

// TestFullClaims: when a claim was full, the rest of the slot is claimed at once.
func TestFullClaims(t *testing.T) {
	in(t, takes(time.Millisecond), func(t *testing.T, s *store, r *Runner) {
		after(100 * time.Millisecond) // its first look is over
		for i := range claimSize + 100 {
			s.put(commerce.Job{Slot: 3, ID: fmt.Sprintf("job_x%06d", i), Kind: work, Mode: commerce.Live, Owner: fmt.Sprint("owner ", i%300), RunAt: now(), State: commerce.JobWaiting})
		}
		r.Wake()
		after(time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.jobs); n != 0 {
			t.Errorf("%d jobs of one slot are left", n)
		}
	})
}

// TestStaleHead: when the first job of a lane is given back, because its lease is too short for
// a try, the jobs behind it are tried.
func TestStaleHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		tried := map[string]time.Duration{}
		began := time.Now()
		r := handling("me", Options{Queue: s, Ledger: takenByAnother{s}, Kinds: map[commerce.JobKind]Kind{work: {Width: 1, Do: func(ctx context.Context, j commerce.Job) Outcome {
			tried[j.ID] = time.Since(began)
			o := takes(15*time.Second)(s)(ctx, j)
			return Outcome{Err: errors.New("no"), Record: func(ctx context.Context) (commerce.Job, error) { time.Sleep(time.Second); return o.Record(ctx) }}
		}}}})
		r.Run()
		defer r.Stop(t.Context())
		start(t, s, r, "a", 2)
		after(10 * time.Second)
		late := start(t, s, r, "a", 1)[0]
		after(5*time.Second + 500*time.Millisecond) // the runner looks by itself at whole seconds
		if n := s.returns(); n != 1 {
			t.Errorf("%d jobs were given back", n)
		}
		after(3 * time.Second)
		if got := tried[late.ID]; got != 15*time.Second {
			t.Errorf("the next one began after %v", got)
		}
		if fits := (&task{job: commerce.Job{LeasedUntil: now().Add(TryTime)}}); r.stale(fits) {
			t.Error("a try that fits into its lease may not begin")
		}
	})
}

// TestTwoCallers: a job that two callers wait for has one try, and is given back once.
func TestTwoCallers(t *testing.T) {
	var tries atomic.Int64
	do := func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(ctx context.Context, j commerce.Job) Outcome {
			tries.Add(1)
			return takes(5*time.Second)(s)(ctx, j)
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		awaited := func() commerce.Job {
			j := s.leased("a")
			j.Awaited = true
			if _, ok := r.Reserve(j); !ok {
				t.Fatal("no room")
			}
			r.EndReservation([]commerce.Job{j}, true)
			return j
		}
		j := awaited()
		for range 2 {
			if r.started(j.Key()) == nil {
				t.Fatal("it is not here")
			}
		}
		after(6 * time.Second)
		if n := tries.Load(); n != 1 || s.of("a") != 0 {
			t.Errorf("%d tries, %d jobs are left", n, s.of("a"))
		}
		j = awaited()
		after(21*time.Second + 500*time.Millisecond)
		for range 2 {
			r.started(j.Key())
		}
		synctest.Wait() // before the runner would look by itself
		if n := s.returns(); n != 1 {
			t.Errorf("%d leases were given back", n)
		}
	})
}

// TestGivenBackAtOnce: claimed jobs without room are given back, whole, in order, and soon.
func TestGivenBackAtOnce(t *testing.T) {
	in(t, takes(10*time.Second), func(t *testing.T, s *store, r *Runner) {
		start(t, s, r, "a", roomPerTry)
		after(500 * time.Millisecond)
		for range 40 { // there is room for one
			s.add("a", now())
		}
		r.Wake()
		after(500 * time.Millisecond)
		leased := 0
		for _, j := range s.jobs {
			if j.LeasedBy != "" {
				leased++
			}
		}
		if n := r.held(); n != roomPerTry+1 || leased != n {
			t.Errorf("%d jobs are held, and %d leased", n, leased)
		}
	})
}

// TestAfterStop: what ends after the stop began is recorded if it was done, and what arrives
// is given back.
func TestAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var tries atomic.Int64
		r := newRunner("me", s, map[commerce.JobKind]Kind{work: {Width: 16, Do: func(_ context.Context, j commerce.Job) Outcome {
			tries.Add(1)
			time.Sleep(time.Second) // whatever ctx says
			return Outcome{Record: s.record(j)}
		}}})
		r.Run()
		late := s.leased("a")
		if _, ok := r.Reserve(late); !ok {
			t.Fatal("no room")
		}
		done := start(t, s, r, "a", 1)[0]
		after(100 * time.Millisecond)
		time.AfterFunc(100*time.Millisecond, func() { r.EndReservation([]commerce.Job{late}, true) })
		began := time.Now()
		r.Stop(t.Context())
		if took := time.Since(began); took != 900*time.Millisecond {
			t.Errorf("the stop took %v", took)
		}
		if _, there := s.get(done.Key()); there {
			t.Error("what was done is not on record")
		}
		if j, _ := s.get(late.Key()); j.LeasedBy != "" || tries.Load() != 1 {
			t.Errorf("after %d tries: %+v", tries.Load(), j)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a runner that was never run
		s := newStore()
		r := newRunner("me", s, map[commerce.JobKind]Kind{work: {Width: 16, Do: func(_ context.Context, j commerce.Job) Outcome {
			time.Sleep(time.Second)
			return Outcome{Record: s.record(j)}
		}}})
		for range 2 {
			<-r.Take(s.leased("a"))
		}
		if s.of("a") != 0 {
			t.Error("a job that was taken was not done")
		}
		r.Take(s.leased("a"))
		r.Stop(t.Context())
		if s.of("a") != 0 {
			t.Error("the stop did not wait for what was under way")
		}
		began := time.Now()
		idle := newRunner("me", s, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if idle.Stop(ctx); time.Since(began) != 0 {
			t.Errorf("a runner with nothing to do stopped after %v", time.Since(began))
		}
	})
}

// TestNoOutcome: without an outcome, the job is tried again when its lease has ended, and the
// context of a try ends with it.
func TestNoOutcome(t *testing.T) {
	var tries atomic.Int64
	var first context.Context
	do := func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(ctx context.Context, j commerce.Job) Outcome {
			if tries.Add(1) == 1 {
				first = ctx
				return Outcome{Err: errors.New("the database is away")}
			}
			return Outcome{Record: s.record(j)}
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		start(t, s, r, "a", 1)
		after(time.Second)
		if first.Err() == nil {
			t.Error("the context of a try goes on after it")
		}
		after(24 * time.Second)
		if n := tries.Load(); n != 1 {
			t.Errorf("%d tries within the lease", n)
		}
		after(10 * time.Second)
		if n := tries.Load(); n != 2 || s.of("a") != 0 {
			t.Errorf("%d tries, %d jobs are left", n, s.of("a"))
		}
	})
}

// ledger fails.
type brokenLedger struct{ *store }

var errAway = errors.New("the database is away")

func (brokenLedger) TakeJob(context.Context, commerce.JobKey, string) (commerce.Job, bool, bool, error) {
	return commerce.Job{}, true, false, errAway
}

// TestFinishFails: the caller of Finish learns that its job could not be taken, or that its
// own time is over.
func TestFinishFails(t *testing.T) {
	in(t, takes(5*time.Second), func(t *testing.T, s *store, r *Runner) {
		broken := handling("me", Options{Queue: s, Ledger: brokenLedger{s}, Kinds: r.Kinds})
		if err := broken.Finish(t.Context(), s.add("a", now()).Key()); !errors.Is(err, errAway) {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Finish(ctx, s.add("b", now().Add(time.Hour)).Key()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a job that takes longer than its caller waits: %v", err)
		}
		others := s.add("c", now()).LeasedTo("other", now().Add(commerce.JobLease))
		s.put(others)
		ctx, leave := context.WithTimeout(t.Context(), 510*time.Millisecond)
		defer leave()
		began := time.Now()
		if err := r.Finish(ctx, others.Key()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 510*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		time.AfterFunc(510*time.Millisecond, r.EndWaits)
		began = time.Now()
		if err := r.Finish(t.Context(), others.Key()); !errors.Is(err, context.Canceled) || time.Since(began) != 510*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// TestWidthIsRemembered: a lane that did well may do as many tries at a time after a pause,
// and one that fails never has two, however many lanes there are.
func TestWidthIsRemembered(t *testing.T) {
	var running, most atomic.Int64
	do := func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(ctx context.Context, j commerce.Job) Outcome {
			if j.Owner != "a" && j.Owner != "fails" {
				return takes(time.Second)(s)(ctx, j)
			}
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			o := takes(10*time.Millisecond)(s)(ctx, j)
			if j.Owner == "fails" {
				o.Err = errors.New("no")
			}
			return o
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		start(t, s, r, "a", 60)
		after(3 * time.Second)
		most.Store(0)
		start(t, s, r, "a", 16)
		after(5 * time.Millisecond)
		if n := most.Load(); n != 16 {
			t.Errorf("%d at a time after a pause, want 16", n)
		}
		after(time.Second)
		var promised []commerce.Job
		for i := range keptLanes + 100 {
			j := s.leased(fmt.Sprint("owner ", i))
			if _, ok := r.Reserve(j); !ok {
				t.Fatal("no room")
			}
			promised = append(promised, j)
		}
		most.Store(0)
		for range 20 {
			start(t, s, r, "fails", 2)
			after(5 * time.Millisecond)
		}
		if n := most.Load(); n != 1 {
			t.Errorf("%d tries at a time of an owner that fails, want 1", n)
		}
		r.EndReservation(promised, false)
	})
}

// TestStaleWhileTriesHang: while all tries of a lane hang, the jobs that wait in it are given back
// before their leases end.
func TestStaleWhileTriesHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := newRunner("me", s, map[commerce.JobKind]Kind{work: {Width: 1, Do: func(_ context.Context, j commerce.Job) Outcome {
			time.Sleep(25 * time.Second) // whatever ctx says
			return Outcome{Record: s.record(j)}
		}}})
		r.Run()
		defer r.Stop(t.Context())
		for _, owner := range []string{"a", "b"} {
			start(t, s, r, owner, 2)
		}
		after(14 * time.Second)
		if n := s.returns(); n != 0 {
			t.Errorf("%d jobs were given back early", n)
		}
		after(3 * time.Second)
		if n := s.returns(); n != 2 {
			t.Errorf("%d jobs were given back, want 2", n)
		}
	})
}

// TestHalfFree: storage is looked at again when half of what was full is free, and not before.
func TestHalfFree(t *testing.T) {
	for name, c := range map[string]struct {
		lanes, each int
		refused     string // a job of this owner finds no room
		free        time.Duration
	}{"a lane": {1, 256, "owner 0", 1270 * time.Millisecond}, "a pool": {4, 256, "other", 1280 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			s := newStore()
			r := handling("me", Options{Queue: s, Ledger: s, Pools: map[Pool]int{"": 16}, Kinds: map[commerce.JobKind]Kind{work: {Width: 1, Do: func(_ context.Context, j commerce.Job) Outcome {
				time.Sleep(10 * time.Millisecond)
				return Outcome{Err: errors.New("no"), Record: s.record(j)}
			}}}})
			r.Run()
			defer r.Stop(t.Context())
			r.Wake()
			after(100 * time.Millisecond) // its first look is over
			var jobs []commerce.Job
			for i := range c.lanes * c.each {
				j := s.leased(fmt.Sprint("owner ", i%c.lanes))
				if _, ok := r.Reserve(j); !ok {
					t.Fatalf("%s: no room for job %d", name, i)
				}
				jobs = append(jobs, j)
			}
			if _, ok := r.Reserve(s.leased(c.refused)); ok {
				t.Fatalf("%s: there is room", name)
			}
			r.EndReservation(jobs, true)
			looks := s.looked()
			after(c.free - 5*time.Millisecond)
			if n := s.looked() - looks; n != 0 {
				t.Errorf("%s: %d looks before half is free", name, n)
			}
			after(7 * time.Millisecond)
			if n := s.looked() - looks; n == 0 {
				t.Errorf("%s: half is free, and the runner does not look for more", name)
			}
		})
	}
}
