package api

import (
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type resendIn struct {
	EndpointID *string `json:"endpoint_id"`
}

// resendEvents sends an event again.
func (a *API) resendEvents(r *request) (reply, error) {
	var in resendIn
	if err := r.decodeBody(&in, needsNoBody); err != nil {
		return reply{}, err
	}
	var c check
	only := c.Optional("endpoint_id", in.EndpointID, jsonin.MaxID)
	if c.Err != nil {
		return reply{}, c.Err
	}
	e, err := r.event()
	if err != nil {
		return reply{}, err
	}
	call := service.ResendEvents{PartnerID: r.Partner.ID, EventIDs: []string{e.ID}}
	if call.Repeat, err = r.repeat(in); err != nil {
		return reply{}, err
	}
	if only != "" {
		at, err := r.endpoint(only)
		if err == nil {
			err = at.reads(r)
		}
		if err != nil {
			return reply{}, err
		}
		call.Only = at.owner()
	}
	n, err := a.service.ResendEvents(r.Context(), r.caller(), call)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK      bool   `json:"ok"`
		EventID string `json:"event_id"`
		Resent  int    `json:"resent"`
		TraceID string `json:"trace_id"`
	}{true, e.ID, n, r.traceID})
}
