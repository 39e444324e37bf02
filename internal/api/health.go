package api

import (
	"purveyor/internal/commerce"

	"purveyor/internal/api/wire"
)

// health confirms that the key works, and says what it may do.
func (a *API) health(r *request) (reply, error) {
	return ok(struct {
		OK        bool          `json:"ok"`
		Status    string        `json:"status"`
		PartnerID string        `json:"partner_client_id"`
		Mode      commerce.Mode `json:"mode"`
		Key       healthKey     `json:"key"`
		Timestamp string        `json:"timestamp"`
		TraceID   string        `json:"trace_id"`
	}{true, "ok", r.Partner.ID, r.Mode, healthKey{r.Key.ID, r.Key.Name, notNull(r.Partner.Scopes), notNull(r.Partner.StoreIDs), timeOrNull(r.Key.ExpiresOn)},
		wire.ISO(commerce.MillisOf(a.now())), r.traceID})
}

// healthKey is what the key may do. No store ids: all of the merchant's.
type healthKey struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Scopes    []commerce.Scope `json:"scopes"`
	StoreIDs  []string         `json:"store_ids"`
	ExpiresOn *commerce.Millis `json:"expires_on"`
}
