package service

import (
	"context"
	"errors"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// Once says how a call takes effect at most once.
type Once[R any] struct {
	// Key is the scope of the idempotency key. With an empty Key.Key the caller gave
	// none, and a repeat of the call is a new one.
	Key         commerce.ReplyKey
	Fingerprint [32]byte // SHA-256 of the decoded request, encoded again: a repeat has the same
	// Encode makes the answer of an accepted call. It runs inside the batch, so that
	// the very bytes are stored that are answered. Status 0: a job decides the answer,
	// and there is nothing to answer meanwhile.
	Encode func(R) (status int, body []byte)
}

// Outcome is what came of a call.
type Outcome[R any] struct {
	// Result of the command of a call without a key. Calls with a key have Reply.
	Result   R
	Reply    Reply
	Replayed bool     // the call is a repeat, and has changed nothing
	Pending  *Pending // nil: the answer is decided
}

// Reply is an answer as it is stored for an idempotency key; Status 0: none is.
type Reply struct {
	Status int
	Body   []byte
}

// Pending says that the outside has not answered in waitTime. The job goes on,
// and a repeat of the call under its key gets the result. If there is a Reply,
// it is the answer for the meantime.
type Pending struct {
	OrderID string // of the order that the call has made; empty: it made none, or that is not known
}

// waitTime is how long a call waits for an outside result.
const waitTime = 10 * time.Second

// refusal says why a job released the key of its call: the outside refused.
type refusal func(ctx context.Context, job commerce.Job) error

// neverRefused is for calls whose jobs close their key, however they end.
func neverRefused(context.Context, commerce.Job) error {
	return errors.New("the stored answer is gone")
}

// once runs the command of a call: at most once for its key, if it has
// one. When the command asks for jobs that decide its answer, once runs them and
// waits for what they decide.
func once[R any](ctx context.Context, s *Service, by Caller, o Once[R], cmd commit.Keyed[R], refused refusal) (out Outcome[R], err error) {
	if o.Key.Key == "" {
		out.Result, err = commit.Do(ctx, s.committer, cmd)
		return out, err
	}
	if err := s.roomForReply(ctx, by.Partner, o.Key); err != nil {
		return out, err
	}
	return onceWithRoom(ctx, s, o, cmd, refused)
}

func onceWithRoom[R any](ctx context.Context, s *Service, o Once[R], cmd commit.Keyed[R], refused refusal) (out Outcome[R], err error) {
	stored, asked, err := commit.DoJobs(ctx, s.committer, commit.Once(o.Key, o.Fingerprint, cmd, o.Encode))
	if err != nil {
		return out, err
	}
	out.Reply, out.Replayed = Reply{stored.Status, stored.Body}, stored.Replayed
	jobs := awaited(asked)
	if len(jobs) == 0 && stored.Job.ID == "" {
		return out, nil
	}
	if len(jobs) == 0 { // the call is a repeat, and its job goes on
		job, err := s.reader.Job(context.WithoutCancel(ctx), stored.Job)
		if err != nil { // it is done by now, or its reply will tell
			job = commerce.Job{Slot: stored.Job.Slot, ID: stored.Job.ID}
		}
		jobs = []commerce.Job{job}
	}
	out.Reply, out.Pending, err = s.decided(ctx, o.Key, jobs, out.Reply, refused)
	return out, err
}

func awaited(asked []commerce.Job) (jobs []commerce.Job) {
	for _, job := range asked {
		if job.Awaited {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// decided runs jobs, waits for them, and returns the reply that they decide, or
// the one for the meantime. The reply stays open for the last of them. A job
// without a subject is known by its key alone.
func (s *Service) decided(ctx context.Context, key commerce.ReplyKey, jobs []commerce.Job, meanwhile Reply, refused refusal) (Reply, *Pending, error) {
	gone := context.WithoutCancel(ctx) // the caller may be; no worker starts these jobs before their leases end
	wait, cancel := s.o.Env.WithTimeout(ctx, waitTime)
	defer cancel()
	if err := s.finish(wait, jobs); err != nil && wait.Err() == nil && !errors.Is(err, context.Canceled) {
		return Reply{}, nil, err
	}
	job := jobs[len(jobs)-1]
	pending := &Pending{madeOrder(job)}
	stored, err := s.reader.Reply(gone, key)
	switch {
	case errors.Is(err, storage.ErrNotFound) && job.Subject != "":
		return Reply{}, nil, refused(gone, job)
	case errors.Is(err, storage.ErrNotFound): // another call had it refused just now: a repeat is a new one
		return Reply{}, pending, nil
	case err != nil:
		return Reply{}, nil, err
	case stored.Open():
		return meanwhile, pending, nil
	}
	return Reply{stored.Status, stored.Body}, nil, nil
}

// finish runs jobs at the same time, so that a slow cancellation of a courier does not
// delay a refund.
func (s *Service) finish(ctx context.Context, jobs []commerce.Job) error {
	if len(jobs) == 1 {
		return s.o.Jobs.Finish(ctx, jobs[0].Key())
	}
	errs := make([]error, len(jobs))
	finishes := make([]func(), len(jobs))
	for i, job := range jobs {
		finishes[i] = func() { errs[i] = s.o.Jobs.Finish(ctx, job.Key()) }
	}
	s.o.Env.Together(finishes...)
	return errors.Join(errs...)
}

// madeOrder is the order that was made by the call that asked for the job;
// empty: it made none, or that is not known.
func madeOrder(job commerce.Job) string {
	if job.Kind != commerce.JobOpenSession {
		return ""
	}
	return job.Subject
}
