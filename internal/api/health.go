package api

import (
	"purveyor/internal/commerce"

	"purveyor/internal/api/wire"
)

// health confirms that the key works, and says what it may do and how the webhook endpoints
// fare.
func (a *API) health(r *request) (reply, error) {
	list, err := r.endpoints()
	if err != nil {
		return reply{}, err
	}
	endpoints := []healthEndpoint{}
	for _, e := range list {
		endpoints = append(endpoints, healthEndpoint{endpointID(e.endpoint), stateOf(e.partner, e.endpoint)})
	}
	return ok(struct {
		OK        bool             `json:"ok"`
		Status    string           `json:"status"`
		PartnerID string           `json:"partner_client_id"`
		Mode      commerce.Mode    `json:"mode"`
		Key       healthKey        `json:"key"`
		Endpoints []healthEndpoint `json:"endpoints"`
		Timestamp string           `json:"timestamp"`
		TraceID   string           `json:"trace_id"`
	}{true, "ok", r.Partner.ID, r.Mode, healthKey{r.Key.ID, r.Key.Name, notNull(r.Partner.Scopes), notNull(r.Partner.StoreIDs), timeOrNull(r.Key.ExpiresOn)},
		endpoints, wire.ISO(commerce.MillisOf(a.now())), r.traceID})
}

type healthEndpoint struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// healthKey is what the key may do. No store ids: all of the merchant's.
type healthKey struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Scopes    []commerce.Scope `json:"scopes"`
	StoreIDs  []string         `json:"store_ids"`
	ExpiresOn *commerce.Millis `json:"expires_on"`
}
