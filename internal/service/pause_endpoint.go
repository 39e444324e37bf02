package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// PauseEndpoint stops the webhooks to an endpoint, by its owner, until it is resumed. They wait
// meanwhile.
func (s *Service) PauseEndpoint(ctx context.Context, by commerce.Actor, owner string) error {
	_, err := act(ctx, s, by, deed{"pause_endpoint", "", owner}, command.PauseEndpoint{Owner: owner, By: pausedBy(by), Actor: by})
	return err
}

func pausedBy(by commerce.Actor) commerce.PauseReason {
	if by.Kind == commerce.ActorPartner || by.Kind == commerce.ActorMember {
		return commerce.PausedPartner
	}
	return commerce.PausedOperator
}
