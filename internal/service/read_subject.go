package service

import (
	"context"
	"fmt"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// Subject has the rows that a job is about. Rows that the job is not about are not set.
type Subject struct {
	Order    commerce.Order
	Store    commerce.Store // of a message
	Payment  commerce.Payment
	Refund   commerce.Refund
	Delivery commerce.Delivery
	Attempt  int64 // of the delivery
	// CancelRefundID is the refund that was asked for by the call that cancelled the order,
	// if the answer of this call waits for the job. The order and the refund were stored
	// together.
	CancelRefundID string
}

// Facts returns the facts of the order.
func (about Subject) Facts() command.OrderFacts { return command.FactsOf(about.Order) }

// ReadSubject reads the rows that a job about an order is about.
func (s *Service) ReadSubject(ctx context.Context, job commerce.Job) (Subject, error) {
	about, err := s.orderOfJob(ctx, job)
	if err == nil {
		err = s.readAlong(ctx, job, &about)
	}
	return about, err
}

// orderOfJob reads the order of a job, and the refund that leads to it. For a job that
// only needs what never changes about an order, it takes the order that this process has
// just saved.
func (s *Service) orderOfJob(ctx context.Context, job commerce.Job) (about Subject, err error) {
	orderID := job.Subject
	switch job.Kind {
	case commerce.JobOpenSession, commerce.JobMailPaid, commerce.JobTextPaid:
		if job.Order != nil {
			return Subject{Order: *job.Order}, nil
		}
	case commerce.JobRefund:
		if about.Refund, err = s.reader.Refund(ctx, commerce.RefundKey{StoreID: job.Owner, RefundID: job.Subject}); err != nil {
			return about, fmt.Errorf("refund %s: %w", job.Subject, err)
		}
		orderID = about.Refund.OrderID
	case commerce.JobDispatch, commerce.JobCheckDelivery:
		orderID, about.Attempt, _ = commerce.ParseDeliveryRef(job.Subject)
	}
	if about.Order, err = s.reader.Order(ctx, commerce.OrderKey{StoreID: job.Owner, OrderID: orderID}); err != nil {
		err = fmt.Errorf("order %s: %w", orderID, err)
	}
	return about, err
}

// readAlong reads the other rows that a job is about.
func (s *Service) readAlong(ctx context.Context, job commerce.Job, about *Subject) (err error) {
	order, noun := about.Order.Key(), ""
	switch job.Kind {
	case commerce.JobMailReady, commerce.JobMailPaid, commerce.JobTextPaid:
		noun = "store"
		about.Store, err = s.reader.Store(ctx, order.StoreID)
	case commerce.JobOpenSession, commerce.JobExpireSession, commerce.JobRefund:
		noun = "payment"
		if job.Payment != nil && job.Kind == commerce.JobOpenSession { // what the session is opened with never changes
			about.Payment = *job.Payment
		} else {
			about.Payment, err = s.reader.Payment(ctx, order)
		}
	case commerce.JobDispatch, commerce.JobCancelDelivery, commerce.JobCheckDelivery:
		noun = "delivery"
		about.Delivery, err = s.reader.Delivery(ctx, order)
	}
	if err == nil && job.Kind == commerce.JobCancelDelivery && job.ReplyTo.Key != "" {
		noun = "refunds"
		about.CancelRefundID, err = s.refundOfCancel(ctx, order)
	}
	if err != nil {
		err = fmt.Errorf("%s of order %s: %w", noun, order.OrderID, err)
	}
	return err
}

func (s *Service) refundOfCancel(ctx context.Context, order commerce.OrderKey) (id string, err error) {
	refunds, err := s.reader.Refunds(ctx, order)
	for _, refund := range refunds {
		if refund.Origin == commerce.RefundCancelled {
			id = refund.ID
		}
	}
	return id, err
}
