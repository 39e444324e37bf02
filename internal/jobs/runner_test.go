package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// in runs a test in a bubble of its own time, with a runner of one kind of
// job that is stopped at the end.
func in(t *testing.T, do func(*store) func(context.Context, commerce.Job) Outcome, test func(t *testing.T, s *store, r *Runner)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		r := newRunner("me", s, map[commerce.JobKind]Kind{work: {Do: do(s), Width: 16}})
		r.Run()
		defer func() {
			r.Stop(t.Context())
			r.atRest(t)
		}()
		test(t, s, r)
	})
}

// atRest checks that nothing counts as under way.
func (r *Runner) atRest(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		if l.running != 0 || l.recording != 0 || l.promised != 0 {
			t.Errorf("at rest, %v has %d tries, %d unrecorded and %d promised", l.key, l.running, l.recording, l.promised)
		}
	}
	for key, p := range r.pools {
		if p.running != 0 || p.leased != 0 {
			t.Errorf("at rest, %v has %d tries and %d jobs", key, p.running, p.leased)
		}
	}
}

// takes is work that lasts, and then is done.
func takes(d time.Duration) func(*store) func(context.Context, commerce.Job) Outcome {
	return func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(ctx context.Context, j commerce.Job) Outcome {
			select {
			case <-time.After(d):
				return Outcome{Record: s.record(j)}
			case <-ctx.Done():
				return Outcome{Err: errCut}
			}
		}
	}
}

func (s *store) record(j commerce.Job) func(context.Context) (commerce.Job, error) {
	return func(context.Context) (commerce.Job, error) { s.done(j); return commerce.Job{}, nil }
}

var errCut = errors.New("cut")

func newRunner(worker string, s *store, kinds map[commerce.JobKind]Kind) *Runner {
	return handling(worker, Options{Queue: s, Ledger: s, Panicked: s.panicked, Kinds: kinds})
}

func handling(worker string, o Options) *Runner {
	r := New(env.Env{}, worker)
	r.Handle(o)
	return r
}

// start hands over new jobs as the committer does.
func start(t *testing.T, s *store, r *Runner, owner string, n int) (jobs []commerce.Job) {
	t.Helper()
	for range n {
		j := s.leased(owner)
		if _, ok := r.Reserve(j); !ok {
			t.Fatalf("no room for job %d of %s", len(jobs), owner)
		}
		jobs = append(jobs, j)
	}
	r.EndReservation(jobs, true)
	return jobs
}

func TestJobsStartAtOnceAndOnTime(t *testing.T) {
	in(t, takes(time.Millisecond), func(t *testing.T, s *store, r *Runner) {
		start(t, s, r, "a", 3)
		after(10 * time.Millisecond)
		if n := s.of("a"); n != 0 {
			t.Errorf("%d jobs of this process did not start at once", n)
		}
		s.add("b", now()+7000)
		r.Wake()
		after(7 * time.Second)
		if n := s.of("b"); n != 1 {
			t.Error("a job ran before its time")
		}
		after(10 * time.Millisecond)
		if n := s.of("b"); n != 0 {
			t.Error("a job did not run on time")
		}
		before := s.looked()
		after(time.Minute)
		if looks := s.looked() - before; looks > 31 {
			t.Errorf("%d looks at storage in an idle minute", looks)
		}
	})
}

// TestTriesEnd: a try that goes on is ended after TryTime.
func TestTriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		began := time.Now()
		var took time.Duration
		r := newRunner("me", s, map[commerce.JobKind]Kind{work: {Width: 1, Do: func(ctx context.Context, _ commerce.Job) Outcome {
			<-ctx.Done()
			took = time.Since(began)
			return Outcome{Err: errCut}
		}}})
		r.Run()
		start(t, s, r, "a", 1)
		after(TryTime + time.Second)
		r.Stop(t.Context())
		if took != TryTime {
			t.Errorf("the try took %v, want %v", took, TryTime)
		}
	})
}

