package commerce

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// PauseReason says why no webhooks are sent to an endpoint.
type PauseReason string

// The reasons.
const (
	PausedGone     PauseReason = "gone"     // it answered 410
	PausedFailing  PauseReason = "failing"  // five days of nothing but failures
	PausedOperator PauseReason = "operator" // an operator paused it
	PausedPartner  PauseReason = "partner"  // its partner paused it
)

// Endpoint is a URL to which a partner's events go, and how it fares. The zero value is
// healthy.
//
// An endpoint is held after five failures in a row, or when an answer asks to wait. While
// it is held, its jobs are parked when they come up, and at HeldUntil the job with the
// lowest RunAt is attempted as a probe. A failed probe moves the RunAt of its job on, so an
// event that the endpoint always refuses does not block the others. One success releases
// all parked jobs.
type Endpoint struct {
	PartnerID      string
	ID             string // whe_; empty: the partner's callback URL, whose URL and secret the partner has
	URL, Secret    string
	Description    string
	Failures       int64  // in a row
	FailingSince   Millis // of the first of them; 0: none
	HeldUntil      Millis // of the next probe; 0: not held
	HeldSince      Millis // 0: not held
	Alarmed        Alarm  // the last one that people were told of; empty: none, or that it is healed
	PausedOn       Millis // 0: not paused
	PausedFor      PauseReason
	PreviousSecret string // also signs until PreviousUntil
	PreviousUntil  Millis
	DeliveredOn    Millis // of the last success, to the minute; 0: none
	CreatedOn      Millis // 0 of a callback URL: as the partner
	UpdatedOn      Millis
}

// Owner owns the jobs that deliver to the endpoint: the partner's id, or PARTNER/ENDPOINT.
func (e Endpoint) Owner() string { return EndpointOwner(e.PartnerID, e.ID) }

// Of is the endpoint with its URL and secret: those of a callback URL are the partner's.
func (e Endpoint) Of(p Partner) Endpoint {
	if e.ID == "" {
		e.URL, e.Secret = p.CallbackURL, p.CallbackSecret
	}
	return e
}

// EndpointOwner is the Owner of an endpoint by its ids; without an id that of the callback
// URL.
func EndpointOwner(partnerID, id string) string {
	if id == "" {
		return partnerID
	}
	return partnerID + "/" + id
}

// SplitOwner returns the ids that an Owner is made of.
func SplitOwner(owner string) (partnerID, endpointID string) {
	partnerID, endpointID, _ = strings.Cut(owner, "/")
	return partnerID, endpointID
}

// Route says which events of a partner go to an endpoint.
type Route struct {
	ID       string   // of the endpoint; empty: the callback URL
	Events   []string // kinds, "order.*", "delivery.*", "product.*", or "*"; empty: "*"
	Mode     Mode     // empty: both
	StoreIDs []string // empty: all of the partner
}

// EveryEvent stands for all kinds but those of products.
const EveryEvent = "*"

// Takes reports whether an event goes this way. An event of no store goes every way.
func (r Route) Takes(kind WebhookKind, mode Mode, storeID string) bool {
	if r.Mode != "" && r.Mode != mode || storeID != "" && len(r.StoreIDs) > 0 && !slices.Contains(r.StoreIDs, storeID) {
		return false
	}
	group, _, _ := strings.Cut(string(kind), ".")
	return (len(r.Events) == 0 || slices.Contains(r.Events, EveryEvent)) && group != "product" ||
		slices.Contains(r.Events, string(kind)) || slices.Contains(r.Events, group+".*")
}

// Kinds are the kinds of events that go this way.
func (r Route) Kinds() []WebhookKind {
	r.Mode, r.StoreIDs = "", nil
	return slices.DeleteFunc(slices.Clone(WebhookKinds), func(k WebhookKind) bool { return !r.Takes(k, "", "") })
}

// IsEventPattern reports whether a route can name events like this.
func IsEventPattern(text string) bool {
	switch text {
	case EveryEvent, "order.*", "delivery.*", "product.*":
		return true
	}
	return slices.Contains(WebhookKinds, WebhookKind(text))
}

