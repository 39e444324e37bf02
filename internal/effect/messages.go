package effect

import (
	"context"
	"slices"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/mail"
	"purveyor/internal/outside/sms"
	"purveyor/internal/service"
)

// messages are e-mails and texts.
type messages struct{ Options }

// orderMessage is a message before it is known whether it can be sent.
type orderMessage struct {
	what     string // for people: "E-mail to the customer"
	message  commerce.UnsentMessage
	customer bool // the limits for texts of partners apply
	// moot are the statuses in which the message is pointless.
	moot []commerce.OrderStatus
}

// orderMessages write the messages, by the kind of job that sends them.
var orderMessages = map[commerce.JobKind]func(commerce.Order, commerce.Store) orderMessage{
	commerce.JobMailReady: func(o commerce.Order, s commerce.Store) orderMessage {
		return orderMessage{what: "E-mail to the customer", customer: true, message: readyMail(o, s), moot: []commerce.OrderStatus{commerce.Cancelled, commerce.Refunded}}
	},
	commerce.JobMailPaid: func(o commerce.Order, s commerce.Store) orderMessage {
		return orderMessage{what: "E-mail to the store", message: paidMail(o, s)}
	},
	commerce.JobTextPaid: func(o commerce.Order, s commerce.Store) orderMessage {
		return orderMessage{what: "SMS to the store", message: paidText(o, s)}
	},
}

// send sends the message of a job, or keeps it if it cannot be sent.
func (ms messages) send(ctx context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	it := orderMessages[job.Kind](about.Order, about.Store)
	if slices.Contains(it.moot, about.Order.Status) {
		return ms.done(job)
	}
	record := command.RecordMessage{RecordJob: ms.recordJob(job), Facts: about.Facts(), What: it.what}
	send := ms.transport(job, it.message)
	switch {
	case it.message.To == "":
		record.NotSent = "there is no address"
	case about.Order.Mode == commerce.Test:
		record.Kept = kept(it.message, commerce.UnsentTestMode)
	case send == nil:
		record.Kept = kept(it.message, commerce.UnsentNotConfigured)
	default:
		reason, err := ms.allow(ctx, job, record.Facts, it)
		switch {
		case err != nil:
			return ms.retryAfterLease(job, err)
		case reason != "":
			record.Kept = kept(it.message, reason)
		default:
			record.Failed = send(ctx)
		}
	}
	return outcome(ms.Options, job, record, record.Failed)
}

// sendOr sends a message that is about no order. If nothing is configured that could, it keeps
// another one.
func (ms messages) sendOr(ctx context.Context, job commerce.Job, message, instead commerce.UnsentMessage) jobs.Outcome {
	record := command.RecordMessage{RecordJob: ms.recordJob(job)}
	if send := ms.transport(job, message); send != nil {
		record.Failed = send(ctx)
	} else {
		record.Kept = kept(instead, commerce.UnsentNotConfigured)
	}
	return outcome(ms.Options, job, record, record.Failed)
}

// allow counts an e-mail to a customer. It returns a reason if the e-mail exceeds a
// limit.
func (ms messages) allow(ctx context.Context, job commerce.Job, facts command.OrderFacts, it orderMessage) (commerce.UnsentReason, error) {
	if !it.customer {
		return "", nil
	}
	return service.Do(ctx, ms.Uses, command.AllowMail{Facts: facts, JobID: job.ID, To: it.message.To})
}

func kept(m commerce.UnsentMessage, reason commerce.UnsentReason) *commerce.UnsentMessage {
	m.Reason = reason
	return &m
}

// transport returns the function that sends a message; nil: it cannot be sent. A
// repeat has the same id.
func (ms messages) transport(job commerce.Job, m commerce.UnsentMessage) func(context.Context) error {
	switch {
	case m.Kind == commerce.UnsentMail && ms.Mailer != nil:
		return func(ctx context.Context) error {
			return ms.Mailer.Send(ctx, mail.Message{ID: job.ID, To: m.To, Subject: m.Subject, Text: m.Text, HTML: m.HTML})
		}
	case m.Kind == commerce.UnsentSMS && ms.Texter != nil:
		return func(ctx context.Context) error { return ms.Texter.Send(ctx, sms.Message{To: m.To, Text: m.Text}) }
	}
	return nil
}