// TestJobsGather checks that jobs that become due all the time are claimed several at
// a time, and that each starts soon.
func TestJobsGather(t *testing.T) {
	in(t, takes(time.Millisecond), func(t *testing.T, s *store, r *Runner) {
		const n = 1000
		begin := now()
		for i := range int64(n) {
			s.add("a", begin+commerce.Millis(i))
		}
		r.Wake()
		after(n*time.Millisecond + passPause + 10*time.Millisecond)
		if left := s.of("a"); left != 0 {
			t.Errorf("%d jobs did not run soon after their time", left)
		}
		if looks := s.looked(); looks > 3*n/int(passPause/time.Millisecond) {
			t.Errorf("%d looks at storage for %d jobs", looks, n)
		}
	})
}

// TestFarAhead: what was put further ahead than any rule does, while the clock
// was wrong, is taken up, also while others come up all the time.
func TestFarAhead(t *testing.T) {
	in(t, takes(time.Millisecond), func(t *testing.T, s *store, r *Runner) {
		const n = 10_000
		begin := now()
		for i := range int64(n) {
			s.add("a", begin+commerce.Millis(i))
		}
		r.Wake()
		after(time.Second)
		s.mu.Lock()
		if s.aheads > 2*commerce.JobSlots {
			t.Errorf("%d claims of a busy second looked for what lies too far ahead", s.aheads)
		}
		s.mu.Unlock()
		s.add("b", now().Add(2*commerce.JobHorizon))
		after(5 * time.Second)
		if s.of("a") == 0 || s.of("b") != 0 {
			t.Errorf("of those that come up %d are left, and %d that lies too far ahead", s.of("a"), s.of("b"))
		}
		after(n * time.Millisecond)
		s.add("c", now().Add(2*commerce.JobHorizon))
		after(2 * idlePause)
		if s.of("c") != 0 {
			t.Error("an idle process does not take it up")
		}
	})
}

// TestLeaseOfTheDead: what another process left is taken up when its lease
// ends, and not before.
func TestLeaseOfTheDead(t *testing.T) {
	in(t, takes(time.Millisecond), func(t *testing.T, s *store, r *Runner) {
		s.leasedTo("dead", "a")
		after(30*time.Second - time.Millisecond)
		if s.of("a") != 1 {
			t.Fatal("a leased job was taken")
		}
		after(3 * time.Second)
		if s.of("a") != 0 {
			t.Error("a job whose lease ended was not taken up")
		}
	})
}

// TestHangingOwner checks that an owner with hanging jobs delays no other owner,
// however many jobs it has.
func TestHangingOwner(t *testing.T) {
	do := func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(ctx context.Context, j commerce.Job) Outcome {
			if j.Owner == "b" {
				return takes(time.Millisecond)(s)(ctx, j)
			}
			o := takes(15*time.Second)(s)(ctx, j)
			o.Err = errors.New("no")
			return o
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		for range 5000 {
			s.add("a", now()-1000)
		}
		for range 300 { // behind those of a in every slot
			s.add("b", now()-500)
		}
		for i := range 100 {
			start(t, s, r, fmt.Sprint("also hangs ", i), 20)
		}
		after(3 * time.Second)
		if n := s.of("b"); n != 0 {
			t.Errorf("%d jobs of a healthy owner wait", n)
		}
		start(t, s, r, "b", 10)
		after(100 * time.Millisecond)
		if n := s.of("b"); n != 0 {
			t.Errorf("%d new jobs of a healthy owner wait", n)
		}
	})
}

// TestWidth: an owner's tries at a time grow with successes, to the width of
// the kind, and fall back to one with a failure.
func TestWidth(t *testing.T) {
	var running, most atomic.Int64
	var failing atomic.Bool
	do := func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(ctx context.Context, j commerce.Job) Outcome {
			for n := running.Add(1); ; {
				m := most.Load()
				if n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			defer running.Add(-1)
			o := takes(10*time.Millisecond)(s)(ctx, j)
			if failing.Load() {
				o.Err = errors.New("no")
			}
			return o
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		start(t, s, r, "a", 60)
		after(15 * time.Millisecond) // the first is done, its successors run
		if n := most.Load(); n != 2 {
			t.Errorf("%d at a time after one success, want 2", n)
		}
		for range 1000 {
			s.add("a", now())
		}
		r.Wake()
		after(time.Second)
		if n := most.Load(); n != 16 {
			t.Errorf("at most %d at a time, want 16", n)
		}
		failing.Store(true)
		for range 100 {
			s.add("a", now())
		}
		r.Wake()
		after(100 * time.Millisecond)
		if n := running.Load(); n != 1 {
			t.Errorf("%d at a time after failures, want 1", n)
		}
	})
}

