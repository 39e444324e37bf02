package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// ResendEvents sends events of a partner again, and returns how many.
func (s *Service) ResendEvents(ctx context.Context, by commerce.Actor, partnerID string, eventIDs []string) (int, error) {
	return act(ctx, s, by, deed{"resend_events", "", partnerID}, command.ResendEvents{PartnerID: partnerID, EventIDs: eventIDs})
}
