package commerce

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Durations in milliseconds.
const (
	secondMs = 1000
	minuteMs = 60 * secondMs
	hourMs   = 60 * minuteMs
	dayMs    = 24 * hourMs
)

func answered(status int64) WebhookAttempt {
	if status/100 == 2 {
		return WebhookAttempt{Status: status}
	}
	return WebhookAttempt{Status: status, Error: "no"}
}

func TestEndpointAfter(t *testing.T) {
	const now = 1_800_000_000_000
	failing := Endpoint{Failures: 6, FailingSince: now - hourMs, HeldUntil: now}
	waiting, parked := Job{State: JobWaiting, RunAt: now}, Job{State: JobParked, RunAt: now - hourMs}
	spent := Job{State: JobWaiting, RunAt: now, Tries: 9}
	paused := Endpoint{PausedOn: now - hourMs, PausedFor: PausedOperator}
	since := func(age int64) Endpoint {
		return Endpoint{Failures: 9, FailingSince: Millis(now - age), HeldUntil: now}
	}
	for _, c := range []struct {
		name       string
		before     Endpoint
		job        Job
		status     int64
		retryAfter int64
		after      Endpoint
		state      JobState
		wait       int64 // of the job
		release    bool
	}{
		{name: "delivered", before: Endpoint{Failures: 3, FailingSince: 1}, job: waiting, status: 204, after: Endpoint{DeliveredOn: now}, state: JobWaiting},
		{name: "a probe delivered", before: failing, job: parked, status: 200, after: Endpoint{DeliveredOn: now}, state: JobParked, wait: -hourMs, release: true},
		{name: "delivered when paused", before: paused, job: waiting, status: 200, after: Endpoint{PausedOn: now - hourMs, PausedFor: PausedOperator, DeliveredOn: now}, state: JobWaiting},
		{name: "first failure", job: waiting, status: 500,
			after: Endpoint{Failures: 1, FailingSince: now}, state: JobWaiting, wait: 5000},
		{name: "redirect", job: waiting, status: 302,
			after: Endpoint{Failures: 1, FailingSince: now}, state: JobWaiting, wait: 5000},
		{name: "no answer", job: waiting,
			after: Endpoint{Failures: 1, FailingSince: now}, state: JobWaiting, wait: 5000},
		{name: "asks to wait", job: waiting, status: 429, retryAfter: 7 * minuteMs,
			after: Endpoint{Failures: 1, FailingSince: now, HeldSince: now, HeldUntil: now + 7*minuteMs}, state: JobParked, wait: 7 * minuteMs},
		{name: "asks for a year", job: waiting, status: 503, retryAfter: 365 * dayMs,
			after: Endpoint{Failures: 1, FailingSince: now, HeldSince: now, HeldUntil: now + dayMs}, state: JobParked, wait: dayMs},
		{name: "negative wait", job: waiting, status: 503, retryAfter: -1,
			after: Endpoint{Failures: 1, FailingSince: now}, state: JobWaiting, wait: 5000},
		{name: "fifth failure", before: Endpoint{Failures: 4, FailingSince: now - hourMs}, job: waiting, status: 500,
			after: Endpoint{Failures: 5, FailingSince: now - hourMs, HeldSince: now, HeldUntil: now + 5000}, state: JobParked, wait: 5000},
		{name: "probe", before: failing, job: parked, status: 500,
			after: Endpoint{Failures: 7, FailingSince: now - hourMs, HeldUntil: now + 20_000}, state: JobParked, wait: 5000},
		{name: "late probe", before: Endpoint{Failures: 300, FailingSince: now - dayMs, HeldUntil: now}, job: parked, status: 500,
			after: Endpoint{Failures: 301, FailingSince: now - dayMs, HeldUntil: now + 60_000}, state: JobParked, wait: 5000},
		{name: "under way when the hold began", before: failing, job: waiting, status: 500,
			after: failing, state: JobParked, wait: 5000},
		{name: "last try", job: spent, status: 500,
			after: Endpoint{Failures: 1, FailingSince: now}, state: JobDead, wait: dayMs},
		{name: "last try asks to wait", job: spent, status: 429, retryAfter: minuteMs,
			after: Endpoint{Failures: 1, FailingSince: now, HeldSince: now, HeldUntil: now + minuteMs}, state: JobDead, wait: dayMs},
		{name: "last try, but nothing else arrives", before: failing, job: spent, status: 500,
			after: failing, state: JobParked, wait: dayMs},
		{name: "gone", job: waiting, status: 410,
			after: Endpoint{PausedOn: now, PausedFor: PausedGone}, state: JobParked, wait: 5000},
		{name: "failed when paused", before: paused, job: waiting, status: 500, after: paused, state: JobParked, wait: 5000},
		{name: "five days", before: since(5 * dayMs), job: parked, status: 500,
			after: Endpoint{Failures: 10, FailingSince: now - 5*dayMs, PausedOn: now, PausedFor: PausedFailing}, state: JobParked, wait: 5000},
		{name: "not yet five days", before: since(5*dayMs - 1), job: parked, status: 500,
			after: Endpoint{Failures: 10, FailingSince: now - 5*dayMs + 1, HeldUntil: now + 60_000}, state: JobParked, wait: 5000},
		{name: "five days in which nothing was tried", job: parked, status: 500,
			before: Endpoint{Failures: 9, FailingSince: now - 6*dayMs, HeldUntil: now - 5*dayMs},
			after:  Endpoint{Failures: 10, FailingSince: now, HeldUntil: now + 60_000}, state: JobParked, wait: 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.before.After(c.job, answered(c.status), time.Duration(c.retryAfter)*time.Millisecond, now, 0)
			if got.Endpoint != c.after || got.Job.State != c.state || got.Job.RunAt != Millis(now+c.wait) || got.Release != c.release {
				t.Errorf("%+v\nwant %+v, %s, after %d ms, release %v", got, c.after, c.state, c.wait, c.release)
			}
		})
	}
}

