package api

import "purveyor/internal/commerce"

// deleteEndpoint takes an endpoint away, and shows it as it was.
func (a *API) deleteEndpoint(r *request, e endpointSeen) (reply, error) {
	if err := r.decodeBody(&noBody{}, needsNoBody); err != nil {
		return reply{}, err
	}
	if err := a.service.DeleteEndpoint(r.Context(), r.caller().Actor, e.owner()); err != nil {
		return reply{}, err
	}
	return ok(endpointReply{OK: true, Endpoint: endpointOf(e.partner, e.endpoint, commerce.MillisOf(a.now())), TraceID: r.traceID})
}
