package service

import (
	"context"
	"errors"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// Once makes a call take effect at most once.
type Once[R any] struct {
	// Key is the idempotency key and its scope. If Key.Key is empty, the caller gave no
	// key, and a repeat of the call is a new call.
	Key         commerce.ReplyKey
	Fingerprint [32]byte // SHA-256 of the decoded request, encoded again; equal for repeats
	// Encode makes the answer of an accepted call. It runs inside the batch, so that the
	// stored bytes are the bytes that are answered. Status 0 means that a job decides the
	// answer, and that there is no answer for the meantime.
	Encode func(R) (status int, body []byte)
}

// Outcome is the outcome of a call.
type Outcome[R any] struct {
	// Result is set for calls without a key, Reply for calls with one.
	Result   R
	Reply    Reply
	Replayed bool     // the call was a repeat, and changed nothing
	Pending  *Pending // nil: the answer is decided
}

// Reply is an answer in the form in which it is stored for an idempotency key. Status 0
// means that there is no answer yet.
type Reply struct {
	Status int
	Body   []byte
}

// Pending reports that the provider has not answered within waitTime. The job goes on, and
// a repeat of the call under its key gets the result. If the Outcome has a Reply, it is
// the answer for the meantime.
type Pending struct {
	OrderID string // the order that the call made; empty: none, or unknown
}

// waitTime is how long a call waits for a provider.
const waitTime = 10 * time.Second

// refusal returns the error of a call whose job released the key because the provider
// refused.
type refusal func(ctx context.Context, job commerce.Job) error

// neverRefused is the refusal of calls whose jobs always close their key.
func neverRefused(context.Context, commerce.Job) error {
	return errors.New("the stored answer is gone")
}

// once runs the command of a call, at most once if the call has a key. If the command adds
// jobs that decide the answer, once runs these jobs and waits for the answer.
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
	if len(jobs) == 0 { // the call is a repeat, and its job still runs
		job, err := s.reader.Job(context.WithoutCancel(ctx), stored.Job)
		if err != nil { // the job is done by now; decided reads the reply in any case
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

// decided runs jobs, waits for them, and returns the reply that they decide, or meanwhile
// if it is not decided in time. The reply stays open until the last job has decided. A job
// without a Subject is known by its key alone.
func (s *Service) decided(ctx context.Context, key commerce.ReplyKey, jobs []commerce.Job, meanwhile Reply, refused refusal) (Reply, *Pending, error) {
	gone := context.WithoutCancel(ctx) // for reads that must succeed even if the caller has gone
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
	case errors.Is(err, storage.ErrNotFound): // the job just released the key for another call: a repeat is a new call
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
	errs := make([]error, len(jobs))
	finishes := make([]func(), len(jobs))
	for i, job := range jobs {
		finishes[i] = func() { errs[i] = s.o.Jobs.Finish(ctx, job.Key()) }
	}
	s.o.Env.Together(finishes...)
	return errors.Join(errs...)
}

// madeOrder returns the order that was made by the call that asked for the job. It is
// empty if the call made no order or the job is unknown.
func madeOrder(job commerce.Job) string {
	if job.Kind != commerce.JobOpenSession {
		return ""
	}
	return job.Subject
}

// roomForReply refuses a new call with an idempotency key if the stored replies of the
// partner have reached their limit as of the last count: ReplyBytes with the default rate
// limit, and in proportion more with a higher one. Repeats are not refused.
func (s *Service) roomForReply(ctx context.Context, p commerce.Partner, key commerce.ReplyKey) error {
	most := float64(s.o.ReplyBytes) * max(1, float64(p.RateLimit)/commerce.DefaultRateLimit)
	if stored := s.replies.Load(); stored == nil || float64((*stored)[p.ID]) < most {
		return nil
	}
	if _, err := s.reader.Reply(ctx, key); !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return ErrTooManyReplies
}
