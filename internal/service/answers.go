package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// Answers encodes the answers that jobs decide: the HTTP status and the body, made from
// the rows as they are then. The API implements it.
type Answers interface {
	CheckedOut(o commerce.Order, p commerce.Payment) (status int, body []byte)
	Reported(o commerce.Order, traceID string) (status int, body []byte)
	Refunded(r commerce.Refund) (status int, body []byte)
	Cancelled(o commerce.Order, d commerce.Delivery, refund *commerce.Refund) (status int, body []byte)
}

// recordAnswer runs the command that records the outcome of a job for which a call may
// wait. It returns the job as it goes on.
func (s *Service) recordAnswer(ctx context.Context, job commerce.Job, record commit.Command[command.Recorded]) (commerce.Job, error) {
	recorded, err := commit.Do(ctx, s.committer, answering(s.o.Answers, job, record))
	return recorded.Job, err
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

// CancelRefund returns the id of the refund that was asked for by the call that cancelled
// the order, if the answer of this call waits for the job. The order and the refund were
// stored together.
func CancelRefund(ctx context.Context, r storage.Money, job commerce.Job, order commerce.Order) (id string, err error) {
	if job.ReplyTo.Key == "" {
		return "", nil
	}
	refunds, err := r.Refunds(ctx, order.Key())
	for _, refund := range refunds {
		if refund.Origin == commerce.RefundCancelled {
			id = refund.ID
		}
	}
	return id, err
}
