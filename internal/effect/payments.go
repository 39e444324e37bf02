package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/payment"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// payments are the calls to payment processors.
type payments struct {
	recorder
	reads      paymentReads
	processors map[string]payment.Processor
}

type paymentReads interface {
	storage.Orders
	storage.Money
}

// sessionLife is how long a customer has to pay. It is counted from the order, so
// that a repeated call asks for the same session; processors end sessions after 24
// hours.
const sessionLife = 23 * time.Hour

// open creates the payment session of an order. If the process dies between the call
// and its record, the next attempt gets the same session, by the order's id.
func (p payments) open(ctx context.Context, job commerce.Job) jobs.Outcome {
	order, paid, processor, err := p.begun(ctx, job)
	if err != nil {
		return p.retryAfterLease(job, err)
	}
	record := command.RecordPaymentSession{RecordJob: p.recordJob(job), Facts: command.FactsOf(order)}
	session, err := processor.OpenSession(ctx, sessionRequest(order, paid))
	record.SessionID, record.URL = session.ID, session.URL
	if record.Refused, record.Failed = outcomeOf(err); deniedUs(err) {
		// If an earlier attempt opened a session, no customer has seen its page.
		record.Refused, record.Failed = commerce.ProcessorRefusesUs, nil
	}
	return outcome(p.recorder, p.uses.RecordPaymentSession, record, record.Failed)
}

// begun returns the order whose session is to be opened. If this process has just
// saved the order, it needs no read. The request depends only on fields that never
// change.
func (p payments) begun(ctx context.Context, job commerce.Job) (commerce.Order, commerce.Payment, payment.Processor, error) {
	if job.Order == nil || job.Payment == nil {
		return p.load(ctx, commerce.OrderKey{StoreID: job.Owner, OrderID: job.Subject})
	}
	return *job.Order, *job.Payment, p.processor(*job.Payment), nil
}

// sessionRequest returns the request for a payment session. It is made of fields that
// never change, because processors accept one request per idempotency key.
func sessionRequest(order commerce.Order, paid commerce.Payment) payment.SessionRequest {
	r := payment.SessionRequest{
		OrderID: order.ID, StoreName: paid.StoreName, DeliveryFeeCents: order.DeliveryFeeCents, TaxCents: order.TaxCents, TotalCents: order.TotalCents,
		CustomerEmail: order.CustomerEmail, SuccessURL: paid.SuccessURL, CancelURL: paid.CancelURL,
		ExpiresOn: order.CreatedOn.Add(sessionLife),
	}
	if order.Fulfillment == commerce.ByDelivery {
		r.DeliverTo = doorOf(order.Address)
	}
	for i, l := range order.Lines {
		r.Lines = append(r.Lines, payment.Line{Name: paid.Titles[i].Name, ImageURL: paid.Titles[i].ImageURL, PriceCents: l.PriceCents, Quantity: l.Quantity})
	}
	return r
}

