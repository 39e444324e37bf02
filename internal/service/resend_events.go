package service

import (
	"context"
	"slices"
	"strconv"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// ResendEvents names events of a partner to send again.
type ResendEvents struct {
	PartnerID string
	EventIDs  []string
	Only      string // the owner of the endpoint that they go to; empty: all that take them
	Repeat    Repeat
}

// Repeat tells by which key a repeat of a call is recognised, which then does nothing more. The zero
// value: it is not.
type Repeat struct {
	Key         commerce.ReplyKey
	Fingerprint [32]byte // of what is asked for; another one with the same key is refused
}

// ResendEvents sends events of a partner again, and returns how many. What a partner sends
// again goes to no paused endpoint (409 endpoint_paused if it is named).
func (s *Service) ResendEvents(ctx context.Context, by Caller, in ResendEvents) (int, error) {
	keys := make([]commerce.EventKey, len(in.EventIDs))
	for i, id := range in.EventIDs {
		keys[i] = commerce.EventKey{PartnerID: in.PartnerID, ID: id}
	}
	found, err := s.reader.WebhookEvents(ctx, keys)
	if err != nil {
		return 0, err
	}
	cmd := command.ResendEvents{PartnerID: in.PartnerID, Only: in.Only}
	for _, k := range keys {
		if e, ok := found[k]; ok {
			cmd.Events = append(cmd.Events, e)
		}
	}
	if cmd.LeaveOut, err = s.paused(ctx, by.Actor, in.PartnerID, in.Only); err != nil {
		return 0, err
	}
	return s.resend(ctx, by, deed{"resend_events", "", in.PartnerID}, in.Repeat, cmd)
}

// paused are the owners of a partner's endpoints to which the partner itself sends nothing
// again, since they are paused. It refuses only if that is one of them.
func (s *Service) paused(ctx context.Context, by commerce.Actor, partnerID, only string) (list []string, err error) {
	if pausedBy(by) != commerce.PausedPartner {
		return nil, nil
	}
	p, err := s.reader.Partner(ctx, partnerID)
	if err != nil {
		return nil, err
	}
	endpoints, err := s.reader.Endpoints(ctx, p.Owners())
	for owner, e := range endpoints {
		if e.PausedOn != 0 {
			list = append(list, owner)
		}
	}
	if err == nil && slices.Contains(list, only) {
		err = commerce.Conflict("endpoint_paused", "The endpoint is paused; resume it first")
	}
	return list, err
}

// resend runs a command that sends events again, once for each key.
func (s *Service) resend(ctx context.Context, by Caller, d deed, r Repeat, cmd commit.Keyed[int]) (int, error) {
	out, err := once(ctx, s, by, Once[int]{Key: r.Key, Fingerprint: r.Fingerprint,
		Encode: func(n int) (int, []byte) { return 200, []byte(strconv.Itoa(n)) }}, commit.Keyed[int](audited[int]{cmd, by.Actor, d}), neverRefused)
	if err != nil || r.Key.Key == "" {
		return out.Result, err
	}
	return strconv.Atoi(string(out.Reply.Body))
}
