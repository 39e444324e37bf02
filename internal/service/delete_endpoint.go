package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// DeleteEndpoint takes an endpoint, by its owner, away from its partner. What waits for it is
// not sent any more. Errors: 404; 403 as MakeEndpoint.
func (s *Service) DeleteEndpoint(ctx context.Context, by commerce.Actor, owner string) error {
	_, err := act(ctx, s, by, deed{"delete_endpoint", "", owner}, command.DeleteEndpoint{Owner: owner, Actor: by})
	return err
}
