// Package effect does the jobs: each kind calls one port and has the outcome
// recorded by one use case.
package effect

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"purveyor/internal/certify"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/mail"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/outside/sms"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/tracing"
)

// Sender posts webhooks.
type Sender interface {
	Send(ctx context.Context, r webhook.Request) webhook.Result
}

// Options are the dependencies of all effects, each of which uses some of them.
type Options struct {
	Env    env.Env
	Queue  storage.Queue
	Reads  Reads
	Uses   *service.Service // records outcomes; it needs its Answers
	Runner *jobs.Runner     // runs the jobs; the committer hands new ones to it
	// Failed is called for each failed attempt of a job, as jobs.Options says; nil:
	// it is not called.
	Failed func(job commerce.Job, err error, dead bool)
	// Tried is told of each try of a job, as jobs.Options says; nil: it is not called.
	Tried func(kind commerce.JobKind, result jobs.Result, took time.Duration)
	// Tracer makes spans of attempts; nil: it makes none.
	Tracer *tracing.Tracer
	// Sent is told of each webhook that was sent, and when its event happened. first: it is the first try.
	// Nil: it is not called.
	Sent   func(result webhook.Result, event commerce.Millis, first bool)
	Sender Sender
	// AppendWebhook appends the body by which an event is pushed.
	AppendWebhook func(b []byte, e commerce.WebhookEvent) []byte
	Mailer        mail.Mailer // nil: mail is kept in the outbox
	PublicURL     string      // with which links in mails begin
	Texter        sms.Texter  // nil: texts are kept in the outbox

	// Processors take payments, by the names that payments store.
	Processors map[string]payment.Processor
	// Fleet delivers, and Geocoder finds the places of addresses.
	Fleet    courier.Fleet
	Geocoder geocode.Geocoder

	// Requests is where certification sees the calls of integrations; nil: there is none.
	Requests *requestlog.Log

	// Movers move objects of sandboxes, by the prefix of their ids.
	Movers map[string]sandbox.Mover
	// Post sends a sandbox's callbacks to the inbound path with that name; nil: there
	// is no sandbox.
	Post func(ctx context.Context, to string, body []byte) error
}

// How many jobs of one lane run at a time.
const (
	webhookWidth  = 16
	messageWidth  = 4
	providerWidth = 32
	holdWidth     = 8
)

// Jobs that wait for the same thing share a pool.
const (
	webhookPool = jobs.Pool("webhooks")
	messagePool = jobs.Pool("messages")
	paymentPool = jobs.Pool("payments")
	courierPool = jobs.Pool("couriers")
	sandboxPool = jobs.Pool("sandbox")
	certifyPool = jobs.Pool("certify")
	holdPool    = jobs.Pool("holds") // of jobs that call no provider
)

// pools bounds the concurrent attempts of each pool.
var pools = map[jobs.Pool]int{webhookPool: 256, messagePool: 32, paymentPool: 64, courierPool: 64, sandboxPool: 64, holdPool: 16, certifyPool: 8}

// Start begins to do jobs, until the runner that it returns is stopped. The jobs of new
// commits start at once.
func Start(o Options) *jobs.Runner {
	w := &webhooks{o, &recipients{Options: o}, newTries(o)}
	m, p, c, s := messages{o}, payments{o}, couriers{o}, sandboxes{o}
	o.Runner.Handle(jobs.Options{Queue: queue{o.Queue, o.Reads}, Ledger: o.Uses, Panicked: o.failed, Failed: o.Failed, Tried: o.Tried, Tracer: o.Tracer, Pools: pools, Kinds: map[commerce.JobKind]jobs.Kind{
		commerce.JobDeliverWebhook:  {Do: w.deliver, Pool: webhookPool, Width: webhookWidth},
		commerce.JobReleaseParked:   {Do: w.release, Pool: webhookPool, Width: 1},
		commerce.JobMailReady:       {Do: o.about(m.send), Pool: messagePool, Width: messageWidth},
		commerce.JobMailPaid:        {Do: o.about(m.send), Pool: messagePool, Width: messageWidth},
		commerce.JobMailAlarm:       {Do: m.alarm, Pool: messagePool, Width: messageWidth},
		commerce.JobTextPaid:        {Do: o.about(m.send), Pool: messagePool, Width: messageWidth},
		commerce.JobMemberLink:      {Do: m.sendLink, Pool: messagePool, Width: messageWidth},
		commerce.JobOpenSession:     {Do: o.about(p.open), Pool: paymentPool, Width: providerWidth},
		commerce.JobExpireSession:   {Do: o.about(p.expire), Pool: paymentPool, Width: providerWidth},
		commerce.JobEndHold:         {Do: o.about(o.endHold), Pool: holdPool, Width: holdWidth},
		commerce.JobRefund:          {Do: o.about(p.refund), Pool: paymentPool, Width: providerWidth},
		commerce.JobDispatch:        {Do: o.about(c.dispatch), Pool: courierPool, Width: providerWidth},
		commerce.JobCancelDelivery:  {Do: o.about(c.cancel), Pool: courierPool, Width: providerWidth},
		commerce.JobCourierUpdate:   {Do: o.about(c.tell), Pool: courierPool, Width: providerWidth},
		commerce.JobCheckDelivery:   {Do: o.about(c.check), Pool: courierPool, Width: providerWidth},
		commerce.JobCertify:         {Do: (&certification{Options: o, met: map[string]map[string]certify.Request{}}).step, Pool: certifyPool, Width: 1},
		commerce.JobSandboxStep:     {Do: s.step, Pool: sandboxPool, Width: 1, Apart: true},
		commerce.JobSandboxCallback: {Do: s.send, Pool: sandboxPool, Width: 1, Apart: true},
	}})
	o.Runner.Run(w.watch)
	return o.Runner
}

