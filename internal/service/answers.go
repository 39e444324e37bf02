package service

import (
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

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
