package effect

import (
	"context"
	"errors"
	"sync"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// webhooks delivers events to the endpoints of partners.
type webhooks struct {
	Options
	recipients *recipients
	tries      *tries
}

// deliver makes one attempt, unless the partner is suspended, or the endpoint holds
// its jobs and this is not its probe. Reading and sending share the time of the
// attempt.
func (w *webhooks) deliver(ctx context.Context, job commerce.Job) jobs.Outcome {
	p, err := w.recipients.get(ctx, job.Owner)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && p.endpoint.URL == "": // the partner no longer wants webhooks there
		return w.done(job)
	case err != nil:
		return w.retryAfterLease(job, err)
	case p.partner.Suspended, p.endpoint.Holds() && job.State != commerce.JobParked:
		return w.park(job)
	}
	event, found, err := w.event(ctx, job)
	switch {
	case err != nil:
		return w.retryAfterLease(job, err)
	case !found: // the event has expired
		return w.done(job)
	}
	if played, over := w.play(ctx, job, p, event); over {
		return played
	}
	return w.send(ctx, job, p, event)
}

// event returns the event of a job. The process usually has it since it saved or
// claimed the job, except for a probe, or if it could not be read then.
func (w *webhooks) event(ctx context.Context, job commerce.Job) (commerce.WebhookEvent, bool, error) {
	if job.Event != nil {
		return *job.Event, true, nil
	}
	// Stopping the process cuts the sending; reading continues until then.
	uncut := context.WithoutCancel(ctx)
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		uncut, cancel = w.Env.WithDeadline(uncut, end)
		defer cancel()
	}
	found, err := w.Reads.WebhookEvents(uncut, []commerce.EventKey{eventKey(job)})
	event, ok := found[eventKey(job)]
	return event, ok, err
}

// post sends an event once.
func (w *webhooks) post(ctx context.Context, p recipient, event commerce.WebhookEvent, at commerce.Millis) webhook.Result {
	return w.Sender.Send(ctx, webhook.Request{
		URL: p.endpoint.URL, ID: event.ID, Body: w.AppendWebhook(make([]byte, 0, len(event.Data)+roomBeside), event), At: at,
		Secret: p.endpoint.Secret, PreviousSecret: p.endpoint.Previous(at),
	})
}

// roomBeside is roughly the size of a webhook's body without its data.
const roomBeside = 256

func (w *webhooks) send(ctx context.Context, job commerce.Job, p recipient, event commerce.WebhookEvent) jobs.Outcome {
	at := commerce.MillisOf(w.Env.Now())
	result := w.post(ctx, p, event, at)
	if w.Sent != nil {
		w.Sent(result, event.Timestamp, job.Tries == 0)
	}
	try := command.WebhookTry{Job: job, RetryAfter: result.RetryAfter, Jitter: w.Env.Jitter(),
		Attempt: commerce.WebhookAttempt{PartnerID: event.PartnerID, Endpoint: p.endpoint.ID, EventID: event.ID, URL: commerce.WithoutPassword(p.endpoint.URL),
			At: at, TookMs: result.TookMs, Status: result.Status, Error: result.Error, Answer: result.Answer}}
	delivered := try.Attempt.Delivered()
	var failed error
	if !delivered {
		failed = errors.New(result.Error)
	}
	return jobs.Outcome{Err: failed, Record: func(context.Context) (commerce.Job, error) {
		next, err := w.tries.record(try)
		if !delivered || job.State == commerce.JobParked { // the state of the endpoint has changed
			w.recipients.forget(job.Owner)
		}
		return next, err
	}}
}

// park leaves a job with its endpoint. If the endpoint no longer holds its jobs, the
// job is due at once.
func (w *webhooks) park(job commerce.Job) jobs.Outcome {
	return jobs.Outcome{Record: func(ctx context.Context) (commerce.Job, error) {
		parked, err := service.Do(ctx, w.Uses, command.ParkJobs{Owner: job.Owner, Jobs: []commerce.Job{job}})
		if err == nil && parked == 0 {
			w.recipients.forget(job.Owner)
			w.Runner.Wake()
		}
		return commerce.Job{}, err
	}}
}

// One attempt releases no more than this. Others have their turn before the rest.
const (
	releaseAtOnce = 1000
	releaseRounds = 10
)

// release makes the parked jobs of an endpoint that answers again due.
func (w *webhooks) release(ctx context.Context, job commerce.Job) jobs.Outcome {
	w.recipients.forget(job.Owner)
	for range releaseRounds {
		p, err := w.recipients.get(ctx, job.Owner)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return w.retryAfterLease(job, err)
		}
		if commerce.Parks(p.partner, p.endpoint) { // it is held again; a later release makes them due
			return w.done(job)
		}
		n, err := w.Queue.ReleaseParked(ctx, job.Owner, releaseAtOnce)
		if err != nil {
			return w.retryAfterLease(job, err)
		}
		w.Runner.Wake()
		if n < releaseAtOnce {
			return w.done(job)
		}
	}
	return outcome(w.Options, job, command.ReturnJobs{Jobs: []commerce.Job{job}}, nil)
}

// tries collects webhook attempts and records many in one transaction, which costs a
// fraction of recording each alone; no caller waits for a record. If we crash before
// a record, the webhook is sent again when the lease of its job ends.
type tries struct {
	Options
	now chan struct{} // has an element when there is no need to wait for more attempts

	mu      sync.Mutex
	ended   []*ended // not yet on record
	running bool
}

type ended struct {
	try  command.WebhookTry
	done chan struct{} // closed when the rest may be read
	job  commerce.Job  // in its new state
	err  error
}

const (
	collectTime = 50 * time.Millisecond
	collectMost = 256
	plenty      = 128
)

func newTries(o Options) *tries {
	return &tries{Options: o, now: make(chan struct{}, 1)}
}

// record records an attempt, and returns the job in its new state.
func (t *tries) record(try command.WebhookTry) (commerce.Job, error) {
	e := &ended{try: try, done: make(chan struct{})}
	t.add(e)
	t.Env.Await(e.done)
	return e.job, e.err
}

func (t *tries) add(e *ended) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = append(t.ended, e)
	if !t.running {
		t.running = true
		t.Env.Go(t.run)
	}
	// The next attempts need to know of a failure: it may hold the endpoint.
	if len(t.ended) >= plenty || !e.try.Attempt.Delivered() {
		select {
		case t.now <- struct{}{}:
		default:
		}
	}
}

// run records until there is nothing to record. Attempts that end while a transaction
// commits are in the next one.
func (t *tries) run() {
	for more := true; more; {
		t.Env.Wait(collectTime, t.now)
		t.mu.Lock()
		list := t.ended[:min(len(t.ended), collectMost)]
		t.ended = t.ended[len(list):]
		t.mu.Unlock()
		t.save(list)
		t.mu.Lock()
		more = len(t.ended) > 0
		t.running = more
		t.mu.Unlock()
	}
}

// save records attempts together. If that fails, it records each alone, so that one
// bad attempt does not fail the others.
func (t *tries) save(list []*ended) {
	cmd := command.RecordWebhookAttempts{Tries: make([]command.WebhookTry, len(list))}
	for i, e := range list {
		cmd.Tries[i] = e.try
	}
	jobs, err := t.Uses.RecordWebhookAttempts(context.Background(), cmd)
	for i, e := range list {
		if err != nil && len(list) > 1 {
			t.Env.Go(func() { t.save([]*ended{e}) })
			continue
		}
		if e.err = err; err == nil {
			e.job = jobs[i]
		}
		close(e.done)
	}
}
