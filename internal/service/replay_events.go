package service

import (
	"context"
	"slices"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// ReplayEvents selects events of a partner to send again.
type ReplayEvents struct {
	PartnerID    string
	Kinds        []commerce.WebhookKind // nil: all
	StoreIDs     []string               // nil: all
	Since, Until commerce.Millis        // of the event's time; Until is exclusive; 0: no bound
	Undelivered  bool                   // only those that were never delivered
	Route        *commerce.Route        // only events that go this way; nil: all
	Most         int                    // the most events; 0: all
	Only         string                 // the owner of the endpoint that they go to; empty: all that take them
	Repeat       Repeat                 // each step is done once for it
	Sent         func(total int)        // is told after each step how many were sent again; nil: it is not called
}

// ReplayStep is the most events that one step of a replay sends again.
const ReplayStep = 300

// ReplayEvents sends the events of a range again, oldest first, and returns how many, the time
// of the last one, and whether there are more. What a partner sends again goes to no paused
// endpoint (409 endpoint_paused). It goes
// step by step, each with a batch and an audit entry of its own: if one fails, the events of
// those before it are sent again.
func (s *Service) ReplayEvents(ctx context.Context, by Caller, in ReplayEvents) (total int, through commerce.Millis, rest bool, err error) {
	leaveOut, err := s.paused(ctx, by.Actor, in.PartnerID, in.Only)
	if err != nil {
		return 0, 0, false, err
	}
	if in.Route != nil {
		in.Kinds = in.Route.Kinds()
	}
	f := storage.EventFilter{PartnerID: in.PartnerID, Kinds: in.Kinds, Since: in.Since, Until: in.Until, Limit: ReplayStep}
	for more, first := true, true; more; first = false {
		page, err := s.reader.EventPage(ctx, f)
		if err != nil {
			return total, through, false, err
		}
		position := f.After
		f.After, more = page.Through, page.More
		wanted, err := s.wanted(ctx, in, page.Events)
		if err != nil {
			return total, through, false, err
		}
		if len(wanted) == 0 && !first { // the first step also refuses a partner that is unknown
			continue
		}
		step := in.Repeat
		if step.Key.Key != "" {
			step.Key.Key += " " + position
		}
		n, err := s.resend(ctx, by, deed{"replay_events", "", in.PartnerID}, step, command.ReplayEvents{ResendEvents: command.ResendEvents{PartnerID: in.PartnerID, Events: wanted, Only: in.Only, LeaveOut: leaveOut}})
		if err != nil {
			return total, through, false, err
		}
		if total += n; len(wanted) > 0 {
			through = wanted[len(wanted)-1].Timestamp
		}
		if in.Sent != nil {
			in.Sent(total)
		}
		if in.Most > 0 && total >= in.Most {
			return total, through, more, nil
		}
	}
	return total, through, false, nil
}

// wanted are those of the events that are to be sent again.
func (s *Service) wanted(ctx context.Context, in ReplayEvents, events []commerce.WebhookEvent) (list []commerce.WebhookEvent, err error) {
	for _, e := range events {
		if in.StoreIDs != nil && !slices.Contains(in.StoreIDs, e.StoreID) || in.Route != nil && !in.Route.Takes(e.Kind, e.Mode, e.StoreID) {
			continue
		}
		if in.Undelivered {
			attempts, err := s.reader.Attempts(ctx, e.Key())
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(attempts, func(a commerce.WebhookAttempt) bool {
				return a.Delivered() && (in.Only == "" || in.Only == commerce.EndpointOwner(a.PartnerID, a.Endpoint))
			}) {
				continue
			}
		}
		list = append(list, e)
	}
	return list, nil
}
