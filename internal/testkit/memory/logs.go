package memory

import (
	"purveyor/internal/commerce"
)

// logs are the rows that are only ever added.
type logs struct {
	timeline map[eventOfOrder]commerce.TimelineEvent
	moves    map[numbered]commerce.StockMove
	ledger   map[eventOfOrder]commerce.LedgerEntry
	events   map[commerce.EventKey]commerce.WebhookEvent
	attempts map[attemptKey]commerce.WebhookAttempt
	notices  map[string]commerce.StrayCallback
	outbox   map[string]commerce.UnsentMessage
	audit    map[storeAudit]commerce.AuditEntry
}

type eventOfOrder struct {
	commerce.OrderKey
	seq int64
}

type numbered struct {
	commerce.ProductKey
	seq int64
}

type storeAudit struct{ storeID, id string }

type attemptKey struct {
	commerce.EventKey
	id string
}

func newLogs() logs {
	return logs{map[eventOfOrder]commerce.TimelineEvent{}, map[numbered]commerce.StockMove{}, map[eventOfOrder]commerce.LedgerEntry{},
		map[commerce.EventKey]commerce.WebhookEvent{}, map[attemptKey]commerce.WebhookAttempt{}, map[string]commerce.StrayCallback{}, map[string]commerce.UnsentMessage{}, map[storeAudit]commerce.AuditEntry{}}
}

func timelineKey(e commerce.TimelineEvent) eventOfOrder {
	return eventOfOrder{commerce.OrderKey{StoreID: e.StoreID, OrderID: e.OrderID}, e.Seq}
}

func moveKey(m commerce.StockMove) numbered {
	return numbered{commerce.ProductKey{StoreID: m.StoreID, ProductID: m.ProductID}, m.Seq}
}

func ledgerKey(e commerce.LedgerEntry) eventOfOrder {
	return eventOfOrder{commerce.OrderKey{StoreID: e.StoreID, OrderID: e.OrderID}, e.Seq}
}

func keyOfAttempt(a commerce.WebhookAttempt) attemptKey {
	return attemptKey{commerce.EventKey{PartnerID: a.PartnerID, ID: a.EventID}, a.ID}
}

func noticeKey(n commerce.StrayCallback) string          { return n.ID }
func auditKey(e commerce.AuditEntry) storeAudit          { return storeAudit{e.StoreID, e.ID} }
func outboxKey(m commerce.UnsentMessage) string          { return m.ID }
func jobKey(j commerce.Job) commerce.JobKey              { return j.Key() }
func eventKey(e commerce.WebhookEvent) commerce.EventKey { return e.Key() }

// check refuses rows whose key is taken.
func (l *logs) check(r *commerce.Changes, t *tables) error {
	for _, err := range []error{
		fresh(l.timeline, r.Timeline, timelineKey), fresh(l.moves, r.StockMoves, moveKey), fresh(l.ledger, r.Ledger, ledgerKey),
		fresh(l.events, r.Webhooks, eventKey), fresh(l.attempts, r.Attempts, keyOfAttempt), fresh(l.notices, r.StrayCallbacks, noticeKey),
		fresh(l.outbox, r.Outbox, outboxKey), fresh(l.audit, r.Audit, auditKey), fresh(t.jobs.rows, r.NewJobs, jobKey),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func fresh[K comparable, V any](rows map[K]V, added []V, key func(V) K) error {
	for _, v := range added {
		if _, there := rows[key(v)]; there {
			return refusal("it is there already", v)
		}
	}
	return nil
}

func (l *logs) append(r *commerce.Changes, t *tables) {
	add(l.timeline, r.Timeline, timelineKey)
	add(l.moves, r.StockMoves, moveKey)
	add(l.ledger, r.Ledger, ledgerKey)
	add(l.events, r.Webhooks, eventKey)
	add(l.attempts, r.Attempts, keyOfAttempt)
	add(l.notices, r.StrayCallbacks, noticeKey)
	add(l.outbox, r.Outbox, outboxKey)
	add(l.audit, r.Audit, auditKey)
	for _, e := range r.Webhooks {
		e.Deliver = false // is not stored
		l.events[e.Key()] = clone(e)
	}
	for _, j := range r.NewJobs {
		t.jobs.put(j)
	}
}

func add[K comparable, V any](rows map[K]V, added []V, key func(V) K) {
	for _, v := range added {
		rows[key(v)] = clone(v)
	}
}
