package api

// resumeEndpoint resumes the sending to an endpoint.
func (a *API) resumeEndpoint(r *request, e endpointSeen) (reply, error) {
	if err := r.decodeBody(&noBody{}, needsNoBody); err != nil {
		return reply{}, err
	}
	if err := a.service.ResumeEndpoint(r.Context(), r.caller().Actor, e.owner()); err != nil {
		return reply{}, err
	}
	return r.shows(endpointID(e.endpoint))
}