// TestGivenBackInTime: what a slow lane does not get to is given back before
// its lease ends, and no try begins that could outlast its lease.
func TestGivenBackInTime(t *testing.T) {
	do := func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(ctx context.Context, j commerce.Job) Outcome {
			o := takes(15*time.Second)(s)(ctx, j)
			if o.Record != nil && !j.Leased(now()) {
				panic("the try outlasted its lease")
			}
			o.Err = errors.New("no")
			return o
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		start(t, s, r, "a", 40)
		after(15 * time.Minute)
		if n := s.of("a"); n != 0 || len(s.failed) != 0 {
			t.Errorf("%d jobs are left, failed: %v", n, s.failed)
		}
		if s.returned == 0 {
			t.Error("nothing was given back: the test did not test it")
		}
	})
}

func TestPanicIsAFailedTry(t *testing.T) {
	do := func(*store) func(context.Context, commerce.Job) Outcome {
		return func(context.Context, commerce.Job) Outcome { panic("oh") }
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		j := start(t, s, r, "a", 1)[0]
		after(time.Millisecond)
		if got := s.failed[j.ID]; got != "panic: oh" {
			t.Errorf("recorded %q", got)
		}
	})
}

// TestRecordIsTriedAgain: a job counts as done once that is on record.
func TestRecordIsTriedAgain(t *testing.T) {
	var tries, records atomic.Int64
	do := func(s *store) func(context.Context, commerce.Job) Outcome {
		return func(context.Context, commerce.Job) Outcome {
			tries.Add(1)
			return Outcome{Record: func(ctx context.Context) (commerce.Job, error) {
				if records.Add(1) < 4 {
					return commerce.Job{}, errors.New("the database is away")
				}
				return commerce.Job{}, nil
			}}
		}
	}
	in(t, do, func(t *testing.T, s *store, r *Runner) {
		j := start(t, s, r, "a", 1)[0]
		if err := r.Finish(t.Context(), j.Key()); err != nil {
			t.Fatal(err)
		}
		if tries.Load() != 1 || records.Load() != 4 {
			t.Errorf("%d tries, %d records; want 1 and 4", tries.Load(), records.Load())
		}
	})
}

