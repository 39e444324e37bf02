package commerce

import (
	"errors"
	"math"
	"testing"
	"time"
)

// TestProbeDue: a held endpoint is probed from its time on, one that is paused or
// healthy never, and a time that lies too far ahead is not believed.
func TestProbeDue(t *testing.T) {
	const now = 1_800_000_000_000
	for _, c := range []struct {
		endpoint Endpoint
		want     bool
	}{
		{Endpoint{}, false},
		{Endpoint{HeldUntil: now}, true},
		{Endpoint{HeldUntil: now + 1}, false},
		{Endpoint{HeldUntil: Millis(now).Add(JobHorizon)}, false},
		{Endpoint{HeldUntil: Millis(now).Add(JobHorizon) + 1}, true},
		{Endpoint{HeldUntil: now, PausedOn: now - 1}, false},
		{Endpoint{PausedOn: now - 1}, false},
	} {
		if got := c.endpoint.ProbeDue(now); got != c.want {
			t.Errorf("%+v: %v", c.endpoint, got)
		}
	}
}

// TestResume: what the endpoint did before counts no longer.
func TestResume(t *testing.T) {
	const now = 1_800_000_000_000
	paused := Endpoint{PartnerID: "p", Failures: 7, FailingSince: now - dayMs, HeldUntil: 5, PausedOn: now - 1, PausedFor: PausedFailing, PreviousSecret: "s", PreviousUntil: now + 1}
	want := Endpoint{PartnerID: "p", HeldUntil: now, HeldSince: now, PreviousSecret: "s", PreviousUntil: now + 1}
	if got := paused.Resume(now); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestPauseAfter: an endpoint is paused at the first failure that is so long after
// the first of an unbroken row, and not a millisecond before.
func TestPauseAfter(t *testing.T) {
	const now = 1_800_000_000_000
	for since, want := range map[time.Duration]bool{PauseAfter - time.Millisecond: false, PauseAfter: true, PauseAfter + time.Millisecond: true} {
		e := Endpoint{Failures: FailingAfter, FailingSince: Millis(now).Add(-since), HeldUntil: now}
		v := e.After(Job{State: JobParked, RunAt: now}, WebhookAttempt{Status: 500, Error: "no"}, 0, now, 0)
		if paused := v.Endpoint.PausedOn != 0; paused != want || paused && v.Endpoint.PausedFor != PausedFailing {
			t.Errorf("after %s: %+v", since, v.Endpoint)
		}
	}
	e := Endpoint{Failures: FailingAfter - 2, FailingSince: Millis(now).Add(-PauseAfter)}
	if v := e.After(Job{State: JobWaiting, RunAt: now}, WebhookAttempt{Status: 500, Error: "no"}, 0, now, 0); v.Endpoint.PausedOn != 0 {
		t.Errorf("with too few failures: %+v", v.Endpoint)
	}
}

// TestFailedProbe: a try that was made while the job was parked counts as a probe,
// and the job waits again, whatever state it had.
func TestFailedProbe(t *testing.T) {
	for state, probes := range map[JobState]int64{JobWaiting: 2, JobParked: 3} {
		got := Job{State: state, Tries: 4, Probes: 2}.Failed(errors.New("no"), RetryDelays, 0, 0)
		if got.State != JobWaiting || got.Tries != 5 || got.Probes != probes {
			t.Errorf("%s: %+v", state, got)
		}
	}
}

// TestPointValid: every side of the map, and what is no number.
func TestPointValid(t *testing.T) {
	for _, p := range []Point{{90, 0}, {-90, 0}, {0, 180}, {0, -180}, {30, -97}} {
		if !p.Valid() {
			t.Errorf("%+v is on earth", p)
		}
	}
	for _, p := range []Point{{90.01, 0}, {-90.01, 0}, {0, 180.01}, {0, -180.01}, {math.NaN(), 0}, {0, math.NaN()}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		if p.Valid() {
			t.Errorf("%+v is not on earth", p)
		}
	}
}

// TestMoment: a hand-over was, or will be, within 30 days, and is now if no time is given.
func TestMoment(t *testing.T) {
	const now, window = Millis(1 << 40), Millis(30 * 24 * 60 * 60 * 1000)
	for given, want := range map[Millis]Millis{0: now, now - window: now - window, now + window: now + window, now - window - 1: 0, now + window + 1: 0} {
		got, err := Moment("at", given, now)
		refusal, _ := errors.AsType[*Error](err)
		if got != want || (err == nil) != (want != 0) || err != nil && refusal.Field != "at" {
			t.Errorf("%d: %d, %v; want %d", given-now, got, err, want)
		}
	}
}

// TestOutOfRadius: the refusal names the field, and what is wrong with it.
func TestOutOfRadius(t *testing.T) {
	if e := OutOfRadius(); e.Kind != KindInvalid || e.Code != "out_of_radius" || e.Field != "delivery_address" || e.Message == "" {
		t.Errorf("%+v", e)
	}
}
