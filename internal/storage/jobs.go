package storage

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
)

// Queue hands jobs out.
type Queue interface {
	// ClaimJobs leases jobs to a worker, the one that came up first first. No two
	// claims give one job while a lease of it holds.
	ClaimJobs(ctx context.Context, c JobClaim) ([]commerce.Job, error)

	// ReleaseParked has parked jobs of an owner wait again, those that came up
	// first, at most limit, and returns how many. They keep their RunAt.
	ReleaseParked(ctx context.Context, owner string, limit int) (int, error)
}

// Jobs reads jobs.
type Jobs interface {
	Job(ctx context.Context, key commerce.JobKey) (commerce.Job, error)

	// Jobs in the order of (RunAt, Slot, ID).
	Jobs(ctx context.Context, f JobFilter) ([]commerce.Job, error)

	// NextDue tells whether a job is due now that no worker has leased, and when the
	// next one comes up after now: by its time or, in a slot where none is due,
	// because a lease ends; 0 when none does.
	NextDue(ctx context.Context, now commerce.Millis) (due bool, next int64, err error)
}

// JobClaim asks for due jobs of one slot that no worker has.
type JobClaim struct {
	Slot   int64
	Worker string
	Now    commerce.Millis
	Until  commerce.Millis // at most Now+commerce.JobLease
	// Classes are the only jobs that are claimed: those of other kinds are for
	// processes that know them.
	Classes []commerce.JobClass
	Except  []commerce.JobLane // that have no room for more
	// Ahead looks also at jobs that lie too far ahead to be believed
	// (commerce.JobHorizon), which is a statement more.
	Ahead bool
	Limit int
}

// ClassNames are for engines: a job is of one of the classes if its kind, a
// blank and its mode are among the names. The list is never nil.
func (c JobClaim) ClassNames() []string {
	names := make([]string, len(c.Classes))
	for i, class := range c.Classes {
		names[i] = string(class.Kind) + " " + string(class.Mode)
	}
	return names
}

// LaneNames are for engines: a job is in one of the excepted lanes if its kind,
// mode, partner and owner, with blanks between them, are among the names. Only
// an owner may hold blanks. The list is never nil.
func (c JobClaim) LaneNames() []string {
	names := make([]string, len(c.Except))
	for i, l := range c.Except {
		names[i] = string(l.Kind) + " " + string(l.Mode) + " " + l.PartnerID + " " + l.Owner
	}
	return names
}

// AddNext is for engines: it adds one time at which a job comes up to what NextDue
// answers. A negative time is none.
func AddNext(at, now commerce.Millis, due *bool, next *int64) {
	switch {
	case at < 0:
	case at <= now:
		*due = true
	case *next == 0 || at < commerce.Millis(*next):
		*next = int64(at)
	}
}

// FirstJobs puts jobs that were read slot by slot into the order of Jobs, and keeps
// at most limit of them.
func FirstJobs(list []commerce.Job, limit int) []commerce.Job {
	slices.SortFunc(list, func(a, b commerce.Job) int {
		return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.ID, b.ID))
	})
	return list[:min(len(list), limit)]
}

// JobFilter selects jobs.
type JobFilter struct {
	State commerce.JobState
	Owner string // empty, which parked jobs do not have: all
	After JobPosition
	Limit int
}

// JobPosition is a place in the order of jobs: behind the job with this time
// and key.
type JobPosition struct {
	RunAt int64
	commerce.JobKey
}
