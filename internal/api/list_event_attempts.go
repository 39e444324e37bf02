package api

import (
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/web"
)

// newestAttempts is how many attempts of an event are listed at most.
const newestAttempts = 100

// listEventAttempts lists the attempts to deliver an event, oldest first.
func (a *API) listEventAttempts(r *request) (reply, error) {
	q := web.QueryOf(r.Request)
	only := q.Text("endpoint_id")
	if err := q.Err(); err != nil {
		return reply{}, err
	}
	e, err := r.event()
	if err != nil {
		return reply{}, err
	}
	attempts, err := a.reader.Attempts(r.Context(), e.Key())
	if err != nil {
		return reply{}, err
	}
	attempts = slices.DeleteFunc(attempts, func(t commerce.WebhookAttempt) bool { return only != "" && attemptOf(t).EndpointID != only })
	out := attemptsOf(attempts[max(0, len(attempts)-newestAttempts):])
	return ok(struct {
		OK       bool         `json:"ok"`
		EventID  string       `json:"event_id"`
		Count    int          `json:"count"`
		Attempts []attemptOut `json:"attempts"`
	}{true, e.ID, len(out), out})
}
