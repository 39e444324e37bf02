package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

type rotateSecretIn struct {
	rotateIn
	Secret *string `json:"secret"`
}

func (in rotateSecretIn) call(*request) (service.RotateSecret, error) {
	var c check
	out := service.RotateSecret{Overlap: in.overlap(&c), Secret: c.secret(in.Secret)}
	out.Now = out.Overlap == 0
	return out, c.Err
}

// rotateSecret replaces the secret of an endpoint. The answer is stored nowhere.
func (a *API) rotateSecret(r *request, e endpointSeen) (reply, error) {
	_, in, err := readInput[rotateSecretIn](r, needsNoBody)
	if err != nil {
		return reply{}, err
	}
	in.Owner = e.owner()
	secret, changed, err := a.service.RotateSecret(r.Context(), r.caller().Actor, in)
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		OK            bool             `json:"ok"`
		EndpointID    string           `json:"endpoint_id"`
		Secret        string           `json:"secret"`
		PreviousUntil *commerce.Millis `json:"previous_until"`
		TraceID       string           `json:"trace_id"`
	}{true, endpointID(e.endpoint), secret, timeOrNull(changed.PreviousUntil), r.traceID})
}
