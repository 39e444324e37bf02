package effect

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// certification plays the script of a run against a partner's integration.
type certification struct {
	Options

	mu sync.Mutex
	// met are the requests of runs that were read before, by the ids of runs and requests: rows of the log do not
	// change. Those of a run are dropped at its end.
	met map[string]map[string]certify.Request
}

// How long a run waits for its next step: while the integration acts at once, and while a person acts.
const (
	stepPause = 500 * time.Millisecond
	slowPause = 3 * time.Second
	quickTime = 2 * time.Minute
)

// step takes as many steps of a run as can be taken now. If we crash before they are on record, they are
// taken again: an act on an order has a key, and a fault or a webhook comes once more.
func (c *certification) step(ctx context.Context, job commerce.Job) jobs.Outcome {
	run, row, err := c.Uses.FindCertification(ctx, job.Owner)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && run.ID != job.Subject:
		return c.done(job)
	case err != nil:
		return c.retryAfterLease(job, err)
	}
	if c.Requests == nil { // the service was started again without a log
		run.State, run.Tasks = certify.Ended, nil
		return c.record(job, run, row, 0)
	}
	p, err := c.Reads.Partner(ctx, job.Owner)
	if err != nil {
		return c.retryAfterLease(job, err)
	}
	pause := stepPause
	if commerce.MillisOf(c.Env.Now()).Sub(run.StageOn) > quickTime {
		pause = slowPause
	}
	for more := true; more; {
		var seen certify.Seen
		if seen, err = c.see(ctx, p, run); err != nil {
			return c.retryAfterLease(job, err)
		}
		var acts []certify.Act
		run, acts = certify.Step(run, seen, commerce.MillisOf(c.Env.Now()))
		more = len(acts) > 0
		for _, a := range acts {
			forged, err := c.do(ctx, p, run, a)
			if err != nil {
				slog.Info("an act of a certification is done later", "run", run.ID, "act", a.Key, "error", err)
				more = false
				break
			}
			run = run.Did(a, forged)
			switch {
			case a.Fault != "": // processes know it a moment later
				more, pause = false, commerce.FaultFreshness+stepPause
			case a.Forge != "": // endpoints may take long, and the lease of the job is short
				more, pause = false, 0
			}
		}
	}
	if run.Over() {
		c.mu.Lock()
		delete(c.met, run.ID)
		c.mu.Unlock()
		if _, err := c.Uses.ClearFaults(ctx, c.caller(p)); err != nil {
			return c.retryAfterLease(job, err)
		}
	}
	return c.record(job, run, row, pause)
}

func (c *certification) record(job commerce.Job, run certify.Run, row commerce.Certification, pause time.Duration) jobs.Outcome {
	return jobs.Outcome{Record: func(ctx context.Context) (commerce.Job, error) {
		return c.Uses.StepCertification(ctx, job, run, row, pause)
	}}
}

// do does an act.
func (c *certification) do(ctx context.Context, p commerce.Partner, run certify.Run, a certify.Act) (certify.Forged, error) {
	by := c.caller(p)
	switch {
	case a.Fault != "":
		if _, err := c.Uses.ClearFaults(ctx, c.caller(p)); err != nil { // what did not hit belongs to an earlier stage
			return certify.Forged{}, err
		}
		_, err := c.Uses.MakeFault(ctx, by, commerce.Fault{Kind: a.Fault, Operation: a.Operation, Calls: a.Calls}, service.Once[commerce.Fault]{})
		return certify.Forged{}, err
	case a.Do != "":
		order, err := c.Uses.FindOrder(ctx, by, a.OrderID)
		if err != nil {
			return certify.Forged{}, err
		}
		_, err = c.Uses.ActInSandbox(ctx, by, service.SandboxAct{Order: order, Action: a.Do,
			Repeat: service.Repeat{Key: commerce.ReplyKey{PartnerID: p.ID, Op: "certify", Key: a.Key}}})
		return certify.Forged{}, err
	}
	return c.forge(ctx, p, run, a)
}

// caller acts for the partner in test mode.
func (c *certification) caller(p commerce.Partner) service.Caller {
	return service.Caller{Actor: commerce.Actor{Kind: commerce.ActorPartner, ID: p.ID, Mode: commerce.Test}, Partner: p}
}