func TestProbesDouble(t *testing.T) {
	e, now := Endpoint{}, int64(1_800_000_000_000)
	var waits []Millis
	for i := range 11 {
		job := Job{State: JobWaiting, RunAt: Millis(now)}
		if i >= FailingAfter {
			job.State = JobParked
		}
		e = e.After(job, answered(500), 0, Millis(now), 0).Endpoint
		if e.Holds() {
			waits = append(waits, e.HeldUntil-Millis(now))
			now = int64(e.HeldUntil)
		}
	}
	if want := []Millis{5000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000}; !slices.Equal(waits, want) {
		t.Errorf("probes after %v", waits)
	}
}

func TestSecretRotation(t *testing.T) {
	const now = 1_800_000_000_000
	e := Endpoint{}.RotateSecret("old", SecretOverlap, now)
	if e.Previous(now+dayMs-1) != "old" || e.Previous(now+dayMs) != "" {
		t.Errorf("%+v", e)
	}
}

// sender is an endpoint and its jobs, run as a worker would.
type sender struct {
	endpoint Endpoint
	jobs     []Job
}

// step tries what is due at now; delivered jobs go.
func (s *sender) step(t *rapid.T, now Millis, try func() (WebhookAttempt, int64)) {
	var next *Job // to probe
	for i := range s.jobs {
		j := &s.jobs[i]
		if j.Due(now) && s.endpoint.Holds() {
			j.State = JobParked
		}
		if j.State == JobParked && (next == nil || j.RunAt < next.RunAt) {
			next = j
		}
	}
	if s.endpoint.ProbeDue(now) {
		if next == nil {
			s.endpoint = s.endpoint.Healed()
			return
		}
		s.run(t, next, now, try)
	} else {
		for i := range s.jobs {
			if s.jobs[i].Due(now) {
				s.run(t, &s.jobs[i], now, try)
			}
		}
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(j Job) bool { return j.ID == "" })
}

func (s *sender) run(t *rapid.T, j *Job, now Millis, try func() (WebhookAttempt, int64)) {
	attempt, retryAfter := try()
	verdict := s.endpoint.After(*j, attempt, time.Duration(retryAfter)*time.Millisecond, now, 0.5)
	if wait := verdict.Job.RunAt - now; !attempt.Delivered() && (wait < 5*secondMs || wait > Millis(JobHorizon.Milliseconds())) {
		t.Fatalf("tried again after %d ms", wait)
	}
	if hold := verdict.Endpoint.HeldUntil - now; verdict.Endpoint.HeldUntil > s.endpoint.HeldUntil && (hold < 1 || hold > Millis(MaxRetryAfter.Milliseconds())) {
		t.Fatalf("held for %d ms", hold)
	}
	s.endpoint, *j = verdict.Endpoint, verdict.Job
	if attempt.Delivered() {
		j.ID = ""
	}
	for i := range s.jobs {
		if verdict.Release && s.jobs[i].State == JobParked {
			s.jobs[i].State = JobWaiting
		}
	}
}

// Whatever the endpoint answers and however the clock jumps, an event is
// waiting, parked under an endpoint that will be probed or resumed, or was
// given up after all its tries; and once the endpoint is well, all arrive.
func TestNoEventIsLost(t *testing.T) {
	statuses := []int64{0, 200, 200, 302, 400, 410, 429, 500, 500, 500, 503}
	waits := []int64{-5, 0, 0, 0, 1000, hourMs, 40 * dayMs}
	rapid.Check(t, func(t *rapid.T) {
		now := int64(1_800_000_000_000)
		s := sender{}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			now += rapid.SampledFrom([]int64{0, 1, secondMs, minuteMs, minuteMs, hourMs, dayMs, 9 * dayMs, 900 * dayMs, -secondMs, -hourMs, -400 * dayMs}).Draw(t, "passes")
			if len(s.jobs) < 6 && rapid.Bool().Draw(t, "new") {
				s.jobs = append(s.jobs, Job{ID: "job", State: JobWaiting, RunAt: Millis(now)})
			}
			s.step(t, Millis(now), func() (WebhookAttempt, int64) {
				return answered(rapid.SampledFrom(statuses).Draw(t, "status")), rapid.SampledFrom(waits).Draw(t, "wait")
			})
			check(t, s)
		}
		if s.endpoint.PausedOn != 0 {
			s.endpoint = s.endpoint.Resume(Millis(now))
		}
		for range 4 * 24 { // four days, hour by hourMs
			now += hourMs
			s.step(t, Millis(now), func() (WebhookAttempt, int64) { return answered(200), 0 })
		}
		if i := slices.IndexFunc(s.jobs, func(j Job) bool { return j.State != JobDead }); i >= 0 {
			t.Fatalf("%+v is left under %+v", s.jobs[i], s.endpoint)
		}
	})
}

func check(t *rapid.T, s sender) {
	e := s.endpoint
	for _, j := range s.jobs {
		switch {
		case j.State == JobDead && j.Tries-j.Probes != int64(len(RetryDelays))+1:
			t.Fatalf("given up early: %+v", j)
		case j.State == JobParked && !e.Holds():
			t.Fatalf("parked under nothing: %+v", j)
		case j.Probes > j.Tries:
			t.Fatalf("%+v", j)
		}
	}
	if e.PausedOn != 0 && (e.PausedFor == "" || e.HeldUntil != 0) {
		t.Fatalf("%+v", e)
	}
}