// doorOf returns an address as written on a parcel.
func doorOf(a *commerce.DeliveryAddress) (lines []string) {
	if a == nil {
		return nil
	}
	at := a.Address
	for _, line := range []string{a.Name, at.Line1, at.Line2, strings.Join(strings.Fields(at.City+", "+at.State+" "+at.PostalCode), " ")} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// expire ends the session of an order that is over. If the customer has paid before,
// the money is refunded. If the processor refuses to end the session, its page still
// takes money: that is a failed attempt, and a payment is refunded.
func (p payments) expire(ctx context.Context, job commerce.Job) jobs.Outcome {
	order, paid, processor, err := p.load(ctx, commerce.OrderKey{StoreID: job.Owner, OrderID: job.Subject})
	if err != nil {
		return p.retryAfterLease(job, err)
	}
	session, err := processor.ExpireSession(ctx, paid.SessionID)
	key, by := job.Key(), commerce.SystemActor(paid.TraceID)
	switch {
	case err != nil:
		record := p.recordJob(job)
		record.Failed = err
		return outcome(p.recorder, p.uses.RecordJob, record, err)
	case session.Status == payment.SessionPaid:
		return p.succeeded(func(ctx context.Context) error {
			return p.uses.RecordPayment(ctx, by, service.RecordPayment{OrderID: order.ID, SessionID: session.ID, PaymentID: session.PaymentID,
				AmountCents: session.PaidCents, Job: &key})
		})
	case session.Status == payment.SessionPending: // a callback reports the arrival of the money
		return p.done(job)
	}
	return p.succeeded(func(ctx context.Context) error {
		return p.uses.RecordPaymentCallback(ctx, by, service.RecordPaymentCallback{OrderID: order.ID, Kind: service.CallbackExpired, Job: &key})
	})
}

// refund returns money to the customer. If the process dies between the call and its
// record, the next attempt does not refund again, by the refund's id.
func (p payments) refund(ctx context.Context, job commerce.Job) jobs.Outcome {
	refund, err := p.reads.Refund(ctx, commerce.RefundKey{StoreID: job.Owner, RefundID: job.Subject})
	if err != nil {
		return p.retryAfterLease(job, err)
	}
	order, paid, processor, err := p.load(ctx, commerce.OrderKey{StoreID: job.Owner, OrderID: refund.OrderID})
	if err != nil {
		return p.retryAfterLease(job, err)
	}
	record := command.RecordRefund{RecordJob: p.recordJob(job), Facts: command.FactsOf(order), RefundID: refund.ID}
	made, err := processor.Refund(ctx, payment.RefundRequest{ID: refund.ID, OrderID: order.ID, SessionID: paid.SessionID,
		PaymentID: paid.PaymentID, AmountCents: refund.AmountCents, Reason: refund.Reason})
	record.Ref = made.ID
	if record.Refused, record.Failed = outcomeOf(err); deniedUs(err) && job.Awaited {
		// This was the first attempt, so nothing was refunded. After an earlier
		// attempt that was cut, the processor may have made the refund: then the
		// amount stays reserved.
		record.Refused, record.Failed = commerce.ProcessorRefusesUs, nil
	}
	return outcome(p.recorder, p.uses.RecordRefund, record, record.Failed)
}

func (p payments) load(ctx context.Context, key commerce.OrderKey) (commerce.Order, commerce.Payment, payment.Processor, error) {
	order, err := p.reads.Order(ctx, key)
	if err != nil {
		return order, commerce.Payment{}, nil, fmt.Errorf("order %s: %w", key.OrderID, err)
	}
	paid, err := p.reads.Payment(ctx, key)
	if err != nil {
		return order, paid, nil, fmt.Errorf("payment of order %s: %w", key.OrderID, err)
	}
	return order, paid, p.processor(paid), nil
}

func (p payments) processor(paid commerce.Payment) payment.Processor {
	if processor, ok := p.processors[paid.Processor]; ok {
		return processor
	}
	return notConfigured{name: paid.Processor}
}

// outcomeOf separates a definite refusal from an error that leaves the outcome open.
func outcomeOf(err error) (refused string, failed error) {
	if r, ok := errors.AsType[*payment.Refusal](err); ok {
		return cmp.Or(r.Message, "refused"), nil
	}
	return "", err
}

// deniedUs reports whether a processor refused our credentials rather than the call.
func deniedUs(err error) bool {
	_, denied := errors.AsType[*commerce.CredentialsError](err)
	return denied
}

// notConfigured is the error for a processor that the operator has removed from the
// configuration.
type notConfigured struct {
	payment.Processor // nil: jobs call the methods below only
	name              string
}

func (n notConfigured) err() error {
	return fmt.Errorf("the payment processor %q is not configured any more", n.name)
}

func (n notConfigured) OpenSession(context.Context, payment.SessionRequest) (payment.Session, error) {
	return payment.Session{}, n.err()
}

func (n notConfigured) ExpireSession(context.Context, string) (payment.Session, error) {
	return payment.Session{}, n.err()
}

func (n notConfigured) Refund(context.Context, payment.RefundRequest) (payment.Refund, error) {
	return payment.Refund{}, n.err()
}