func TestFinish(t *testing.T) {
	in(t, takes(10*time.Second), func(t *testing.T, s *store, r *Runner) {
		jobs := start(t, s, r, "a", 20)
		began := time.Now()
		if err := r.Finish(t.Context(), jobs[19].Key()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %v: it waited for its turn", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Finish(ctx, jobs[18].Key()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		after(10 * time.Second)
		if _, there := s.jobs[jobs[18].Key()]; there {
			t.Error("it did not go on without its caller")
		}
		if err := r.Finish(t.Context(), jobs[18].Key()); err != nil {
			t.Errorf("a job that is done: %v", err)
		}
	})
}

// TestFinishElsewhere checks that a free job is taken, due or not, and that a job of
// another process is waited for.
func TestFinishElsewhere(t *testing.T) {
	in(t, takes(time.Second), func(t *testing.T, s *store, r *Runner) {
		later := s.add("a", now().Add(time.Hour))
		if err := r.Finish(t.Context(), later.Key()); err != nil || s.of("a") != 0 {
			t.Errorf("put off: %v, %d left", err, s.of("a"))
		}
		others := s.add("b", now()).LeasedTo("other", now().Add(commerce.JobLease))
		s.put(others)
		time.AfterFunc(5*time.Second, func() { s.done(others) })
		began := time.Now()
		if err := r.Finish(t.Context(), others.Key()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 5*time.Second+lookPauses {
			t.Errorf("it took %v to see that another process was done", took)
		}
		s.put(others)
		time.AfterFunc(250*time.Millisecond, func() { s.done(others) })
		began = time.Now()
		if err := r.Finish(t.Context(), others.Key()); err != nil || time.Since(began) != 300*time.Millisecond { // looks after 20, 60, 140 and 300 ms
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		s.put(others)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Finish(ctx, others.Key()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("not done in time: %v", err)
		}
	})
}

// TestAwaited: jobs whose callers wait begin with them, all at once, and take
// no place from others.
func TestAwaited(t *testing.T) {
	in(t, takes(5*time.Second), func(t *testing.T, s *store, r *Runner) {
		var awaited []commerce.Job
		for range 500 {
			j := s.leased("a")
			j.Awaited = true
			if _, ok := r.Reserve(j); !ok {
				t.Fatal("no room")
			}
			awaited = append(awaited, j)
		}
		r.EndReservation(awaited, true)
		var wg sync.WaitGroup
		began := time.Now()
		for _, j := range awaited {
			wg.Go(func() {
				if err := r.Finish(t.Context(), j.Key()); err != nil {
					t.Error(err)
				}
			})
		}
		other := start(t, s, r, "b", 1)[0]
		if err := r.Finish(t.Context(), other.Key()); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("the job of another took %v, %v", time.Since(began), err)
		}
		wg.Wait()
		if took := time.Since(began); took != 5*time.Second || s.of("a") != 0 {
			t.Errorf("%d awaited jobs took %v, %d are left", len(awaited), took, s.of("a"))
		}
	})
}

// TestEndWaits checks that waiting callers are released, and that the job continues.
func TestEndWaits(t *testing.T) {
	in(t, takes(5*time.Second), func(t *testing.T, s *store, r *Runner) {
		j := start(t, s, r, "a", 1)[0]
		time.AfterFunc(time.Second, r.EndWaits)
		began := time.Now()
		if err := r.Finish(t.Context(), j.Key()); !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		after(5 * time.Second)
		if s.of("a") != 0 {
			t.Error("the job did not go on")
		}
	})
}

// TestCallerLeavesBeforeItWaits checks that the job of a caller that left before it could wait
// is claimed by polling.
func TestCallerLeavesBeforeItWaits(t *testing.T) {
	in(t, takes(time.Second), func(t *testing.T, s *store, r *Runner) {
		j := s.leased("a")
		if _, ok := r.Reserve(j); !ok {
			t.Fatal("no room")
		}
		j.Awaited = true
		r.EndReservation([]commerce.Job{j}, true)
		r.Stop(t.Context())
		if got := s.jobs[j.Key()]; got.LeasedBy != "" {
			t.Errorf("after the stop it is still leased: %+v", got)
		}
	})
}

// TestStop: a try under way is cut and given back like all that wait; one that
// ended is on record.
func TestStop(t *testing.T) {
	in(t, takes(10*time.Second), func(t *testing.T, s *store, r *Runner) {
		jobs := start(t, s, r, "a", 5)
		promised := s.leased("a")
		if _, ok := r.Reserve(promised); !ok {
			t.Fatal("no room")
		}
		after(11 * time.Second)
		began := time.Now()
		r.Stop(t.Context())
		if took := time.Since(began); took != 0 {
			t.Errorf("the stop took %v", took)
		}
		if n := s.of("a"); n != 5 || s.returned != 4 {
			t.Errorf("%d left of 6 and %d given back; want 5 and 4", n, s.returned)
		}
		for _, j := range jobs[1:] {
			if s.jobs[j.Key()].LeasedBy != "" {
				t.Error("a job is still leased")
			}
		}
		if _, ok := r.Reserve(jobs[0]); ok {
			t.Error("there is room after the stop")
		}
		r.EndReservation([]commerce.Job{promised}, false)
	})
}

// TestEveryJobOnce: many owners and processes, each job done once.
func TestEveryJobOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var mu sync.Mutex
		times := map[string]int{}
		kind := Kind{Width: 16, Do: func(ctx context.Context, j commerce.Job) Outcome {
			mu.Lock()
			times[j.ID]++
			mu.Unlock()
			return takes(time.Duration(len(j.ID)%3)*time.Millisecond)(s)(ctx, j)
		}}
		for i := range 20_000 {
			s.add(fmt.Sprint("owner ", i%50), now())
		}
		for i := range 3 {
			r := newRunner(fmt.Sprint("worker ", i), s, map[commerce.JobKind]Kind{work: kind})
			r.Run()
			defer r.Stop(t.Context())
		}
		after(time.Minute)
		if len(s.jobs) != 0 {
			t.Fatalf("%d jobs are left", len(s.jobs))
		}
		for id, n := range times {
			if n != 1 {
				t.Errorf("%s ran %d times", id, n)
			}
		}
	})
}

