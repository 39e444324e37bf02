package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// call is a kind of job beside work.
const call = commerce.JobKind("call")

// slowly fails after 5 s, as a sandbox does on request, and puts the job off by
// a minute.
func slowly(s *store) func(context.Context, commerce.Job) Outcome {
	return func(ctx context.Context, j commerce.Job) Outcome {
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
			return Outcome{Err: errCut}
		}
		return Outcome{Err: errors.New("unreachable"), Record: func(context.Context) (commerce.Job, error) {
			j.RunAt = now().Add(time.Minute)
			s.put(j.LeasedTo("", 0))
			return j, nil
		}}
	}
}

// lanes runs a test with calls that fail slowly, but for those of the owners
// or partners named "healthy", which take a millisecond.
func lanes(t *testing.T, test func(t *testing.T, s *store, r *Runner)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		do := func(ctx context.Context, j commerce.Job) Outcome {
			if j.Owner == "healthy" || j.PartnerID == "healthy" {
				return takes(time.Millisecond)(s)(ctx, j)
			}
			return slowly(s)(ctx, j)
		}
		r := newRunner("me", s, map[commerce.JobKind]Kind{call: {Do: do, Width: 32, Pool: "calls"}, work: {Do: do, Width: 32, Pool: "calls"}})
		r.Run()
		defer r.Stop(t.Context())
		test(t, s, r)
	})
}

// addTo stores a job of a lane.
func (s *store) addTo(mode commerce.Mode, owner, partnerID string, runAt int64) commerce.Job {
	j := s.add(owner, commerce.Millis(runAt))
	j.Kind, j.Mode, j.PartnerID = call, mode, partnerID
	s.put(j)
	return j
}

// TestSandboxDelaysNoLiveJob: a retry goes out on time while slow retries of others
// wait in great number: live beside the sandbox, one partner beside another in
// either, and one store beside another.
func TestSandboxDelaysNoLiveJob(t *testing.T) {
	for name, c := range map[string]struct {
		slow, retry func(s *store, i int, at int64) commerce.Job
		within      time.Duration // of its time
	}{
		"live beside a partner's sandbox": {
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Test, "store", "slow", at) },
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Live, "healthy", "slow", at) }, 100 * time.Millisecond},
		"live beside the sandboxes of all partners": {
			func(s *store, i int, at int64) commerce.Job {
				return s.addTo(commerce.Test, "store", fmt.Sprint("slow ", i), at)
			},
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Live, "healthy", "slow", at) }, 100 * time.Millisecond},
		"another partner's sandbox": {
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Test, "store", "slow", at) },
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Test, "store", "healthy", at) }, 100 * time.Millisecond},
		"another partner, live": {
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Live, "store", "slow", at) },
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Live, "store", "healthy", at) }, 100 * time.Millisecond},
		"another store": {
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Live, "store", "ptn", at) },
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Live, "healthy", "ptn", at) }, 100 * time.Millisecond},
		"another of many partners": { // whose tries take turns
			func(s *store, i int, at int64) commerce.Job {
				return s.addTo(commerce.Test, "store", fmt.Sprint("slow ", i%48), at)
			},
			func(s *store, _ int, at int64) commerce.Job { return s.addTo(commerce.Test, "store", "healthy", at) }, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			lanes(t, func(t *testing.T, s *store, r *Runner) {
				for i := range 1000 {
					c.slow(s, i, int64(now())-1000)
				}
				r.Wake()
				for range 10 { // at any time of the slow ones
					after(7 * time.Second)
					j := c.retry(s, 0, int64(now())+5000)
					r.Wake()
					after(5*time.Second - time.Millisecond)
					if _, there := s.get(j.Key()); !there {
						t.Fatal("it went out before its time")
					}
					after(c.within)
					if _, there := s.get(j.Key()); there {
						t.Fatalf("it did not go out within %v of its time", c.within)
					}
				}
			})
		})
	}
}

