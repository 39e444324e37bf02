package api

// getEndpoint shows an endpoint.
func (a *API) getEndpoint(r *request, e endpointSeen) (reply, error) {
	return r.shows(endpointID(e.endpoint))
}
