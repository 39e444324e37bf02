package storage

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// Orders reads orders and what belongs to each of them.
type Orders interface {
	Order(ctx context.Context, key commerce.OrderKey) (commerce.Order, error)
	ExternalOrder(ctx context.Context, key commerce.ExternalKey) (commerce.OrderKey, error)

	// PartnerOrders reads one page of a list of a partner's orders. Pages in the sequence of
	// changes end before the stamps that an open batch may still write, so that no order is
	// ever skipped. It does not read orders whose documents the caller has.
	PartnerOrders(ctx context.Context, f PartnerOrderFilter, have OrderDocuments) (PartnerOrderPage, error)

	// Timeline reads the newest events of an order, at most limit, oldest first.
	Timeline(ctx context.Context, key commerce.OrderKey, limit int) ([]commerce.TimelineEvent, error)

	// Delivery of an order.
	Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error)
}

// AttentionReader reads the reasons for the merchant to look at orders.
type AttentionReader interface {
	// Attention reads the open and resolved reasons of an order, in the order of the
	// codes.
	Attention(ctx context.Context, key commerce.OrderKey) ([]commerce.Attention, error)

	// OpenAttention reads at most limit open reasons of a store behind the given
	// position, in the order of (Since, OrderID, Code).
	OpenAttention(ctx context.Context, storeID string, after AttentionPosition, limit int) ([]commerce.Attention, error)
}

// AttentionPosition is a position in the order of a store's open reasons: behind the
// reason with this time, order and code.
type AttentionPosition struct {
	Since   commerce.Millis
	OrderID string
	Code    commerce.AttentionCode
}

// CourierFacts reads geocoded addresses, and callbacks about unknown deliveries.
type CourierFacts interface {
	// GeocodedAddress is the place of the address with this digest.
	GeocodedAddress(ctx context.Context, address string) (commerce.GeocodedAddress, error)

	// StrayCallbacks are the stored callbacks about an unknown delivery, oldest first.
	StrayCallbacks(ctx context.Context, deliveryID string) ([]commerce.StrayCallback, error)
}

// Money reads payments, refunds and the ledger.
type Money interface {
	Payment(ctx context.Context, key commerce.OrderKey) (commerce.Payment, error)
	Refund(ctx context.Context, key commerce.RefundKey) (commerce.Refund, error)

	// Ledger and Refunds read the entries and refunds of an order, oldest first.
	Ledger(ctx context.Context, key commerce.OrderKey) ([]commerce.LedgerEntry, error)

	Refunds(ctx context.Context, key commerce.OrderKey) ([]commerce.Refund, error)

	// Payments reads at most limit payments behind the given key, in the order of keys.
	Payments(ctx context.Context, after commerce.OrderKey, limit int) ([]commerce.Payment, error)
}

// Events reads webhook events and their attempts.
type Events interface {
	// WebhookEvents reads events by key. The map lacks unknown keys.
	WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error)

	// EventPage reads events of a partner in the order of ids. A page ends before the ids
	// that an open batch may still write, so that no event is ever skipped.
	EventPage(ctx context.Context, f EventFilter) (EventPage, error)

	// Attempts of an event, oldest first.
	Attempts(ctx context.Context, key commerce.EventKey) ([]commerce.WebhookAttempt, error)

	// EndpointAttempts reads at most limit attempts at an endpoint, the newest first, before
	// the attempt with the id before (empty: from the newest).
	EndpointAttempts(ctx context.Context, owner, before string, limit int) ([]commerce.WebhookAttempt, error)
}

// Endpoints reads the state of partners' webhook endpoints.
type Endpoints interface {
	// Endpoints reads endpoints by their owners. A callback URL without a row is healthy,
	// and the map lacks it, as it lacks an endpoint that is not there.
	Endpoints(ctx context.Context, owners []string) (map[string]commerce.Endpoint, error)

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
	Before    string                 // id, exclusive; empty: to the end. Not with Newest
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
		if f.Before != "" {
			sql += " AND id <" + next(f.Before)
		}
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
	if !l.full && !l.filter.Newest && l.filter.Before == "" {
		p.Through = max(p.Through, newest)
	}
	return p
}

// Replies reads stored replies.
type Replies interface {
	// Reply reads the stored reply of an idempotency key.
	Reply(ctx context.Context, key commerce.ReplyKey) (commerce.Reply, error)
}

// Expiry deletes old rows.
type Expiry interface {
	// Sweep deletes a bounded number of rows that have expired by now (schema.Expired).
	// It returns how many; 0 means that there are no more. An engine that owns the file
	// overwrites the deleted rows.
	Sweep(ctx context.Context, now commerce.Millis) (int, error)
}

// ReplyStore counts stored replies.
type ReplyStore interface {
	// CountReplies adds the bytes of the replies that this engine has stored since the
	// last call to the hour of now, and returns how many bytes each partner has stored,
	// by all processes. It is an estimate: if a process dies, the replies after its last
	// call are not counted, and deleted replies are subtracted hour by hour.
	CountReplies(ctx context.Context, now commerce.Millis) (schema.ReplyBytes, error)
}

// AuditReader reads what people did, and the changes of keys and endpoints.
type AuditReader interface {
	// Audit reads at most limit entries of a store, newest first, that are older than
	// the entry with the given id (empty: all). An empty store selects the entries
	// that are about no single store.
	Audit(ctx context.Context, storeID, before string, limit int) ([]commerce.AuditEntry, error)

	// NewestAudit reads entries of all stores and of none, as Audit does.
	NewestAudit(ctx context.Context, before string, limit int) ([]commerce.AuditEntry, error)
}