// TestPools: a pool has so many tries under way, holds so many jobs, and takes
// nothing from another one. What it has no room for is left in storage, which is
// not asked for it all the time.
func TestPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var running, most atomic.Int64
		do := func(ctx context.Context, j commerce.Job) Outcome {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer running.Add(-1)
			return takes(5*time.Second)(s)(ctx, j)
		}
		const width = 16
		r := handling("me", Options{Queue: s, Ledger: s, Pools: map[Pool]int{"slow": width}, Kinds: map[commerce.JobKind]Kind{
			work: {Do: takes(time.Millisecond)(s), Width: 16}, call: {Do: do, Width: 16, Pool: "slow"}}})
		const waiting = 2000
		for i := range waiting {
			s.addTo(commerce.Live, fmt.Sprint("o", i), "", int64(now())-1000)
		}
		r.Run()
		defer r.Stop(t.Context())
		after(time.Second)
		looks, returned := s.looked(), s.returns()
		after(3 * time.Second)
		if again := s.looked() - looks; again > 3 || s.returns() > returned {
			t.Errorf("storage was asked %d times in 3 s for what there is no room for, and given back %d jobs", again, s.returns()-returned)
		}
		r.mu.Lock()
		held, lanes := len(r.tasks), len(r.lanes)
		r.mu.Unlock()
		if atMost := (&pool{most: width}).mostLeased(); held > atMost || held < atMost/4 {
			t.Errorf("%d jobs are held, want at most %d", held, atMost)
		}
		s.add("o1", now()) // of another pool
		r.Wake()
		after(100 * time.Millisecond)
		if n := s.of("o1"); n > 1 {
			t.Errorf("%d jobs of an owner are left, want the slow one at most", n)
		}
		after(time.Hour)
		for i := range waiting {
			if n := s.of(fmt.Sprint("o", i)); n != 0 {
				t.Fatalf("%d jobs of owner %d are left", n, i)
			}
		}
		if n := most.Load(); n != width {
			t.Errorf("%d tries at a time, want %d", n, width)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for key, p := range r.pools {
			if p.running != 0 || p.leased != 0 {
				t.Errorf("idle, but %v has %d running and %d held", key, p.running, p.leased)
			}
		}
		if len(r.lanes) != keptLanes {
			t.Errorf("%d lanes are remembered, %d before", len(r.lanes), lanes)
		}
	})
}

// TestReserve: what a new job is told about its lease, and how many jobs a lane
// and a pool take. What is reserved counts until it is cancelled or done.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := newRunner("me", s, map[commerce.JobKind]Kind{work: {Do: takes(time.Hour)(s), Width: 1}})
		defer r.Stop(t.Context())
		lease, ok := r.Reserve(s.add("a", now()))
		if !ok || lease.LeasedBy != "me" || lease.LeasedUntil != now().Add(commerce.JobLease) {
			t.Fatalf("%+v, %v", lease, ok)
		}
		for name, j := range map[string]commerce.Job{
			"unknown":     {Kind: "unknown", Owner: "a", RunAt: now()},
			"not due yet": {Kind: work, Owner: "a", RunAt: now().Add(soon) + 1},
		} {
			if _, ok := r.Reserve(j); ok {
				t.Errorf("a job that is %s was taken", name)
			}
		}
		soonDue := s.add("z", now().Add(soon))
		if _, ok := r.Reserve(soonDue); !ok {
			t.Error("a job that is due soon was not taken")
		}
		r.EndReservation([]commerce.Job{soonDue}, false)
		reserve := func(owner string, awaited bool) (jobs []commerce.Job) {
			for {
				j := s.leased(owner)
				j.Awaited = awaited
				if _, ok := r.Reserve(j); !ok || len(jobs) == 100_000 {
					return jobs
				}
				jobs = append(jobs, j)
			}
		}
		ofA := reserve("a", false)
		if n := len(ofA) + 1; n != roomPerTry {
			t.Errorf("the lane took %d, want %d", n, roomPerTry)
		}
		all := roomPerTry + len(reserve("b", true)) // what is awaited stands in no queue
		if want := leasedPerTry * poolTries; all != want {
			t.Errorf("the pool took %d, want %d", all, want)
		}
		if _, ok := r.Reserve(s.leased("c")); ok {
			t.Error("the pool took more than it holds")
		}
		r.EndReservation(ofA, false)
		if n := len(reserve("a", false)); n != len(ofA) {
			t.Errorf("after %d were cancelled, the lane took %d", len(ofA), n)
		}
		r.EndReservation(ofA, true)
		r.mu.Lock()
		defer r.mu.Unlock()
		if l := r.laneOf(ofA[0]); len(r.tasks) != len(ofA) || l.promised != 1 || l.pool.leased != all {
			t.Errorf("%d tasks, %d promised of the lane, %d held", len(r.tasks), l.promised, l.pool.leased)
		}
	})
}

// TestUnrecorded: a lane goes on while outcomes are recorded, but not beyond a
// bound.
func TestUnrecorded(t *testing.T) {
	var tries atomic.Int64
	var recorded chan struct{} // closed at the end
	do := func(*store) func(context.Context, commerce.Job) Outcome {
		recorded = make(chan struct{})
		return func(context.Context, commerce.Job) Outcome {
			tries.Add(1)
			return Outcome{Err: errors.New("no"), Record: func(context.Context) (commerce.Job, error) {
				<-recorded
				return commerce.Job{}, nil
			}}
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		defer func() { close(recorded) }()
		start(t, s, r, "a", 100)
		after(time.Second)
		if n := tries.Load(); n != unrecorded {
			t.Errorf("%d tries wait for their record, want %d", n, unrecorded)
		}
	})
}