// queue is storage as the runner uses it.
type queue struct {
	storage.Queue
	Reads
}

// ClaimJobs also reads the events of webhook jobs: one read for all costs a fraction
// of one for each.
func (q queue) ClaimJobs(ctx context.Context, c storage.JobClaim) ([]commerce.Job, error) {
	list, err := q.Queue.ClaimJobs(ctx, c)
	var keys []commerce.EventKey
	for _, j := range list {
		if j.Kind == commerce.JobDeliverWebhook {
			keys = append(keys, eventKey(j))
		}
	}
	if err != nil || len(keys) == 0 {
		return list, err
	}
	events, err := q.WebhookEvents(ctx, keys)
	if err != nil {
		slog.Warn("webhook events could not be read with their jobs; each attempt reads its own", "events", len(keys), "error", err)
	}
	for i, j := range list {
		if event, found := events[eventKey(j)]; found && j.Kind == commerce.JobDeliverWebhook {
			list[i].Event = &event
		}
	}
	return list, nil
}

// eventKey returns the key of the event that a job delivers.
func eventKey(j commerce.Job) commerce.EventKey {
	partnerID, _ := commerce.SplitOwner(j.Owner)
	return commerce.EventKey{PartnerID: partnerID, ID: j.Subject}
}

// recordJob returns the record of an attempt of a job. Without an error in it, the attempt
// succeeded.
func (o Options) recordJob(job commerce.Job) command.RecordJob {
	return command.RecordJob{Job: job, Delays: job.Kind.Delays(), Jitter: o.Env.Jitter()}
}

// about makes the attempts of a kind of job from do, which gets the rows that the job is
// about.
func (o Options) about(do func(context.Context, commerce.Job, service.Subject) jobs.Outcome) func(context.Context, commerce.Job) jobs.Outcome {
	return func(ctx context.Context, job commerce.Job) jobs.Outcome {
		subject, err := o.Uses.ReadSubject(ctx, job)
		if err != nil {
			return o.retryAfterLease(job, err)
		}
		return do(ctx, job, subject)
	}
}

// retryAfterLease is the outcome of an attempt that could not read the job's subject.
// While the database is away, the job waits until its lease ends. A subject that does
// not exist, or cannot be read, makes the attempt fail.
func (o Options) retryAfterLease(job commerce.Job, err error) jobs.Outcome {
	if outage(err) {
		slog.Warn("a job waits for the database", "kind", job.Kind, "job", job.ID, "error", err)
		return jobs.Outcome{Err: err}
	}
	return o.failed(job, err)
}

// outage reports whether an error says that the database is away, or too slow.
func outage(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrAgain) || errors.Is(err, storage.ErrOutcomeUnknown) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// failed is the outcome of an attempt that failed. It changes the job only, because its
// subject may be unreadable.
func (o Options) failed(job commerce.Job, err error) jobs.Outcome {
	record := o.recordJob(job)
	record.Failed = err
	return outcome(o, job, record, err)
}

// endHold gives back what is held for an order that was not paid in time.
func (o Options) endHold(_ context.Context, job commerce.Job, about service.Subject) jobs.Outcome {
	return outcome(o, job, command.EndHold{RecordJob: command.RecordJob{Job: job}, Facts: about.Facts()}, nil)
}

// done ends a job that has nothing to do.
func (o Options) done(job commerce.Job) jobs.Outcome {
	return outcome(o, job, command.RecordJob{Job: job}, nil)
}

// outcome is the outcome of an attempt that failed or, if failed is nil, succeeded, with
// the command that records it.
func outcome[R any](o Options, job commerce.Job, record service.Command[R], failed error) jobs.Outcome {
	return jobs.Outcome{Err: failed, Record: func(ctx context.Context) (commerce.Job, error) {
		return service.Record(ctx, o.Uses, job, record)
	}}
}

// recipient is an endpoint with its partner. Its URL and secret are those of the partner if it
// is the callback URL.
type recipient struct {
	partner  commerce.Partner
	endpoint commerce.Endpoint
}

// Reads reads the rows that jobs are about.
type Reads interface {
	storage.Stores
	storage.Catalog
	storage.Partners
	storage.Endpoints
	storage.Events
	storage.Jobs
	storage.SandboxObjects
}

// recipients caches for a second where the events of partners go. It is bounded by
// the number of endpoints.
type recipients struct {
	Options
	known sync.Map // owner -> *entry
}

type entry struct {
	mu        sync.Mutex // held while it is read
	recipient recipient
	until     time.Time
}

const recipientFreshness = time.Second

// get reads a recipient, or waits for a caller that is just reading it.
func (p *recipients) get(ctx context.Context, owner string) (recipient, error) {
	known, _ := p.known.LoadOrStore(owner, &entry{})
	e := known.(*entry)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := p.Env.Now()
	if now.Before(e.until) {
		return e.recipient, nil
	}
	partnerID, id := commerce.SplitOwner(owner)
	partner, err := p.Reads.Partner(ctx, partnerID)
	if err != nil {
		return recipient{}, err
	}
	endpoints, err := p.Reads.Endpoints(ctx, []string{owner})
	if err != nil {
		return recipient{}, err
	}
	endpoint := endpoints[owner]
	endpoint.PartnerID, endpoint.ID = partnerID, id
	e.recipient, e.until = recipient{partner, endpoint.Of(partner)}, now.Add(recipientFreshness)
	return e.recipient, nil
}

// forget makes the next caller read the recipient again.
func (p *recipients) forget(owner string) { p.known.Delete(owner) }
