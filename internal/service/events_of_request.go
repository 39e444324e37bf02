package service

import (
	"context"
	"errors"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Request is a logged request of a partner.
type Request struct {
	PartnerID    string
	OrderID      string // empty: it was about no order
	TraceID      string
	Began, Ended commerce.Millis
}

const (
	// Clocks of processes and the times of batches differ by less than this, in ms.
	clockSlack commerce.Millis = 2000
	// Jobs that follow from a request may make events later. Only those of so many times are
	// looked for.
	mostEventTimes = 20
	// eventsAtOnce is how many events of one time are examined.
	eventsAtOnce = 300
)

// EventsOfRequest reads the webhook events that a request has made, oldest first: those with its
// trace id, of its order if it has one. The ids of events begin with the time of their batch, which
// the order's timeline has, so that no index by trace id is needed.
func (s *Service) EventsOfRequest(ctx context.Context, r Request) (list []commerce.WebhookEvent, err error) {
	spans, err := s.spansOfEvents(ctx, r)
	for _, span := range spans {
		if err != nil {
			return nil, err
		}
		var page storage.EventPage
		page, err = s.reader.EventPage(ctx, storage.EventFilter{PartnerID: r.PartnerID, Limit: eventsAtOnce,
			After: commerce.NewID(commerce.PrefixEvent, span[0], commerce.Entropy{}), Before: commerce.NewID(commerce.PrefixEvent, span[1], commerce.Entropy{})})
		for _, e := range page.Events {
			if e.TraceID == r.TraceID && (r.OrderID == "" || e.OrderID == r.OrderID) {
				list = append(list, e)
			}
		}
	}
	return list, err
}

// spansOfEvents are the times, from inclusive and to exclusive, in which events of the request may
// have been made.
func (s *Service) spansOfEvents(ctx context.Context, r Request) (spans [][2]commerce.Millis, err error) {
	if r.OrderID == "" {
		return [][2]commerce.Millis{{r.Began - clockSlack, r.Ended + clockSlack}}, nil
	}
	key, err := s.orderKey(ctx, r.OrderID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	const most = 500
	timeline, err := s.reader.Timeline(ctx, key, most)
	for _, e := range timeline {
		span := [2]commerce.Millis{e.CreatedOn, e.CreatedOn + 1}
		if e.CreatedOn >= r.Began-clockSlack && len(spans) < mostEventTimes && !slices.Contains(spans, span) {
			spans = append(spans, span)
		}
	}
	return spans, err
}
