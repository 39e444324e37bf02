package service

import (
	"context"
	"fmt"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// RetryJob has a waiting or dead job run at once. It returns the job, which is due then.
func (s *Service) RetryJob(ctx context.Context, by commerce.Actor, job commerce.Job) (commerce.Job, error) {
	cmd := command.RetryJob{Job: job.Key(), Kind: job.Kind}
	about, err := s.subjectOf(ctx, job)
	if err != nil {
		return job, err
	}
	if about.order != nil {
		facts := command.FactsOf(*about.order)
		cmd.Facts, cmd.Attempt = &facts, about.attempt
	}
	return act(ctx, s, by, deedOf("retry_job", job), cmd)
}

// subject has the rows that a job is about.
type subject struct {
	order   *commerce.Order // nil: no order
	refund  commerce.Refund
	attempt int64 // of the delivery
}

// deedOf names an act on a job. The owner of a job about an order is its store.
func deedOf(action string, job commerce.Job) deed {
	if isAboutOrder(job.Kind) {
		return deed{action, job.Owner, job.ID}
	}
	return deed{action, "", job.ID}
}

func isAboutOrder(kind commerce.JobKind) bool {
	switch kind {
	case commerce.JobDeliverWebhook, commerce.JobReleaseParked, commerce.JobSandboxStep, commerce.JobSandboxCallback:
		return false
	}
	return true
}

func (s *Service) subjectOf(ctx context.Context, job commerce.Job) (about subject, err error) {
	if !isAboutOrder(job.Kind) {
		return about, nil
	}
	orderID := job.Subject
	switch job.Kind {
	case commerce.JobRefund:
		if about.refund, err = s.reader.Refund(ctx, commerce.RefundKey{StoreID: job.Owner, RefundID: job.Subject}); err != nil {
			return about, fmt.Errorf("refund %s: %w", job.Subject, err)
		}
		orderID = about.refund.OrderID
	case commerce.JobDispatch, commerce.JobCheckDelivery:
		orderID, about.attempt, _ = commerce.ParseDeliveryRef(job.Subject)
	}
	order, err := s.reader.Order(ctx, commerce.OrderKey{StoreID: job.Owner, OrderID: orderID})
	if err != nil {
		return about, fmt.Errorf("order %s: %w", orderID, err)
	}
	about.order = &order
	return about, nil
}
