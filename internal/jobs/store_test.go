package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

const work = commerce.JobKind("work")

func now() commerce.Millis { return commerce.MillisOf(time.Now()) }

// store is a Queue and a Ledger in memory.
type store struct {
	mu       sync.Mutex
	jobs     map[commerce.JobKey]commerce.Job
	slots    [commerce.JobSlots]map[string]commerce.Job // the same jobs
	added    int64
	looks    int // at what is due
	aheads   int // claims that look at jobs which lie too far ahead
	returned int
	failed   map[string]string // job id -> error
}

func newStore() *store {
	s := &store{jobs: map[commerce.JobKey]commerce.Job{}, failed: map[string]string{}}
	for i := range s.slots {
		s.slots[i] = map[string]commerce.Job{}
	}
	return s
}

// add stores a waiting job, spread over the slots.
func (s *store) add(owner string, runAt commerce.Millis) commerce.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.added
	s.added++
	j := commerce.Job{Slot: n % commerce.JobSlots, ID: fmt.Sprintf("job_%06d", n), Kind: work, Mode: commerce.Live, Owner: owner, RunAt: runAt, State: commerce.JobWaiting}
	s.set(j)
	return j
}

// set and remove are called with the lock held.
func (s *store) set(j commerce.Job) {
	j.Awaited = false // it is not stored
	s.jobs[j.Key()] = j
	s.slots[j.Slot][j.ID] = j
}

func (s *store) remove(j commerce.Job) {
	delete(s.jobs, j.Key())
	delete(s.slots[j.Slot], j.ID)
}

// leased stores a job as leased to the worker from now on.
func (s *store) leased(owner string) commerce.Job { return s.leasedTo("me", owner) }

func (s *store) leasedTo(worker, owner string) commerce.Job {
	j := s.add(owner, now().Add(time.Hour)) // it is not due before it has its lease
	j.RunAt = now()
	j = j.LeasedTo(worker, now().Add(commerce.JobLease))
	s.put(j)
	return j
}

func (s *store) put(j commerce.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(j)
}

// get reads a job; there is false once it is done.
func (s *store) get(key commerce.JobKey) (j commerce.Job, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, there = s.jobs[key]
	return j, there
}

func (s *store) done(j commerce.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(j)
}

func (s *store) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

// returns counts the leases that were given back.
func (s *store) returns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.returned
}

// of counts the jobs of an owner that are left.
func (s *store) of(owner string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.Owner == owner {
			n++
		}
	}
	return n
}

func (s *store) ClaimJobs(_ context.Context, c storage.JobClaim) (claimed []commerce.Job, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Ahead {
		s.aheads++
	}
	for _, j := range s.slots[c.Slot] {
		if far := j.RunAt > c.Now.Add(commerce.JobHorizon); far && !c.Ahead {
			continue
		}
		if j.Due(c.Now) && !j.Leased(c.Now) && slices.Contains(c.Classes, j.Lane().JobClass) && !slices.Contains(c.Except, j.Lane()) {
			claimed = append(claimed, j)
		}
	}
	slices.SortFunc(claimed, func(a, b commerce.Job) int { return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.ID, b.ID)) })
	claimed = claimed[:min(len(claimed), c.Limit)]
	for i, j := range claimed {
		claimed[i] = j.LeasedTo(c.Worker, c.Until)
		s.set(claimed[i])
	}
	return claimed, nil
}

func (s *store) NextDue(_ context.Context, now commerce.Millis) (due bool, next commerce.Millis, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	for _, j := range s.jobs {
		at := j.RunAt
		if at > now.Add(commerce.JobHorizon) {
			at = now
		}
		if j.Leased(now) {
			at = max(at, j.LeasedUntil)
		}
		storage.AddNext(at, now, &due, &next)
	}
	return due, next, nil
}

func (s *store) ReturnJobs(_ context.Context, jobs []commerce.Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(jobs) == 0 || !slices.IsSortedFunc(jobs, func(a, b commerce.Job) int { return cmp.Compare(a.ID, b.ID) }) {
		panic(fmt.Sprintf("given back are none, or not in order: %v", jobs)) // one seed, one history
	}
	for _, j := range jobs {
		s.returned++
		s.set(j.LeasedTo("", 0))
	}
	return nil
}

func (s *store) TakeJob(_ context.Context, key commerce.JobKey, worker string) (job commerce.Job, there, taken bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job, there = s.jobs[key]
	if !there || job.Leased(now()) {
		return job, there, false, nil
	}
	job = job.LeasedTo(worker, now().Add(commerce.JobLease))
	s.set(job)
	return job, true, true, nil
}

// panicked has the error of a job kept, and the job deleted.
func (s *store) panicked(j commerce.Job, err error) Outcome {
	return Outcome{Err: err, Record: func(context.Context) (commerce.Job, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed[j.ID] = err.Error()
		s.remove(j)
		return commerce.Job{}, nil
	}}
}
