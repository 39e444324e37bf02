package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type newEndpointIn struct {
	routeIn
	URL         *string `json:"url"`
	Description *string `json:"description"`
	Secret      *string `json:"secret"`
}

func (in newEndpointIn) call(r *request) (service.NewEndpoint, error) {
	var c check
	made := service.NewEndpoint{PartnerID: r.Partner.ID, URL: c.webURL("url", in.URL), Description: c.Optional("description", in.Description, jsonin.MaxName),
		Secret: c.secret(in.Secret)}
	events, mode, stores := in.read(&c)
	if events != nil {
		made.Route.Events = *events
	}
	if stores != nil {
		made.Route.StoreIDs = *stores
	}
	switch {
	case mode != nil:
		made.Route.Mode = *mode
	case r.Mode == commerce.Test:
		made.Route.Mode = commerce.Test
	}
	return made, c.Err
}

// makeEndpoint adds an endpoint. The answer is stored nowhere, since it has the secret.
func (a *API) makeEndpoint(r *request) (reply, error) {
	_, in, err := readInput[newEndpointIn](r, 0)
	if err != nil {
		return reply{}, err
	}
	made, err := a.service.MakeEndpoint(r.Context(), r.caller().Actor, in)
	if err != nil {
		return reply{}, err
	}
	p, err := a.reader.Partner(r.Context(), r.Partner.ID)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusCreated, body: wire.Encode(endpointReply{true, endpointOf(p, made.Endpoint, commerce.MillisOf(a.now())), made.Secret, r.traceID})}, nil
}
