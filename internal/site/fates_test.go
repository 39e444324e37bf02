package site

import (
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// TestFateOfEvents: one sentence says why an event was not delivered, and what happens next.
func TestFateOfEvents(t *testing.T) {
	p := commerce.Partner{CallbackURL: "https://p.example"}
	job := func(state commerce.JobState) []commerce.Job {
		return []commerce.Job{{Subject: "evt_0", State: commerce.JobDead}, {Subject: "evt_1", State: state, RunAt: 70}}
	}
	failing := commerce.Endpoint{Failures: 6, FailingSince: 5, HeldUntil: 90}
	for _, c := range []struct {
		name     string
		p        commerce.Partner
		e        commerce.Endpoint
		attempts []commerce.WebhookAttempt
		jobs     []commerce.Job
		want     string
		failed   bool
		waits    bool
		next     commerce.Millis
	}{
		{"new", p, commerce.Endpoint{}, nil, job(commerce.JobWaiting), "It is about to be sent", false, true, 70},
		{"delivered", p, commerce.Endpoint{}, []commerce.WebhookAttempt{{Status: 500}, {Status: 204}}, nil, "Delivered: the endpoint answered 204", false, false, 0},
		{"tried again", p, commerce.Endpoint{Failures: 1}, []commerce.WebhookAttempt{{Status: 503}}, job(commerce.JobWaiting), "The endpoint answered 503 and not 200. It is tried again by itself", true, true, 70},
		{"no answer", p, commerce.Endpoint{Failures: 1}, []commerce.WebhookAttempt{{Error: "timeout"}}, job(commerce.JobWaiting), "The endpoint could not be reached: timeout. It is tried again by itself", true, true, 70},
		{"failing", p, failing, []commerce.WebhookAttempt{{Status: 302}}, job(commerce.JobParked), "The endpoint answered 302, a redirect, and redirects are not followed. It waits, because the endpoint is failing", true, true, 90},
		{"behind a failing one", p, failing, nil, job(commerce.JobWaiting), "It waits, because the endpoint is failing", false, true, 90},
		{"paused", p, commerce.Endpoint{PausedOn: 3, PausedFor: commerce.PausedOperator}, nil, job(commerce.JobParked), "It waits, because the endpoint is paused", false, true, 0},
		{"gone", p, commerce.Endpoint{PausedOn: 3, PausedFor: commerce.PausedGone}, []commerce.WebhookAttempt{{Status: 410}}, job(commerce.JobParked), "The endpoint answered 410, which means that it is gone. It waits, because the endpoint is gone", true, true, 0},
		{"suspended", commerce.Partner{CallbackURL: "u", Suspended: true}, commerce.Endpoint{}, nil, job(commerce.JobWaiting), "It waits, because the endpoint is suspended", false, true, 0},
		{"given up", p, commerce.Endpoint{}, []commerce.WebhookAttempt{{Status: 401}}, job(commerce.JobDead), "The endpoint refuses us: it answered 401. All tries are used up, so it is sent again only by hand", true, false, 0},
		{"job swept", p, commerce.Endpoint{}, []commerce.WebhookAttempt{{Status: 404}}, nil, "The endpoint answered 404: there is nothing at its URL. It is not tried again by itself", true, false, 0},
		{"no URL then", p, commerce.Endpoint{}, nil, nil, "It was not sent: the endpoint was not there when it happened", false, false, 0},
		{"no URL", commerce.Partner{}, commerce.Endpoint{}, nil, nil, "It is not sent, because the partner has no callback URL", false, false, 0},
		{"too many", p, commerce.Endpoint{}, nil, make([]commerce.Job, JobRoom+1), "Many events wait, and this may be one of them", false, false, 0},
	} {
		got := fateOf(c.p, c.e, commerce.WebhookEvent{ID: "evt_1"}, c.attempts, c.jobs)
		if got != (Fate{Sentence: c.want, Failed: c.failed, Waits: c.waits, Next: c.next}) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if strings.HasSuffix(got.Sentence, ".") {
			t.Errorf("%s has a full stop of its own", c.name)
		}
	}
}
