package api

// clearFaults ends all faults of the partner.
func (a *API) clearFaults(r *request) (reply, error) {
	if err := r.decodeBody(&noBody{}, needsNoBody); err != nil {
		return reply{}, err
	}
	n, err := a.service.ClearFaults(r.Context(), r.caller())
	a.faults.forget(r.Partner.ID)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK      bool   `json:"ok"`
		Cleared int    `json:"cleared"`
		TraceID string `json:"trace_id"`
	}{true, n, r.traceID})
}