// after lets time pass, and what happened in it be seen.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestFailedTriesAreReported: each failed try is reported to the process once, after it
// is on record, and whether it was the last.
func TestFailedTriesAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		var told, counted []string
		records := 0
		kind := Kind{Width: 1, Do: func(_ context.Context, j commerce.Job) Outcome {
			if j.Owner == "panics" {
				panic("oh")
			}
			if j.Owner == "works" {
				return Outcome{Record: s.record(j)}
			}
			if j.Owner == "unread" {
				return Outcome{Err: errors.New("the database is away")}
			}
			return Outcome{Err: errors.New("no answer"), Record: func(context.Context) (commerce.Job, error) {
				if j.Owner == "lost" {
					return j, errors.New("not recorded")
				}
				if records++; records == 1 {
					return commerce.Job{}, errors.New("not recorded")
				}
				s.done(j)
				j.State = commerce.JobDead
				return j, nil
			}}
		}}
		r := handling("me", Options{Queue: s, Ledger: s, Panicked: s.panicked, Kinds: map[commerce.JobKind]Kind{work: kind},
			Failed: func(job commerce.Job, err error, dead bool) {
				told = append(told, fmt.Sprint(job.Owner, ": ", err, " ", dead))
			}, Tried: func(kind commerce.JobKind, result Result, _ time.Duration) {
				counted = append(counted, string(kind)+" "+string(result))
			}})
		r.Run()
		for _, owner := range []string{"works", "unread", "fails", "panics"} {
			start(t, s, r, owner, 1)
			after(2 * recordPause)
		}
		start(t, s, r, "lost", 1)
		after(2 * recordPause)
		r.Stop(t.Context())
		if want := []string{"fails: no answer true", "panics: panic: oh false"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if want := []string{"work done", "work gave_up", "work failed", "work lease_lost"}; !slices.Equal(counted, want) {
			t.Errorf("counted %q, want %q", counted, want)
		}
	})
}

// TestOneTryAtATime: a try that outlasts its lease, because the process or its
// clock stalled, gets no second one beside it, however the job comes back.
func TestOneTryAtATime(t *testing.T) {
	for _, how := range []string{"claimed", "taken"} {
		synctest.Test(t, func(t *testing.T) {
			s := newStore()
			var running, tries atomic.Int64
			kind := Kind{Width: 4, Do: func(ctx context.Context, j commerce.Job) Outcome {
				tries.Add(1)
				if n := running.Add(1); n > 1 {
					t.Errorf("%s: %d tries at a time", how, n)
				}
				defer running.Add(-1)
				if tries.Load() > 1 {
					return Outcome{Record: s.record(j)}
				}
				time.Sleep(50 * time.Second)
				return Outcome{Err: errors.New("too late"), Record: func(context.Context) (commerce.Job, error) { return j, nil }}
			}}
			r := newRunner("me", s, map[commerce.JobKind]Kind{work: kind})
			r.Run()
			defer r.Stop(t.Context())
			j := start(t, s, r, "a", 1)[0]
			after(35 * time.Second)
			if how == "taken" {
				r.Take(j.LeasedTo("me", now().Add(commerce.JobLease)))
			}
			after(2 * time.Minute)
			if tries.Load() != 2 || s.of("a") != 0 {
				t.Errorf("%s: %d tries, %d jobs are left", how, tries.Load(), s.of("a"))
			}
		})
	}
}
