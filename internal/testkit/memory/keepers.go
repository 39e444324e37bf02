package memory

import (
	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// keeper moves the rows of one table between the database and batches.
type keeper interface {
	name() string
	table() *table
	load(tables, *commerce.Rows)
	// check returns why the rows that a batch changes may not be saved.
	check(tables, *commerce.Rows) error
	save(tables, *commerce.Rows)
}

// keepers has one for each table of the registry, in its order; a test compares them.
var keepers = []keeper{
	keyed(&schema.Partners), keyed(&schema.APIKeys), keyed(&schema.FormerKeys), keyed(&schema.Stores), keyed(&schema.Categories),
	keyed(&schema.ProductStores), keyed(&schema.Products), keyed(&schema.Stock),
	logged(&schema.StockMoves, moveKey, func(v *commerce.StockMove) any {
		return commerce.ProductKey{StoreID: v.StoreID, ProductID: v.ProductID}
	}),
	keyed(&schema.Orders).by(func(v *commerce.Order) any { return v.StoreID }), keyed(&schema.ExternalIDs), keyed(&schema.Customers), keyed(&schema.Replies), keyed(&schema.Payments),
	keyed(&schema.Refunds).by(func(v *commerce.Refund) any { return orderKey(v.StoreID, v.OrderID) }),
	logged(&schema.Ledger, func(v *commerce.LedgerEntry) numbered { return numbered{v.StoreID, v.OrderID, v.Seq} },
		func(v *commerce.LedgerEntry) any { return orderKey(v.StoreID, v.OrderID) }),
	keyed(&schema.Deliveries),
	keyed(&schema.Attention).by(func(v *commerce.Attention) any { return orderKey(v.StoreID, v.OrderID) }),
	logged(&schema.StrayCallbacks, func(v *commerce.StrayCallback) string { return v.ID }, nil),
	keyed(&schema.Endpoints), keyed(&schema.Mails),
	keyed(&schema.Jobs).by(func(v *commerce.Job) any { return v.Slot }),
	logged(&schema.NewJobs, func(v *commerce.Job) commerce.JobKey { return v.Key() }, nil),
	keyed(&schema.SandboxObjects), keyed(&schema.Faults), keyed(&schema.Certifications), keyed(&schema.Places),
	logged(&schema.Timeline, func(v *commerce.TimelineEvent) numbered { return numbered{v.StoreID, v.OrderID, v.Seq} },
		func(v *commerce.TimelineEvent) any { return orderKey(v.StoreID, v.OrderID) }),
	logged(&schema.WebhookEvents, func(v *commerce.WebhookEvent) commerce.EventKey { return v.Key() }, func(v *commerce.WebhookEvent) any { return v.PartnerID }),
	logged(&schema.Attempts, func(v *commerce.WebhookAttempt) attemptKey { return attemptKey{v.PartnerID, v.EventID, v.ID} },
		func(v *commerce.WebhookAttempt) any { return commerce.EventKey{PartnerID: v.PartnerID, ID: v.EventID} }),
	logged(&schema.Outbox, func(v *commerce.UnsentMessage) string { return v.ID }, nil),
	logged(&schema.Audit, func(v *commerce.AuditEntry) [2]string { return [2]string{v.StoreID, v.ID} }, nil),
	keyed(&schema.Users), keyed(&schema.Members), keyed(&schema.Sessions), keyed(&schema.SignInLinks), keyed(&schema.SignInCounts), keyed(&schema.SavedViews),
	keyed(&schema.HourSums), keyed(&schema.SumPositions), keyed(&schema.FeedPlaces), keyed(&schema.ProductNews),
}

// numbered is the key of a row that is numbered among those of its order.
type numbered struct {
	storeID, orderID string
	seq              int64
}

func orderKey(storeID, orderID string) any {
	return commerce.OrderKey{StoreID: storeID, OrderID: orderID}
}

// attemptKey has the ids of a partner, an event and an attempt.
type attemptKey [3]string

// movedAt is the key of a stock move.
type movedAt struct {
	numbered
	at commerce.Millis
}

func moveKey(v *commerce.StockMove) movedAt {
	return movedAt{numbered{v.StoreID, v.ProductID, v.Seq}, v.At}
}

// keptRows keeps the rows of a table with keys.
type keptRows[K comparable, V any] struct {
	of    *schema.Table[K, V]
	group func(*V) any
}

func keyed[K comparable, V any](of *schema.Table[K, V]) keptRows[K, V] { return keptRows[K, V]{of: of} }

// by has the rows grouped.
func (k keptRows[K, V]) by(group func(*V) any) keptRows[K, V] {
	k.group = group
	return k
}

func (k keptRows[K, V]) name() string { return k.of.Name }

func (k keptRows[K, V]) table() *table { return newTable(k.of.KeyOf, k.group) }

func (k keptRows[K, V]) load(t tables, r *commerce.Rows) {
	rows := k.of.Rows(r)
	if rows.Asked() == 0 {
		return
	}
	from := t[k.of.Name]
	for i := range rows.Asked() {
		key, _ := rows.AskedKey(i)
		if stored := find(from, key); stored != nil {
			rows.Fill(i, *clone(from.plan, stored.value.(*V)))
		}
	}
}

func (k keptRows[K, V]) check(t tables, r *commerce.Rows) error {
	rows := k.of.Rows(r)
	for i := range rows.Changed() {
		if key, v, was := rows.Change(i); v != nil {
			if err := check(t[k.of.Name], key, v, was == nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k keptRows[K, V]) save(t tables, r *commerce.Rows) {
	rows := k.of.Rows(r)
	if rows.Changed() == 0 {
		return
	}
	to := t[k.of.Name]
	for i := range rows.Changed() {
		if key, v, _ := rows.Change(i); v != nil {
			put(to, key, stored(clone(to.plan, v)))
		} else {
			remove(to, key)
		}
	}
}

// keptLog keeps the rows of a log.
type keptLog[K comparable, V any] struct {
	of    *schema.Log[V]
	key   func(*V) K
	group func(*V) any
}

func logged[K comparable, V any](of *schema.Log[V], key func(*V) K, group func(*V) any) keptLog[K, V] {
	return keptLog[K, V]{of, key, group}
}

func (k keptLog[K, V]) name() string { return k.of.Name }

func (k keptLog[K, V]) table() *table { return newTable(k.key, k.group) }

func (k keptLog[K, V]) load(tables, *commerce.Rows) {}

func (k keptLog[K, V]) check(t tables, r *commerce.Rows) error {
	rows := *k.of.Changes(&r.Appended)
	for i := range rows {
		if err := check(t[k.of.Name], k.key(&rows[i]), &rows[i], true); err != nil {
			return err
		}
	}
	return nil
}

func (k keptLog[K, V]) save(t tables, r *commerce.Rows) {
	rows := *k.of.Changes(&r.Appended)
	for i := range rows {
		to := t[k.of.Name]
		put(to, k.key(&rows[i]), stored(clone(to.plan, &rows[i])))
	}
}

// stored takes off a row what is no part of it in the database.
func stored[V any](row *V) *V {
	switch v := any(row).(type) {
	case *commerce.Job:
		v.Awaited, v.Event, v.Order, v.Payment = false, nil, nil, nil
	case *commerce.WebhookEvent:
		v.To = nil
	}
	return row
}
