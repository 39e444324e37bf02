package api

import (
	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
)

// attemptOut is one request to an endpoint.
type attemptOut struct {
	ID         string          `json:"id"`
	EventID    string          `json:"event_id"`
	EndpointID string          `json:"endpoint_id"`
	URL        string          `json:"url"`
	At         commerce.Millis `json:"at"`
	TookMs     int64           `json:"took_ms"`
	Answered   *int64          `json:"status"` // null: no answer
	Delivered  bool            `json:"delivered"`
	Error      *string         `json:"error"`
	Answer     *string         `json:"answer"`
	Manual     bool            `json:"manual"`
}

func attemptOf(a commerce.WebhookAttempt) attemptOut {
	return attemptOut{ID: a.ID, EventID: a.EventID, EndpointID: endpointID(commerce.Endpoint{PartnerID: a.PartnerID, ID: a.Endpoint}), URL: commerce.WithoutPassword(a.URL), At: a.At, TookMs: a.TookMs,
		Answered: orNull(a.Status), Delivered: a.Delivered(), Error: wire.OrNull(a.Error), Answer: wire.OrNull(a.Answer), Manual: a.Manual}
}

func orNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func attemptsOf(list []commerce.WebhookAttempt) []attemptOut {
	out := []attemptOut{}
	for _, a := range list {
		out = append(out, attemptOf(a))
	}
	return out
}

// event reads the event that the path names, if the caller may hear it.
func (r *request) event() (commerce.WebhookEvent, error) {
	key := commerce.EventKey{PartnerID: r.Partner.ID, ID: r.param("event_id")}
	found, err := r.api.reader.WebhookEvents(r.Context(), []commerce.EventKey{key})
	if err != nil {
		return commerce.WebhookEvent{}, err
	}
	e, ok := found[key]
	if !ok || r.Mode == commerce.Test && e.Mode != commerce.Test {
		return e, commerce.NotFound("event")
	}
	if e.Kind.OfProduct() && !r.Partner.Has(commerce.ReadProducts) {
		return e, scopeMissing(commerce.ReadProducts)
	}
	if e.StoreID == "" {
		return e, nil
	}
	return e, r.Partner.MayUse(e.StoreID)
}
