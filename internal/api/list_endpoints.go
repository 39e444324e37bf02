package api

import "purveyor/internal/commerce"

// listEndpoints lists the partner's endpoints, the callback URL first.
func (a *API) listEndpoints(r *request) (reply, error) {
	list, err := r.endpoints()
	if err != nil {
		return reply{}, err
	}
	out := []endpointOut{}
	for _, e := range list {
		out = append(out, endpointOf(e.partner, e.endpoint, commerce.MillisOf(a.now())))
	}
	return ok(struct {
		OK        bool          `json:"ok"`
		Count     int           `json:"count"`
		Endpoints []endpointOut `json:"endpoints"`
	}{true, len(out), out})
}
