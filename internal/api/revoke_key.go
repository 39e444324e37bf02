package api

type noBody struct{}

// revokeKey ends a key.
func (a *API) revokeKey(r *request) (reply, error) {
	if err := r.decodeBody(&noBody{}, needsNoBody); err != nil {
		return reply{}, err
	}
	key, err := r.knownKey()
	if err != nil {
		return reply{}, err
	}
	if key, err = a.service.RevokeKey(r.Context(), r.caller().Actor, r.Partner.ID, key.ID); err != nil {
		return reply{}, err
	}
	out, err := r.keyOut(key)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK      bool   `json:"ok"`
		Key     keyOut `json:"key"`
		TraceID string `json:"trace_id"`
	}{true, out, r.traceID})
}