// otherSecret signs what has the wrong signature.
const otherSecret = "whsec_bm90IHRoZSBzZWNyZXQgb2YgdGhlIGVuZHBvaW50"

// forge posts a webhook that is not as it should be. What must be refused is about an event of its own.
func (c *certification) forge(ctx context.Context, p commerce.Partner, run certify.Run, a certify.Act) (certify.Forged, error) {
	key := commerce.EventKey{PartnerID: p.ID, ID: a.EventID}
	found, err := c.Reads.WebhookEvents(ctx, []commerce.EventKey{key})
	if err != nil {
		return certify.Forged{}, err
	}
	e, err := c.Reads.Endpoints(ctx, []string{run.Endpoint})
	if err != nil {
		return certify.Forged{}, err
	}
	endpoint := e[run.Endpoint]
	_, endpoint.ID = commerce.SplitOwner(run.Endpoint)
	endpoint = endpoint.Of(p)
	event, now := found[key], commerce.MillisOf(c.Env.Now())
	r := webhook.Request{URL: endpoint.URL, At: now, Secret: endpoint.Secret}
	switch a.Forge {
	case certify.WrongSignature:
		event.ID, r.Secret = commerce.NewID(commerce.PrefixEvent, now, c.Env.Entropy()), otherSecret
	case certify.OldTime:
		event.ID, r.At = commerce.NewID(commerce.PrefixEvent, now, c.Env.Entropy()), now.Add(-10*time.Minute)
	}
	r.ID, r.Body = event.ID, c.AppendWebhook(nil, event)
	result := c.sendForged(ctx, r)
	if a.Forge == certify.Replay {
		result = c.sendForged(ctx, r)
	}
	return certify.Forged{EventID: event.ID, Status: result.Status}, nil
}

// forgedTime is how long an endpoint may take to answer what is forged.
const forgedTime = 8 * time.Second

func (c *certification) sendForged(ctx context.Context, r webhook.Request) webhook.Result {
	ctx, cancel := c.Env.WithTimeout(ctx, forgedTime)
	defer cancel()
	return c.Sender.Send(ctx, r)
}

// errPlayed is why a first try of a certification fails, whatever the endpoint has answered.
var errPlayed = errors.New("the certification plays an endpoint that fails; the next try is as always")

// play has the first try of a test event go wrong in the way that a run asks for. done: it is over.
func (w *webhooks) play(ctx context.Context, job commerce.Job, p recipient, event commerce.WebhookEvent) (o jobs.Outcome, done bool) {
	if event.Mode != commerce.Test || job.Tries > 0 {
		return o, false
	}
	row, err := w.Reads.Certification(ctx, event.PartnerID)
	if err == nil && !row.Runs(commerce.MillisOf(w.Env.Now())) {
		return o, false
	}
	var run certify.Run
	if err == nil {
		run, err = service.RunOf(row)
	}
	switch {
	case err != nil:
		return w.retryAfterLease(job, err), true
	case run.Endpoint != job.Owner:
		return o, false
	}
	switch run.PostOf(externalID(event)) {
	case certify.PostDown:
		return w.failed(job, errPlayed), true
	case certify.PostLate:
		return w.failed(job, errPlayed), event.Kind == commerce.WebhookAccepted
	case certify.PostSlow, certify.PostFailing:
		w.post(ctx, p, event, commerce.MillisOf(w.Env.Now()))
		return w.failed(job, errPlayed), true
	case certify.PostNever:
		return w.done(job), true
	case certify.PostDoubled:
		second := make(chan struct{})
		w.Env.Go(func() {
			defer close(second)
			w.post(ctx, p, event, commerce.MillisOf(w.Env.Now()))
		})
		o = w.send(ctx, job, p, event)
		w.Env.Await(second)
		return o, true
	}
	return o, false
}

// externalID is that of the order which an event is about, as it is in the event's data.
func externalID(event commerce.WebhookEvent) string {
	_, rest, _ := bytes.Cut(event.Data, []byte(`"external_order_id":"`))
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}
