package api

import (
	"purveyor/internal/commerce"

	"purveyor/internal/api/wire"
)

// health confirms that the key works.
func (a *API) health(r *request) (reply, error) {
	return ok(struct {
		OK        bool   `json:"ok"`
		Status    string `json:"status"`
		PartnerID string `json:"partner_client_id"`
		Timestamp string `json:"timestamp"`
		TraceID   string `json:"trace_id"`
	}{true, "ok", r.Partner.ID, wire.ISO(commerce.MillisOf(a.now())), r.traceID})
}