// RouteOf is the route to an endpoint, and whether the partner has such an endpoint.
func (p Partner) RouteOf(id string) (Route, bool) {
	for _, r := range p.Routes {
		if r.ID == id {
			return r, true
		}
	}
	return Route{}, id == "" && p.CallbackURL != ""
}

// WithRoute is the partner with a route in place of the one to the same endpoint.
func (p Partner) WithRoute(r Route) Partner {
	p = p.WithoutRoute(r.ID)
	p.Routes = append(p.Routes, r)
	return p
}

// WithoutRoute is the partner without the route to an endpoint.
func (p Partner) WithoutRoute(id string) Partner {
	p.Routes = slices.DeleteFunc(slices.Clone(p.Routes), func(r Route) bool { return r.ID == id })
	return p
}

// Owners are the owners of all endpoints of the partner.
func (p Partner) Owners() (list []string) {
	if p.CallbackURL != "" {
		list = append(list, p.ID)
	}
	for _, r := range p.Routes {
		if r.ID != "" {
			list = append(list, EndpointOwner(p.ID, r.ID))
		}
	}
	return list
}

// Recipients are the owners of the endpoints that an event goes to.
func (p Partner) Recipients(kind WebhookKind, mode Mode, storeID string) (list []string) {
	for _, owner := range p.Owners() {
		_, id := SplitOwner(owner)
		if r, _ := p.RouteOf(id); r.Takes(kind, mode, storeID) {
			list = append(list, owner)
		}
	}
	return list
}

// The rules of BEHAVIOUR, Webhooks sent.
const (
	FailingAfter  = 5 // failures in a row
	PauseAfter    = 5 * day
	MaxRetryAfter = day
	SecretOverlap = day
	MaxEndpoints  = 16

	firstProbe = 5 * time.Second
	lastProbe  = time.Minute
)

// Failing reports whether so many attempts failed in a row that only probes are sent.
func (e Endpoint) Failing() bool { return e.Failures >= FailingAfter }

// Holds reports whether the endpoint's jobs are to be parked.
func (e Endpoint) Holds() bool { return e.HeldUntil != 0 || e.PausedOn != 0 }

// Parks reports whether the webhooks of a partner are to be parked, because the partner is
// suspended or its endpoint is held or paused.
func Parks(p Partner, e Endpoint) bool { return p.Suspended || e.Holds() }

// ProbeDue reports whether a parked job may be attempted.
func (e Endpoint) ProbeDue(now Millis) bool {
	return e.HeldUntil != 0 && e.PausedOn == 0 && due(e.HeldUntil, now)
}

// Pause stops all webhooks to the endpoint until it is resumed.
func (e Endpoint) Pause(reason PauseReason, now Millis) Endpoint {
	e.HeldUntil, e.HeldSince, e.PausedOn, e.PausedFor = 0, 0, now, reason
	return e
}

// Resume makes a probe due at once. Its success releases all parked jobs.
func (e Endpoint) Resume(now Millis) Endpoint {
	e = e.Healed()
	e.HeldUntil, e.HeldSince, e.PausedOn, e.PausedFor = now, now, 0, ""
	return e
}

// Moved is the endpoint at another URL. The failures of the old URL no longer count, but a
// pause by an operator stays.
func (e Endpoint) Moved(now Millis) Endpoint {
	if e.Holds() && e.PausedFor != PausedOperator {
		return e.Resume(now)
	}
	return e.Healed()
}

// Healed is the endpoint after a success, or when no job is left to probe it with. A pause
// stays.
func (e Endpoint) Healed() Endpoint {
	e.Failures, e.FailingSince, e.HeldUntil, e.HeldSince = 0, 0, 0, 0
	return e
}

// RotateSecret keeps the replaced secret as a second signing secret for a while.
func (e Endpoint) RotateSecret(replaced string, overlap time.Duration, now Millis) Endpoint {
	e.PreviousSecret, e.PreviousUntil = replaced, now.Add(overlap)
	return e
}

