package service

import (
	"context"
	"strconv"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// ResendEvents sends events of a partner again, and returns how many. With form, the
// idempotency key of a form, a repeat sends nothing more.
func (s *Service) ResendEvents(ctx context.Context, by commerce.Actor, partnerID string, eventIDs []string, form string) (int, error) {
	return s.resend(ctx, by, deed{"resend_events", "", partnerID}, form, command.ResendEvents{PartnerID: partnerID, EventIDs: eventIDs})
}

// resend runs a command that sends events again, once for each form.
func (s *Service) resend(ctx context.Context, by commerce.Actor, d deed, form string, cmd commit.Keyed[int]) (int, error) {
	out, err := once(ctx, s, Caller{Actor: by}, Once[int]{Key: commerce.ReplyKey{PartnerID: by.ID, Op: d.action + " " + d.object, Key: form},
		Encode: func(n int) (int, []byte) { return 200, []byte(strconv.Itoa(n)) }}, commit.Keyed[int](audited[int]{cmd, by, d}), neverRefused)
	if err != nil || form == "" {
		return out.Result, err
	}
	return strconv.Atoi(string(out.Reply.Body))
}
