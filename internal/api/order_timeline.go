package api

import (
	"net/http"
	"strconv"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
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
	events = newestFitting(events)
	b := append(make([]byte, 0, 64+256*len(events)), `{"ok":true,"order_id":`...)
	b = wire.AppendString(b, order.ID)
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, int64(len(events)), 10)
	b = wire.AppendTimelineEvents(append(b, `,"events":`...), events)
	return reply{status: http.StatusOK, body: append(b, '}')}, nil
}

// newestFitting leaves out the oldest events until the others fit into an answer.
func newestFitting(events []commerce.TimelineEvent) []commerce.TimelineEvent {
	atMost := func(e commerce.TimelineEvent) int {
		return 400 + len(wire.TimelineData(e.Data)) + escaped*len(e.Message)
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
