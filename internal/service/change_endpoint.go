package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ChangeEndpoint is a change of an endpoint. Fields that are nil keep their values.
type ChangeEndpoint = command.ChangeEndpoint

// ChangeEndpoint changes an endpoint of a partner: its URL, and which events go to it.
// Errors: 400; 404; 403 as MakeEndpoint.
func (s *Service) ChangeEndpoint(ctx context.Context, by commerce.Actor, in ChangeEndpoint) (commerce.Endpoint, error) {
	if in.URL != nil {
		if err := checkEndpointURL(*in.URL); err != nil {
			return commerce.Endpoint{}, err
		}
	}
	in.Actor = by
	return act(ctx, s, by, deed{"change_endpoint", "", in.Owner}, command.ChangeEndpoint(in))
}
