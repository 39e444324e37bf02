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
)

// payments are the calls to payment processors.
type payments struct{ Options }

// sessionLife is how long a customer has to pay. It is counted from the order, so
// that a repeated call asks for the same session; processors end sessions after 24
// hours.
const sessionLife = 23 * time.Hour

// open creates the payment session of an order. If the process dies between the call
// and its record, the next attempt gets the same session, by the order's id.
func (p payments) open(ctx context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	record := command.RecordPaymentSession{RecordJob: p.recordJob(job), Facts: about.Facts()}
	session, err := askProcessor(ctx, p, about, payment.Processor.OpenSession, sessionRequest(about.Order, about.Payment))
	record.SessionID, record.URL = session.ID, session.URL
	// A refusal of our credentials is definite: if an earlier attempt opened a session, no
	// customer has seen its page.
	record.Refused, record.Failed = outcomeOf(err, true)
	return outcome(p.Options, job, record, record.Failed)
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
func doorOf(a *commerce.DeliveryAddress) []string {
	if a == nil {
		return nil
	}
	at := a.Address
	return nonEmpty(a.Name, at.Line1, at.Line2, strings.Join(strings.Fields(at.City+", "+at.State+" "+at.PostalCode), " "))
}

// expire ends the session of an order that is over. If the customer has paid before,
// the money is refunded. If the processor refuses to end the session, its page still
// takes money: that is a failed attempt, and a payment is refunded.
func (p payments) expire(ctx context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	session, err := askProcessor(ctx, p, about, payment.Processor.ExpireSession, about.Payment.SessionID)
	key, by := job.Key(), commerce.SystemActor(about.Payment.TraceID)
	switch {
	case err != nil:
		return p.failed(job, err)
	case session.Status == payment.SessionPaid:
		return outcome(p.Options, job, command.RecordPayment{Facts: about.Facts(), SessionID: session.ID, PaymentID: session.PaymentID,
			AmountCents: session.PaidCents, Actor: by, Job: &key}, nil)
	case session.Status == payment.SessionPending: // a callback reports the arrival of the money
		return p.done(job)
	}
	return outcome(p.Options, job, command.RecordPaymentCallback{Facts: about.Facts(), Kind: command.CallbackExpired, Actor: by, Job: &key}, nil)
}

// refund returns money to the customer. If the process dies between the call and its
// record, the next attempt does not refund again, by the refund's id.
func (p payments) refund(ctx context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	record := command.RecordRefund{RecordJob: p.recordJob(job), Facts: about.Facts(), RefundID: about.Refund.ID}
	made, err := askProcessor(ctx, p, about, payment.Processor.Refund, payment.RefundRequest{ID: about.Refund.ID, OrderID: about.Order.ID, SessionID: about.Payment.SessionID,
		PaymentID: about.Payment.PaymentID, AmountCents: about.Refund.AmountCents, Reason: about.Refund.Reason})
	record.Ref = made.ID
	// If the processor refuses our credentials at the first attempt, nothing was refunded.
	// After an earlier attempt that was cut, the processor may have made the refund: then
	// the amount stays reserved.
	record.Refused, record.Failed = outcomeOf(err, job.Awaited)
	return outcome(p.Options, job, record, record.Failed)
}

// askProcessor calls the processor of a payment, unless the operator has removed that processor
// from the configuration.
func askProcessor[In, Out any](ctx context.Context, p payments, about service.Subject, method func(payment.Processor, context.Context, In) (Out, error), in In) (out Out, err error) {
	processor, known := p.Processors[about.Payment.Processor]
	if !known {
		return out, fmt.Errorf("the payment processor %q is not configured any more", about.Payment.Processor)
	}
	return method(processor, ctx, in)
}

// outcomeOf separates a definite refusal from an error that leaves the outcome open. An
// answer that refuses our credentials is definite if no earlier call counts.
func outcomeOf(err error, noEarlierCall bool) (refused string, failed error) {
	if r, ok := errors.AsType[*payment.Refusal](err); ok {
		return cmp.Or(r.Message, "refused"), nil
	}
	if _, denied := errors.AsType[*commerce.CredentialsError](err); denied && noEarlierCall {
		return commerce.ProcessorRefusesUs, nil
	}
	return "", err
}
