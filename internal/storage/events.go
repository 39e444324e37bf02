package storage

import "purveyor/internal/commerce"

// EventFilter selects webhook events of a partner.
type EventFilter struct {
	PartnerID string
	Kinds     []commerce.WebhookKind // nil: all
	Since     int64                  // Unix ms of the event's timestamp, inclusive; 0: no bound
	Until     int64                  // exclusive; 0: no bound
	After     string                 // id; empty: from the beginning
	Newest    bool                   // the newest first, and After is where to go on downwards
	Limit     int
	Bytes     int // that the page takes in an answer, as ProductFilter.Bytes; 0: no bound
}

// EventPage is what there is on a page.
type EventPage struct {
	Events []commerce.WebhookEvent
	// Through is the id where the next page goes on: of the last event that was
	// given, or, when there are no more, of the last that was looked at. Empty:
	// nothing was looked at.
	Through string
	More    bool // there may be more events right now
}

// EventRoom is the most that an event takes in an answer beside its data.
const EventRoom = 512

// EventList collects the events of a page, in the order in which they are read.
type EventList struct {
	filter EventFilter
	room   Room
	events []commerce.WebhookEvent
	full   bool
}

// List of a page, with no event yet.
func (f EventFilter) List() EventList {
	return EventList{filter: f, room: f.Room()}
}

// Full tells that the page has ended before an event.
func (l *EventList) Full() bool { return l.full }

// Add the next event, unless the page ends before it.
func (l *EventList) Add(e commerce.WebhookEvent) {
	if l.full = l.full || !l.room.Add(len(e.Data)+EventRoom); !l.full {
		l.events = append(l.events, e)
	}
}

// Page makes the page, once one event more was read than it holds, if there is
// one. newest is the last event that a page may give.
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
