package site

import (
	"context"
	"slices"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// EventQuery is a filter of the events of a partner.
type EventQuery struct {
	PartnerID    string
	Kinds        []commerce.WebhookKind // nil: all
	Since, Until commerce.Millis        // 0: no bound
	After        string                 // id; only older events
	Limit        int
	Sees         func(commerce.WebhookEvent) bool // nil: all
}

// Event is an event with the state of its delivery.
type Event struct {
	commerce.WebhookEvent
	Tries int
	Kind  string // of the chip
	State string
}

// Events is the data of the template "events".
type Events struct {
	URL    string // events stand below it
	Orders string // the id of an order is added
	Events []Event
	Zone   *time.Location
}

// examined is how many events one page of a list looks at most.
const examined = 5000

// EventList reads the newest events that the query selects. further is the position from which
// older events follow; empty: there are none.
func EventList(ctx context.Context, reads storage.Events, q EventQuery) (list []Event, further string, err error) {
	seen := func(e commerce.WebhookEvent) bool {
		return (q.Kinds == nil || slices.Contains(q.Kinds, e.Kind)) && (q.Sees == nil || q.Sees(e)) && e.Timestamp >= q.Since && (q.Until == 0 || e.Timestamp < q.Until)
	}
	f := storage.EventFilter{PartnerID: q.PartnerID, Newest: true, After: q.After, Limit: q.Limit}
	if q.Kinds != nil {
		f.Limit = 500 // many are looked at for each that is shown
	}
	if until := commerce.NewID(commerce.PrefixEvent, q.Until, commerce.Entropy{}); q.Until != 0 && (f.After == "" || until < f.After) {
		f.After = until // the ids of events begin with their times
	}
	for looked := 0; looked < examined; {
		page, err := reads.EventPage(ctx, f)
		if err != nil {
			return nil, "", err
		}
		for _, e := range page.Events {
			if e.Timestamp < q.Since {
				return list, "", nil
			}
			if !seen(e) {
				continue
			}
			if len(list) == q.Limit {
				return list, list[len(list)-1].ID, nil
			}
			attempts, err := reads.Attempts(ctx, e.Key())
			if err != nil {
				return nil, "", err
			}
			list = append(list, EventWith(e, attempts))
		}
		if !page.More {
			return list, "", nil
		}
		looked += len(page.Events)
		f.After = page.Through
	}
	return list, f.After, nil
}

// EventWith is an event with its attempts.
func EventWith(e commerce.WebhookEvent, attempts []commerce.WebhookAttempt) Event {
	shown := Event{WebhookEvent: e, Tries: len(attempts), State: "Not sent"}
	if n := len(attempts); n > 0 {
		shown.Kind, shown.State = "bad", Outcome(attempts[n-1])
		if slices.ContainsFunc(attempts, commerce.WebhookAttempt.Delivered) {
			shown.Kind, shown.State = "good", "Delivered"
		}
	}
	return shown
}

// Outcome is the outcome of an attempt in a word.
func Outcome(a commerce.WebhookAttempt) string {
	switch {
	case a.Delivered():
		return "Delivered"
	case a.Status != 0:
		return "Answered " + strconv.FormatInt(a.Status, 10)
	}
	return "No answer"
}

// Health is the state of an endpoint as a chip and a sentence.
type Health struct {
	Kind  string // of the chip
	Word  string
	Since commerce.Millis // of the failures or the pause; 0: it is well
	Next  commerce.Millis // of the next probe; 0: there is none
	Holds bool            // events wait
	Text  string          // what happens with events now
}

// HealthOf is the state of a partner's endpoint.
func HealthOf(p commerce.Partner, e commerce.Endpoint) Health {
	switch {
	case e.Of(p).URL == "":
		return Health{"", "No URL", 0, 0, false, "The partner has no callback URL. It can read its events through the API"}
	case p.Suspended:
		return Health{"bad", "Suspended", 0, 0, true, "The partner is suspended. Its events wait until that ends"}
	case e.PausedFor == commerce.PausedOperator:
		return Health{"bad", "Paused", e.PausedOn, 0, true, "The merchant paused it. Events wait until it is resumed"}
	case e.PausedFor == commerce.PausedPartner:
		return Health{"bad", "Paused", e.PausedOn, 0, true, "The partner paused it. Events wait until it is resumed"}
	case e.PausedFor == commerce.PausedGone:
		return Health{"bad", "Gone", e.PausedOn, 0, true, "It answered 410, which means that it is gone. Events wait until it is resumed"}
	case e.PausedOn != 0:
		return Health{"bad", "Paused", e.PausedOn, 0, true, "It failed for five days. Events wait until it is resumed"}
	case e.Failing():
		return Health{"bad", "Failing", e.FailingSince, e.HeldUntil, true, strconv.FormatInt(e.Failures, 10) + " tries failed in a row. Events wait, and one is tried from time to time"}
	case e.HeldUntil != 0:
		return Health{"", "Asked to wait", 0, e.HeldUntil, true, "It answered that it wants nothing for now. Events wait until then"}
	case e.Failures > 0:
		return Health{"", "Last try failed", e.FailingSince, 0, false, "Each event is tried again by itself, up to ten times over three days"}
	}
	return Health{"good", "Healthy", 0, 0, false, "Events are sent as they happen"}
}
