package storage

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
)

// Events reads webhook events and their attempts.
type Events interface {
	// WebhookEvents reads events by key. The map lacks unknown keys.
	WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error)

	// EventPage reads events of a partner in the order of ids. A page ends before the ids
	// that an open batch may still write, so that no event is ever skipped.
	EventPage(ctx context.Context, f EventFilter) (EventPage, error)

	// Attempts of an event, oldest first.
	Attempts(ctx context.Context, key commerce.EventKey) ([]commerce.WebhookAttempt, error)
}

// Endpoints reads the state of partners' webhook endpoints.
type Endpoints interface {
	// Endpoints reads the endpoints of partners. An endpoint without a row is healthy,
	// and the map lacks it.
	Endpoints(ctx context.Context, partnerIDs []string) (map[string]commerce.Endpoint, error)

	// HeldEndpoints reads all endpoints that are held and not paused, in the order of
	// HeldUntil.
	HeldEndpoints(ctx context.Context) ([]commerce.Endpoint, error)
}

// EventFilter selects webhook events of a partner.
type EventFilter struct {
	PartnerID string
	Kinds     []commerce.WebhookKind // nil: all
	Since     commerce.Millis        // of the event's timestamp, inclusive; 0: no bound
	Until     commerce.Millis        // exclusive; 0: no bound
	After     string                 // id; empty: from the beginning
	Newest    bool                   // newest first, from After (exclusive) downwards
	Limit     int
	Bytes     int // of the page in an answer, as ProductFilter.Bytes; 0: no bound
}

// AfterAllIDs is greater than any id.
const AfterAllIDs = "~"

// SQL selects the columns of the events in their order, one event more than the page holds.
func (f EventFilter) SQL(columns string) (string, []any) {
	sql, args := "SELECT "+columns+" FROM webhook_events WHERE partner_id = $1 AND id", []any{f.PartnerID}
	next := func(v any) string {
		args = append(args, v)
		return " $" + strconv.Itoa(len(args))
	}
	order := " ORDER BY id"
	if f.Newest {
		sql += " <" + next(cmp.Or(f.After, AfterAllIDs))
		order += " DESC"
	} else {
		sql += " >" + next(f.After)
	}
	if f.Kinds != nil {
		kinds := []string{"''"} // no event has it, but the list must not be empty
		for _, k := range f.Kinds {
			kinds = append(kinds, next(string(k)))
		}
		sql += " AND kind IN (" + strings.Join(kinds, ",") + ")"
	}
	if f.Since != 0 {
		sql += " AND timestamp >=" + next(int64(f.Since))
	}
	if f.Until != 0 {
		sql += " AND timestamp <" + next(int64(f.Until))
	}
	return sql + order + " LIMIT" + next(int64(f.Limit+1)), args
}

// EventPage is one page of events.
type EventPage struct {
	Events []commerce.WebhookEvent
	// Through is the id after which the next page begins: that of the last event on the
	// page or, if no more events follow, of the last event that was examined. Empty: no
	// event was examined.
	Through string
	More    bool // there may be more events right now
}

// EventRoom is the largest size of an event in an answer without its data.
const EventRoom = 512

// EventList collects the events of a page, in the order in which they are read.
type EventList struct {
	filter EventFilter
	room   Room
	events []commerce.WebhookEvent
	full   bool
}

// List returns an empty list for a page.
func (f EventFilter) List() EventList {
	return EventList{filter: f, room: f.Room()}
}

// Full reports whether the page has ended before an event.
func (l *EventList) Full() bool { return l.full }

// Add adds the next event, unless the page ends before it.
func (l *EventList) Add(e commerce.WebhookEvent) {
	if l.full = l.full || !l.room.Add(len(e.Data)+EventRoom); !l.full {
		l.events = append(l.events, e)
	}
}

// Page returns the page. The engine must have added one event more than the page holds, if
// there is one. newest is the id of the last event that a page may contain.
func (l *EventList) Page(newest string) EventPage {
	p := EventPage{Events: l.events, Through: l.filter.After, More: l.full}
	if n := len(l.events); n > 0 {
		p.Through = l.events[n-1].ID
	}
	if !l.full && !l.filter.Newest {
		p.Through = max(p.Through, newest)
	}
	return p
}
