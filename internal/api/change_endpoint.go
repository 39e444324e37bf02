package api

import (
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

type changeEndpointIn struct {
	routeIn
	URL         *string `json:"url"`
	Description *string `json:"description"`
}

func (in changeEndpointIn) call(*request) (service.ChangeEndpoint, error) {
	var c check
	if in == (changeEndpointIn{}) {
		return service.ChangeEndpoint{}, commerce.Invalid("body", "body has nothing that can be changed")
	}
	change := service.ChangeEndpoint{URL: in.URL}
	if in.URL != nil {
		c.webURL("url", in.URL)
	}
	if in.Description != nil {
		text := c.Optional("description", in.Description, jsonin.MaxName)
		change.Text = &text
	}
	change.Events, change.Mode, change.StoreIDs = in.read(&c)
	return change, c.Err
}

// changeEndpoint changes what is given.
func (a *API) changeEndpoint(r *request, e endpointSeen) (reply, error) {
	_, in, err := readInput[changeEndpointIn](r, 0)
	if err != nil {
		return reply{}, err
	}
	in.Owner = e.owner()
	if _, err := a.service.ChangeEndpoint(r.Context(), r.caller().Actor, in); err != nil {
		return reply{}, err
	}
	return r.shows(endpointID(e.endpoint))
}
