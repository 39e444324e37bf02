package effect

import (
	"context"
	"errors"
	"fmt"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
)

// GiveUp returns the command by which an operator gives up a dead job: the command
// that records the last failed attempt of its kind, which also decides a waiting
// answer. If the job's subject does not exist or cannot be read, only the job is
// given up.
func GiveUp(ctx context.Context, r Reads, a Answers, job commerce.Job, by, reason string) (commit.Command[command.Recorded], error) {
	record := command.RecordJob{Job: job, Failed: errors.New(reason), GivenUpBy: by}
	cmd, err := recordOf(ctx, r, job, record)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrUnreadable) {
		return command.GiveUpJob{RecordJob: record}, nil
	}
	if err != nil {
		return nil, err
	}
	return answering(a, job, cmd), nil
}

// recordOf returns the command that records a failed attempt of a job.
func recordOf(ctx context.Context, r Reads, job commerce.Job, record command.RecordJob) (commit.Command[command.Recorded], error) {
	about, err := subjectOf(ctx, r, job)
	switch {
	case err != nil:
		return nil, err
	case about.order == nil:
		return command.GiveUpJob{RecordJob: record}, nil
	}
	facts := command.FactsOf(*about.order)
	switch job.Kind {
	case commerce.JobOpenSession:
		_, err := r.Payment(ctx, facts.Key)
		return command.RecordPaymentSession{RecordJob: record, Facts: facts}, err
	case commerce.JobRefund:
		return command.RecordRefund{RecordJob: record, Facts: facts, RefundID: about.refund.ID}, nil
	case commerce.JobDispatch:
		_, err := r.Delivery(ctx, facts.Key)
		return command.RecordDelivery{RecordJob: record, Facts: facts, Attempt: about.attempt}, err
	case commerce.JobCancelDelivery:
		refundID, err := cancelRefund(ctx, r, job, *about.order)
		if err == nil {
			_, err = r.Delivery(ctx, facts.Key)
		}
		return command.RecordDeliveryCancelled{RecordJob: record, Facts: facts, RefundID: refundID}, err
	}
	return command.GiveUpJob{RecordJob: record, Facts: &facts}, nil
}

// Retry returns the command by which an operator has a job tried at once.
func Retry(ctx context.Context, r Reads, job commerce.Job) (command.RetryJob, error) {
	cmd := command.RetryJob{Job: job.Key(), Kind: job.Kind}
	about, err := subjectOf(ctx, r, job)
	if err != nil {
		return cmd, err
	}
	if about.order != nil {
		facts := command.FactsOf(*about.order)
		cmd.Facts, cmd.Attempt = &facts, about.attempt
	}
	return cmd, nil
}

// subject is the subject of a job.
type subject struct {
	order   *commerce.Order // nil: it has no order
	refund  commerce.Refund
	attempt int64 // of the delivery
}

func subjectOf(ctx context.Context, r Reads, job commerce.Job) (s subject, err error) {
	orderID := job.Subject
	switch job.Kind {
	case commerce.JobDeliverWebhook, commerce.JobReleaseParked, commerce.JobSandboxStep, commerce.JobSandboxCallback:
		return s, nil
	case commerce.JobRefund:
		if s.refund, err = r.Refund(ctx, commerce.RefundKey{StoreID: job.Owner, RefundID: job.Subject}); err != nil {
			return s, fmt.Errorf("refund %s: %w", job.Subject, err)
		}
		orderID = s.refund.OrderID
	case commerce.JobDispatch, commerce.JobCheckDelivery:
		orderID, s.attempt, _ = commerce.ParseDeliveryRef(job.Subject)
	}
	order, err := r.Order(ctx, commerce.OrderKey{StoreID: job.Owner, OrderID: orderID})
	if err != nil {
		return s, fmt.Errorf("order %s: %w", orderID, err)
	}
	s.order = &order
	return s, nil
}
