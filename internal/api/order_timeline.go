package api

import (
	"purveyor/internal/api/wire"
	"purveyor/internal/web"
)

// orderTimeline reads the history of an order, oldest first. Beyond the limit, it returns
// the newest events.
func (a *API) orderTimeline(r *request) (reply, error) {
	q := web.QueryOf(r.Request)
	limit := q.Limit(100, 500)
	if q.Err() != nil {
		return reply{}, q.Err()
	}
	order, err := r.order()
	if err != nil {
		return reply{}, err
	}
	events, err := a.reader.Timeline(r.Context(), order.Key(), limit)
	if err != nil {
		return reply{}, err
	}
	list := newestFitting(wire.TimelineOf(events))
	return ok(struct {
		OK      bool                 `json:"ok"`
		OrderID string               `json:"order_id"`
		Count   int                  `json:"count"`
		Events  []wire.TimelineEvent `json:"events"`
	}{true, order.ID, len(list), list})
}

// newestFitting leaves out the oldest events until the others fit into an answer.
func newestFitting(events []wire.TimelineEvent) []wire.TimelineEvent {
	atMost := func(e wire.TimelineEvent) int {
		size := 400 + len(e.Data)
		if e.Message != nil {
			size += escaped * len(*e.Message)
		}
		return size
	}
	total := 0
	for _, e := range events {
		total += atMost(e)
	}
	for total > roomFor(nil) && len(events) > 1 {
		total -= atMost(events[0])
		events = events[1:]
	}
	return events
}
