package api

import (
	"net/http"
	"strconv"

	"purveyor/internal/web"
	"purveyor/internal/wire"
)

// orderTimeline reads the history of an order, oldest first; beyond the limit
// the newest.
func (a *API) orderTimeline(r *request) (reply, error) {
	q := web.QueryOf(r.Request)
	limit := q.Limit(100, 500)
	if q.Err() != nil {
		return reply{}, q.Err()
	}
	order, err := a.order(r)
	if err != nil {
		return reply{}, err
	}
	events, err := a.reader.Timeline(r.Context(), order.Key(), limit)
	if err != nil {
		return reply{}, err
	}
	b := append(make([]byte, 0, 64+256*len(events)), `{"ok":true,"order_id":`...)
	b = wire.AppendString(b, order.ID)
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, int64(len(events)), 10)
	b = wire.AppendTimelineEvents(append(b, `,"events":`...), events)
	return reply{status: http.StatusOK, body: append(b, '}')}, nil
}
