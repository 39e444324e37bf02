package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// Command is a change of state, as package commit runs it.
type Command[R any] = commit.Command[R]

// Do runs a command that needs no facts, ids or audit entry: a job, a sandbox or a cache has
// all that the command depends on.
func Do[R any](ctx context.Context, s *Service, cmd Command[R]) (R, error) {
	return commit.Do(ctx, s.committer, cmd)
}

// DoJobs is Do, and also returns the jobs that the command enqueues.
func DoJobs[R any](ctx context.Context, s *Service, cmd Command[R]) (R, []commerce.Job, error) {
	return commit.DoJobs(ctx, s.committer, cmd)
}

// Record runs the command that records an attempt of a job. If the attempt decides the
// answer of a call that waits for the job, the same batch stores the answer. Record returns
// the job as it goes on, or the zero Job if the command does not return it.
func Record[R any](ctx context.Context, s *Service, job commerce.Job, cmd Command[R]) (commerce.Job, error) {
	if deciding, ok := any(cmd).(Command[command.Recorded]); ok {
		recorded, err := commit.Do(ctx, s.committer, answering(s.o.Answers, job, deciding))
		return recorded.Job, err
	}
	result, err := commit.Do(ctx, s.committer, cmd)
	next, _ := any(result).(commerce.Job)
	return next, err
}

// Answers encodes the answers that jobs decide: the HTTP status and the body, made from
// the rows as they are then. The API implements it.
type Answers interface {
	CheckedOut(o commerce.Order, p commerce.Payment) (status int, body []byte)
	Reported(o commerce.Order, traceID string) (status int, body []byte)
	Refunded(r commerce.Refund) (status int, body []byte)
	Cancelled(o commerce.Order, d commerce.Delivery, refund *commerce.Refund) (status int, body []byte)
}

// answering wraps the command that records the outcome of a job. In the same batch it
// closes the reply that waits for the job.
func answering(a Answers, job commerce.Job, record commit.Command[command.Recorded]) commit.Command[command.Recorded] {
	return commit.Close(job, record, func(r command.Recorded) (int, []byte) {
		switch {
		case job.Kind == commerce.JobOpenSession:
			return a.CheckedOut(r.Order, r.Payment)
		case job.Kind == commerce.JobDispatch:
			return a.Reported(r.Order, r.Delivery.TraceID)
		case job.Kind == commerce.JobRefund && r.Refund.Origin == commerce.RefundAsked:
			return a.Refunded(*r.Refund)
		}
		return a.Cancelled(r.Order, r.Delivery, r.Refund)
	})
}
