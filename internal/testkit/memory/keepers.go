package memory

import (
	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// keeper moves the rows of one table between the database and batches.
type keeper interface {
	name() string
	load(tables, *commerce.Rows)
	changes(*commerce.Rows, []change) []change
	groups() func(value any) any // nil: there are none
}

// keepers has one for each table of the registry, in its order; a test compares them.
var keepers = []keeper{
	keyed(&schema.Partners), keyed(&schema.APIKeys), keyed(&schema.FormerKeys), keyed(&schema.Stores), keyed(&schema.Categories),
	keyed(&schema.ProductStores), keyed(&schema.Products), keyed(&schema.Stock),
	logged(&schema.StockMoves, moveKey, func(v *commerce.StockMove) any {
		return commerce.ProductKey{StoreID: v.StoreID, ProductID: v.ProductID}
	}),
	keyed(&schema.Orders), keyed(&schema.ExternalIDs), keyed(&schema.Customers), keyed(&schema.Replies), keyed(&schema.Payments),
	keyed(&schema.Refunds).by(func(v *commerce.Refund) any { return orderKey(v.StoreID, v.OrderID) }),
	logged(&schema.Ledger, func(v *commerce.LedgerEntry) any { return numbered{v.StoreID, v.OrderID, v.Seq} },
		func(v *commerce.LedgerEntry) any { return orderKey(v.StoreID, v.OrderID) }),
	keyed(&schema.Deliveries),
	keyed(&schema.Attention).by(func(v *commerce.Attention) any { return orderKey(v.StoreID, v.OrderID) }),
	logged(&schema.StrayCallbacks, func(v *commerce.StrayCallback) any { return v.ID }, nil),
	keyed(&schema.Endpoints), keyed(&schema.Mails),
	keyed(&schema.Jobs).by(func(v *commerce.Job) any { return v.Slot }),
	logged(&schema.NewJobs, func(v *commerce.Job) any { return v.Key() }, nil),
	keyed(&schema.SandboxObjects), keyed(&schema.Faults), keyed(&schema.Certifications), keyed(&schema.Places),
	logged(&schema.Timeline, func(v *commerce.TimelineEvent) any { return numbered{v.StoreID, v.OrderID, v.Seq} },
		func(v *commerce.TimelineEvent) any { return orderKey(v.StoreID, v.OrderID) }),
	logged(&schema.WebhookEvents, func(v *commerce.WebhookEvent) any { return v.Key() }, func(v *commerce.WebhookEvent) any { return v.PartnerID }),
	logged(&schema.Attempts, func(v *commerce.WebhookAttempt) any { return [3]string{v.PartnerID, v.EventID, v.ID} },
		func(v *commerce.WebhookAttempt) any { return commerce.EventKey{PartnerID: v.PartnerID, ID: v.EventID} }),
	logged(&schema.Outbox, func(v *commerce.UnsentMessage) any { return v.ID }, nil),
	logged(&schema.Audit, func(v *commerce.AuditEntry) any { return [2]string{v.StoreID, v.ID} }, nil),
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

func moveKey(v *commerce.StockMove) any {
	return struct {
		numbered
		at commerce.Millis
	}{numbered{v.StoreID, v.ProductID, v.Seq}, v.At}
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

func (k keptRows[K, V]) groups() func(any) any { return untyped(k.group) }

func untyped[V any](group func(*V) any) func(any) any {
	if group == nil {
		return nil
	}
	return func(value any) any { return group(value.(*V)) }
}

func (k keptRows[K, V]) load(t tables, r *commerce.Rows) {
	rows := k.of.Rows(r)
	for i := range rows.Asked() {
		key, _ := rows.AskedKey(i)
		if v, there := get(t, k.of, key); there {
			rows.Fill(i, clone(v))
		}
	}
}

func (k keptRows[K, V]) changes(r *commerce.Rows, list []change) []change {
	rows := k.of.Rows(r)
	for i := range rows.Changed() {
		key, v, was := rows.Change(i)
		c := change{table: k.of.Name, key: key, fresh: was == nil}
		if v != nil {
			c.value = stored(clone(*v))
		}
		list = append(list, c)
	}
	return list
}

// keptLog keeps the rows of a log.
type keptLog[V any] struct {
	of    *schema.Log[V]
	key   func(*V) any
	group func(*V) any
}

func logged[V any](of *schema.Log[V], key, group func(*V) any) keptLog[V] {
	return keptLog[V]{of, key, group}
}

func (k keptLog[V]) name() string { return k.of.Name }

func (k keptLog[V]) groups() func(any) any { return untyped(k.group) }

func (k keptLog[V]) load(tables, *commerce.Rows) {}

func (k keptLog[V]) changes(r *commerce.Rows, list []change) []change {
	rows := *k.of.Changes(&r.Appended)
	for i := range rows {
		list = append(list, change{k.of.Name, k.key(&rows[i]), stored(clone(rows[i])), true})
	}
	return list
}

// stored points to a row without what is no part of it in the database.
func stored[V any](row V) any {
	switch v := any(&row).(type) {
	case *commerce.Job:
		v.Awaited, v.Event, v.Order, v.Payment = false, nil, nil, nil
	case *commerce.WebhookEvent:
		v.To = nil
	}
	return &row
}
