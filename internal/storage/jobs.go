package storage

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
)

// Queue hands out jobs.
type Queue interface {
	// ClaimJobs leases due jobs to a worker, in the order of their RunAt. A job is never
	// in two claims while a lease of it holds.
	ClaimJobs(ctx context.Context, c JobClaim) ([]commerce.Job, error)

	// ReleaseParked makes at most limit parked jobs of an owner wait again, in the order
	// of their RunAt, and returns how many. They keep their RunAt.
	ReleaseParked(ctx context.Context, owner string, limit int) (int, error)
}

// Jobs reads jobs.
type Jobs interface {
	Job(ctx context.Context, key commerce.JobKey) (commerce.Job, error)

	// Jobs reads jobs in the order of (RunAt, Slot, ID).
	Jobs(ctx context.Context, f JobFilter) ([]commerce.Job, error)

	// FirstWebhookJobs reads the jobs that were made with an event, to deliver it for the first
	// time, as far as they are not done. Later ones, to deliver it again, are not among them.
	FirstWebhookJobs(ctx context.Context, eventID string) ([]commerce.Job, error)

	// NextDue reports whether a job is due now that no worker has leased, and when the
	// next one becomes due: at its RunAt or, in a slot without a due job, at the end of a
	// lease. next is 0 if there is none.
	NextDue(ctx context.Context, now commerce.Millis) (due bool, next commerce.Millis, err error)
}

// JobClaim selects the due jobs of one slot that no worker has leased.
type JobClaim struct {
	Slot   int64
	Worker string
	Now    commerce.Millis
	Until  commerce.Millis // at most Now+commerce.JobLease
	// Classes are the classes of jobs to claim. Jobs of other kinds are left to processes
	// that know them.
	Classes []commerce.JobClass
	Except  []commerce.JobLane // lanes without room for more jobs
	// Ahead also claims jobs whose RunAt lies too far ahead to be right
	// (commerce.JobHorizon), which costs another statement.
	Ahead bool
	Limit int
}

// ClassNames is for engines: a job belongs to one of the classes if "KIND MODE" is among
// the names. The list is never nil.
func (c JobClaim) ClassNames() []string {
	names := make([]string, len(c.Classes))
	for i, class := range c.Classes {
		names[i] = string(class.Kind) + " " + string(class.Mode)
	}
	return names
}

// LaneNames is for engines: a job belongs to one of the excepted lanes if "KIND MODE
// PARTNER OWNER" is among the names. Only an owner may contain blanks. The list is never
// nil.
func (c JobClaim) LaneNames() []string {
	names := make([]string, len(c.Except))
	for i, l := range c.Except {
		names[i] = string(l.Kind) + " " + string(l.Mode) + " " + l.PartnerID + " " + l.Owner
	}
	return names
}

// AddNext is for engines: it adds the time at which a job becomes due to the results of
// NextDue. It ignores a negative time.
func AddNext(at, now commerce.Millis, due *bool, next *commerce.Millis) {
	switch {
	case at < 0:
	case at <= now:
		*due = true
	case *next == 0 || at < *next:
		*next = at
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
	Owner string // empty: all (every parked job has an owner)
	After JobPosition
	Limit int
}

// JobPosition is a position in the order of jobs: behind the job with this time and key.
type JobPosition struct {
	RunAt commerce.Millis
	commerce.JobKey
}

// Messages reads messages that were not sent.
type Messages interface {
	// Outbox reads at most limit messages, newest first, that are older than the
	// one with the given id (empty: all).
	Outbox(ctx context.Context, before string, limit int) ([]commerce.UnsentMessage, error)

	OutboxMessage(ctx context.Context, id string) (commerce.UnsentMessage, error)
}

// SandboxObjects reads the objects of the sandboxes.
type SandboxObjects interface {
	SandboxObject(ctx context.Context, id string) (commerce.SandboxObject, error)
}
