package api

import (
	"context"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// testPoll is the time between two looks for the endpoint's answer.
const testPoll = 100 * time.Millisecond

// testEndpoint sends an event without meaning to an endpoint, and waits for the answer.
func (a *API) testEndpoint(r *request, e endpointSeen) (reply, error) {
	if err := r.decodeBody(&noBody{}, needsNoBody); err != nil {
		return reply{}, err
	}
	if e.endpoint.PausedOn != 0 {
		return reply{}, commerce.Conflict("endpoint_paused", "The endpoint is paused; resume it first")
	}
	before := commerce.MillisOf(a.now()).Add(-time.Minute)
	if err := a.service.TestEndpoint(r.Context(), r.caller().Actor, e.owner()); err != nil {
		return reply{}, err
	}
	sent, attempt, err := a.awaitTest(r, e, before)
	if err != nil {
		return reply{}, err
	}
	answer := struct {
		OK        bool        `json:"ok"`
		EventID   string      `json:"event_id"`
		Delivered bool        `json:"delivered"`
		Attempt   *attemptOut `json:"attempt"`
		TraceID   string      `json:"trace_id"`
	}{OK: true, EventID: sent.ID, TraceID: r.traceID}
	if attempt != nil {
		out := attemptOf(*attempt)
		answer.Delivered, answer.Attempt = attempt.Delivered(), &out
	}
	return ok(answer)
}

// awaitTest finds the event, which is the newest of its kind with the trace id of the
// request, and waits for its first attempt at the endpoint. The attempt is nil if there is none in time.
func (a *API) awaitTest(r *request, e endpointSeen, since commerce.Millis) (sent commerce.WebhookEvent, attempt *commerce.WebhookAttempt, err error) {
	ctx, cancel := a.env.WithTimeout(r.Context(), a.testPatience)
	defer cancel()
	for {
		if sent.ID == "" {
			if sent, err = a.newestTest(r, since); err != nil {
				return sent, nil, err
			}
		}
		if sent.ID != "" {
			attempts, err := a.reader.Attempts(context.WithoutCancel(ctx), sent.Key())
			if err != nil {
				return sent, nil, err
			}
			for _, t := range attempts {
				if t.Endpoint == e.endpoint.ID {
					return sent, &t, nil
				}
			}
		}
		if a.env.Sleep(ctx, testPoll) != nil {
			return sent, nil, r.Context().Err()
		}
	}
}

func (a *API) newestTest(r *request, since commerce.Millis) (newest commerce.WebhookEvent, err error) {
	f := storage.EventFilter{PartnerID: r.Partner.ID, Kinds: []commerce.WebhookKind{commerce.WebhookTest}, Since: since, Limit: 300}
	for more := true; more; {
		page, err := a.reader.EventPage(r.Context(), f)
		if err != nil {
			return newest, err
		}
		for _, e := range page.Events {
			if e.TraceID == r.traceID {
				newest = e
			}
		}
		f.After, more = page.Through, page.More
	}
	return newest, nil
}