// slowQueue is a store whose claims take a while, as those of a slow database.
type slowQueue struct {
	*store
	claiming atomic.Bool
}

func (q *slowQueue) ClaimJobs(ctx context.Context, c storage.JobClaim) ([]commerce.Job, error) {
	q.claiming.Store(true)
	defer q.claiming.Store(false)
	time.Sleep(time.Second)
	return q.store.ClaimJobs(ctx, c)
}

// TestStopWaitsForClaims: after a stop nothing is claimed any more, and what was
// being claimed is given back.
func TestStopWaitsForClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowQueue{store: newStore()}
		for range 100 {
			s.add("a", now())
		}
		r := handling("me", Options{Queue: s, Ledger: s, Panicked: s.panicked, Kinds: map[commerce.JobKind]Kind{work: {Do: takes(time.Hour)(s.store), Width: 1}}})
		r.Run()
		after(500 * time.Millisecond)
		r.Stop(t.Context())
		if s.claiming.Load() {
			t.Error("the stop did not wait for the claim")
		}
		for _, j := range s.jobs {
			if j.Leased(now()) {
				t.Fatalf("%s is still leased", j.ID)
			}
		}
	})
}

// TestUnknownKinds: jobs of a newer program are left to it, also when a caller
// waits for one.
func TestUnknownKinds(t *testing.T) {
	in(t, takes(time.Millisecond), func(t *testing.T, s *store, r *Runner) {
		newer := s.add("a", now())
		newer.Kind = "newer"
		s.put(newer)
		r.Wake()
		after(time.Minute)
		if got, _ := s.get(newer.Key()); got != newer {
			t.Errorf("an unknown job was touched: %+v", got)
		}
		if err := r.Finish(t.Context(), newer.Key()); err != nil {
			t.Error(err)
		}
		if got, _ := s.get(newer.Key()); got.LeasedBy != "" || len(s.failed) != 0 {
			t.Errorf("an unknown job was tried: %+v, failed %v", got, s.failed)
		}
	})
}

// TestApart: jobs of a kind whose jobs stand apart never wait for each other.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		do := func(ctx context.Context, j commerce.Job) Outcome {
			if j.Subject == "healthy" {
				return takes(time.Millisecond)(s)(ctx, j)
			}
			return slowly(s)(ctx, j)
		}
		r := newRunner("me", s, map[commerce.JobKind]Kind{call: {Do: do, Width: 1, Apart: true}})
		for i := range 20 {
			j := s.addTo(commerce.Test, "sandbox", "", int64(now())-1000)
			j.Subject = fmt.Sprint("slow ", i)
			s.put(j)
		}
		j := s.addTo(commerce.Test, "sandbox", "", int64(now()))
		j.Subject = "healthy"
		s.put(j)
		r.Run() // only now: a job is there before it has its subject
		defer r.Stop(t.Context())
		after(100 * time.Millisecond)
		if _, there := s.get(j.Key()); there {
			t.Error("a job waits for others")
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.lanes) != 20 {
			t.Errorf("%d lanes are remembered, and only 20 jobs go on", len(r.lanes))
		}
	})
}

// TestCallerComesLate: a job that its caller asks for when its lease is about to
// end is given back, and done by the next worker that claims it.
func TestCallerComesLate(t *testing.T) {
	in(t, takes(time.Second), func(t *testing.T, s *store, r *Runner) {
		j := s.leased("a")
		j.Awaited = true
		if _, ok := r.Reserve(j); !ok {
			t.Fatal("no room")
		}
		r.EndReservation([]commerce.Job{j}, true)
		after(20*time.Second + 500*time.Millisecond)
		if err := r.Finish(t.Context(), j.Key()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the caller does not wait for the lease to be given back
		if s.returns() != 1 {
			t.Errorf("%d leases were given back", s.returns())
		}
		after(5 * time.Second)
		if s.of("a") != 0 {
			t.Error("the job was not done")
		}
	})
}

// TestNeverRecorded: an outcome that cannot be recorded is given up with the
// lease, after which the job is claimed again.
func TestNeverRecorded(t *testing.T) {
	var tries, records atomic.Int64
	do := func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(_ context.Context, j commerce.Job) Outcome {
			if tries.Add(1) > 1 {
				return Outcome{Record: s.record(j)}
			}
			return Outcome{Record: func(context.Context) (commerce.Job, error) {
				records.Add(1)
				return j, errors.New("the database is away")
			}}
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		start(t, s, r, "a", 1)
		after(70 * time.Second)            // the claim at the end of the lease may come upon the task
		if n := records.Load(); n != 31 || // each second of its lease
			tries.Load() != 2 || s.of("a") != 0 {
			t.Errorf("%d records, %d tries, %d jobs are left", n, tries.Load(), s.of("a"))
		}
	})
}