// EndRotation stops signing with the replaced secret.
func (e Endpoint) EndRotation() Endpoint {
	e.PreviousSecret, e.PreviousUntil = "", 0
	return e
}

// Previous is the replaced secret while it still signs, and else empty.
func (e Endpoint) Previous(now Millis) string {
	if now >= e.PreviousUntil {
		return ""
	}
	return e.PreviousSecret
}

// WebhookAttempt is the record of one request to an endpoint.
type WebhookAttempt struct {
	PartnerID string
	Endpoint  string // its id; empty: the callback URL
	EventID   string
	ID        string // given by the committer; its order is the order of commits
	URL       string
	At        Millis // of its start
	TookMs    int64
	Status    int64  // 0: no answer
	Error     string // for people; empty: delivered
	Answer    string // the beginning of the body, by CleanText
	Manual    bool   // the event was sent again by a person or its partner
}

// Resends reports whether a webhook's job was made later than its event, because it is to
// be sent again. The first one is made in the batch of the event.
func (j Job) Resends() bool {
	return TimeOfJob(j.ID) != TimeOfEvent(j.Subject)
}

// Delivered reports whether the partner accepted the event.
func (a WebhookAttempt) Delivered() bool { return a.Status/100 == 2 }

// Verdict is the consequence of an attempt.
type Verdict struct {
	Endpoint Endpoint
	Job      Job  // as it goes on; done when the attempt was delivered
	Release  bool // the endpoint's parked jobs wait again
}

// After decides the consequence of an attempt to deliver a job's event. An attempt of a
// parked job is a probe. retryAfter is the answer's Retry-After, 0 for none. The caller
// draws jitter from [0, 1).
func (e Endpoint) After(job Job, a WebhookAttempt, retryAfter time.Duration, now Millis, jitter float64) Verdict {
	if a.Delivered() {
		healed := e.Healed()
		if minute := now - now%Millis(time.Minute.Milliseconds()); healed.DeliveredOn < minute {
			healed.DeliveredOn = minute
		}
		return Verdict{Endpoint: healed, Job: job, Release: e.HeldUntil != 0}
	}
	retryAfter = min(max(retryAfter, 0), MaxRetryAfter)
	probe, dueOn := job.State == JobParked, job.RunAt
	if probe {
		dueOn = e.HeldUntil
	}
	job = job.Failed(errors.New(a.Error), RetryDelays, now, jitter)
	job.RunAt = max(job.RunAt, now.Add(retryAfter))
	switch {
	case e.PausedOn != 0:
	case a.Status == 410:
		e = e.Pause(PausedGone, now)
	case probe || !e.Holds(): // otherwise the attempt was under way when the hold began
		e = e.failed(probe, dueOn, retryAfter, now)
	}
	// A job may die only while the endpoint accepts other events.
	if e.PausedOn != 0 || e.Failing() || e.Holds() && job.State == JobWaiting {
		job.State = JobParked
	}
	return Verdict{Endpoint: e, Job: job}
}

func (e Endpoint) failed(probe bool, dueOn Millis, retryAfter time.Duration, now Millis) Endpoint {
	// Time without attempts, or that the clock skipped, does not count as time of failures.
	if e.Failures == 0 || now < e.FailingSince || now > dueOn.Add(day) {
		e.FailingSince = now
	}
	e.Failures++
	hold := retryAfter
	if probe || e.Failing() {
		// The time until the next probe doubles with every failed one.
		hold = max(hold, min(firstProbe<<min(max(e.Failures-FailingAfter, 0), 10), lastProbe))
	}
	if hold > 0 {
		if e.HeldUntil == 0 {
			e.HeldSince = now
		}
		e.HeldUntil = now.Add(hold)
	}
	if e.Failing() && now >= e.FailingSince.Add(PauseAfter) {
		e = e.Pause(PausedFailing, now)
	}
	return e
}
