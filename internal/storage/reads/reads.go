// Package reads has the reads whose statements are the same in both engines.
// Engines embed a Reader, and have methods of their own for the others.
package reads

import (
	"cmp"
	"context"
	"crypto/subtle"
	"fmt"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Rows runs one statement, and calls row for each of its rows. Parameters are
// $1, $2 and so on. Each stands for the first time after those with lower numbers,
// because SQLite numbers parameters in the order in which it meets them.
type Rows func(ctx context.Context, sql string, bind func(schema.Binder), row func(schema.Scanner)) error

// Reader reads by the statements of an engine.
type Reader struct{ Rows Rows }

// Bind binds the arguments of a statement.
func Bind(args ...any) func(schema.Binder) {
	return func(b schema.Binder) {
		for _, arg := range args {
			switch v := arg.(type) {
			case string:
				b.Text(v)
			case int:
				b.Int(int64(v))
			case int64:
				b.Int(v)
			case commerce.Millis:
				b.Int(int64(v))
			case bool:
				b.Bool(v)
			case []byte:
				b.Blob(v)
			default:
				panic(fmt.Sprintf("a parameter of type %T", arg))
			}
		}
	}
}

// one reads a row by its key; storage.ErrNotFound if there is none.
func one[K comparable, V any](ctx context.Context, r Reader, t *schema.Table[K, V], k K) (v V, err error) {
	found := false
	err = r.Rows(ctx, byKey[t.Name], func(b schema.Binder) { t.BindKey(b, k) }, func(s schema.Scanner) { v, found = t.Scan(s, k), true })
	if err == nil && !found {
		err = storage.ErrNotFound
	}
	return v, err
}

// list reads all rows of a statement.
func list[V any](ctx context.Context, r Reader, scan func(schema.Scanner) V, sql string, args ...any) (list []V, err error) {
	err = r.Rows(ctx, sql, Bind(args...), func(s schema.Scanner) { list = append(list, scan(s)) })
	return list, err
}

// first reads the first row of a statement; storage.ErrNotFound if there is none.
func first[V any](ctx context.Context, r Reader, scan func(schema.Scanner) V, sql string, args ...any) (v V, err error) {
	found, err := list(ctx, r, scan, sql, args...)
	if err == nil && len(found) == 0 {
		err = storage.ErrNotFound
	}
	if err != nil {
		return v, err
	}
	return found[0], nil
}

// byKey has the statement of each table that reads the row with a key.
var byKey = func() map[string]string {
	list := map[string]string{}
	for _, t := range schema.Tables {
		s := t.Shape()
		list[s.Name] = s.ByKeySQL()
	}
	return list
}()

func scanStore(s schema.Scanner) commerce.Store     { return schema.Stores.Scan(s, s.Text()) }
func scanPartner(s schema.Scanner) commerce.Partner { return schema.Partners.Scan(s, s.Text()) }
func scanStock(s schema.Scanner) commerce.Stock {
	return schema.Stock.Scan(s, commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()})
}

// Store implements storage.Reader, as do the others.
func (r Reader) Store(ctx context.Context, id string) (commerce.Store, error) {
	return one(ctx, r, &schema.Stores, id)
}

// StoreByNo reads the store with a number.
func (r Reader) StoreByNo(ctx context.Context, no int64) (commerce.Store, error) {
	return first(ctx, r, scanStore, "SELECT "+schema.Stores.Columns()+" FROM stores WHERE no = $1", no)
}

// Order reads an order.
func (r Reader) Order(ctx context.Context, key commerce.OrderKey) (commerce.Order, error) {
	return one(ctx, r, &schema.Orders, key)
}

// ExternalOrder reads the key of the order that a partner calls so.
func (r Reader) ExternalOrder(ctx context.Context, key commerce.ExternalKey) (commerce.OrderKey, error) {
	ref, err := one(ctx, r, &schema.ExternalIDs, key)
	return ref.Order, err
}

// Timeline reads the newest events of an order.
func (r Reader) Timeline(ctx context.Context, key commerce.OrderKey, limit int) ([]commerce.TimelineEvent, error) {
	events, err := list(ctx, r, func(s schema.Scanner) commerce.TimelineEvent { return schema.ScanTimeline(s, key) },
		"SELECT seq, "+schema.Timeline.Rest+" FROM timeline WHERE store_id = $1 AND order_id = $2 ORDER BY seq DESC LIMIT $3",
		key.StoreID, key.OrderID, limit)
	slices.Reverse(events)
	return events, err
}

// Delivery reads the delivery of an order.
func (r Reader) Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error) {
	return one(ctx, r, &schema.Deliveries, key)
}

// Attention reads the reasons of an order.
func (r Reader) Attention(ctx context.Context, key commerce.OrderKey) ([]commerce.Attention, error) {
	return list(ctx, r, schema.ScanAttention, "SELECT "+schema.Attention.Columns()+
		" FROM attention WHERE store_id = $1 AND order_id = $2 ORDER BY code", key.StoreID, key.OrderID)
}

// OpenAttention reads the open reasons of a store.
func (r Reader) OpenAttention(ctx context.Context, storeID string, after storage.AttentionPosition, limit int) ([]commerce.Attention, error) {
	return list(ctx, r, schema.ScanAttention, "SELECT "+schema.Attention.Columns()+
		" FROM attention WHERE resolved_on = 0 AND store_id = $1 AND (since, order_id, code) > ($2, $3, $4) ORDER BY since, order_id, code LIMIT $5",
		storeID, after.Since, after.OrderID, string(after.Code), limit)
}

// GeocodedAddress reads where an address was found to be.
func (r Reader) GeocodedAddress(ctx context.Context, address string) (commerce.GeocodedAddress, error) {
	return one(ctx, r, &schema.Places, address)
}

// StrayCallbacks reads the callbacks about an unknown delivery.
func (r Reader) StrayCallbacks(ctx context.Context, deliveryID string) ([]commerce.StrayCallback, error) {
	return list(ctx, r, schema.ScanStrayCallback, "SELECT "+schema.StrayCallbacks.Columns()+
		" FROM courier_notices WHERE delivery_id = $1 ORDER BY id", deliveryID)
}

// Reply reads the stored answer of an idempotency key.
func (r Reader) Reply(ctx context.Context, key commerce.ReplyKey) (commerce.Reply, error) {
	return one(ctx, r, &schema.Replies, key)
}

// Payment reads the payment of an order.
func (r Reader) Payment(ctx context.Context, key commerce.OrderKey) (commerce.Payment, error) {
	return one(ctx, r, &schema.Payments, key)
}

// Payments reads payments in the order of their keys.
func (r Reader) Payments(ctx context.Context, after commerce.OrderKey, limit int) ([]commerce.Payment, error) {
	return list(ctx, r, schema.ScanPayment, "SELECT "+schema.Payments.Columns()+
		" FROM payments WHERE (store_id, order_id) > ($1, $2) ORDER BY store_id, order_id LIMIT $3", after.StoreID, after.OrderID, limit)
}

// Refund reads a refund.
func (r Reader) Refund(ctx context.Context, key commerce.RefundKey) (commerce.Refund, error) {
	return one(ctx, r, &schema.Refunds, key)
}

// Refunds reads the refunds of an order.
func (r Reader) Refunds(ctx context.Context, key commerce.OrderKey) ([]commerce.Refund, error) {
	return list(ctx, r, schema.ScanRefund, "SELECT "+schema.Refunds.Columns()+" FROM refunds WHERE store_id = $1 AND order_id = $2 ORDER BY id",
		key.StoreID, key.OrderID)
}

// Ledger reads the entries of an order's account.
func (r Reader) Ledger(ctx context.Context, key commerce.OrderKey) ([]commerce.LedgerEntry, error) {
	return list(ctx, r, func(s schema.Scanner) commerce.LedgerEntry { return schema.ScanLedger(s, key) },
		"SELECT seq, "+schema.Ledger.Rest+" FROM ledger WHERE store_id = $1 AND order_id = $2 ORDER BY seq", key.StoreID, key.OrderID)
}

// SandboxObject reads an object of a sandbox.
func (r Reader) SandboxObject(ctx context.Context, id string) (commerce.SandboxObject, error) {
	return one(ctx, r, &schema.SandboxObjects, id)
}

// StockPage reads stock rows in the order of their keys.
func (r Reader) StockPage(ctx context.Context, storeID string, after commerce.ProductKey, limit int) ([]commerce.Stock, error) {
	where, first := "(store_id, product_id) > ($1, $2)", after.StoreID
	if storeID != "" {
		where, first = "store_id = $1 AND product_id > $2", storeID
	}
	return list(ctx, r, scanStock, "SELECT "+schema.Stock.Columns()+" FROM stock WHERE "+where+" ORDER BY store_id, product_id LIMIT $3",
		first, after.ProductID, limit)
}

// ProductStore reads which store a product belongs to.
func (r Reader) ProductStore(ctx context.Context, productID string) (commerce.ProductStore, error) {
	return one(ctx, r, &schema.ProductStores, productID)
}

// Partner reads a partner.
func (r Reader) Partner(ctx context.Context, id string) (commerce.Partner, error) {
	return one(ctx, r, &schema.Partners, id)
}

// Partners reads all partners.
func (r Reader) Partners(ctx context.Context) ([]commerce.Partner, error) {
	return list(ctx, r, scanPartner, "SELECT "+schema.Partners.Columns()+" FROM partners ORDER BY id")
}

// KeyHolder finds the key by an index over hashes. The time of the search reveals nothing
// of the key, and the stored hash is compared in constant time.
func (r Reader) KeyHolder(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.Mode, error) {
	key, err := first(ctx, r, func(s schema.Scanner) (key commerce.APIKey) {
		key.PartnerID, key.Mode = s.Text(), commerce.Mode(s.Text())
		copy(key.Hash[:], s.Blob())
		return key
	}, "SELECT partner_id, mode, hash FROM api_keys WHERE hash = $1", hash[:])
	if err == nil && subtle.ConstantTimeCompare(key.Hash[:], hash[:]) != 1 {
		err = storage.ErrNotFound
	}
	if err != nil {
		return commerce.Partner{}, "", err
	}
	p, err := r.Partner(ctx, key.PartnerID)
	return p, key.Mode, err
}

// Attempts reads the attempts to deliver a webhook.
func (r Reader) Attempts(ctx context.Context, key commerce.EventKey) ([]commerce.WebhookAttempt, error) {
	return list(ctx, r, func(s schema.Scanner) commerce.WebhookAttempt { return schema.ScanAttempt(s, key) },
		"SELECT id, "+schema.Attempts.Rest+" FROM webhook_attempts WHERE partner_id = $1 AND event_id = $2 ORDER BY id", key.PartnerID, key.ID)
}

// HeldEndpoints reads the endpoints that are held and not paused.
func (r Reader) HeldEndpoints(ctx context.Context) ([]commerce.Endpoint, error) {
	return list(ctx, r, func(s schema.Scanner) commerce.Endpoint { return schema.Endpoints.Scan(s, s.Text()) },
		"SELECT "+schema.Endpoints.Columns()+" FROM endpoints WHERE held_until <> 0 AND paused_on = 0 ORDER BY held_until")
}

// Outbox reads messages that were not sent, the newest first.
func (r Reader) Outbox(ctx context.Context, before string, limit int) ([]commerce.UnsentMessage, error) {
	return list(ctx, r, schema.ScanOutbox, "SELECT "+schema.Outbox.Columns()+" FROM outbox WHERE id < $1 ORDER BY id DESC LIMIT $2",
		cmp.Or(before, storage.AfterAllIDs), limit)
}

// OutboxMessage reads a message that was not sent.
func (r Reader) OutboxMessage(ctx context.Context, id string) (commerce.UnsentMessage, error) {
	return first(ctx, r, schema.ScanOutbox, "SELECT "+schema.Outbox.Columns()+" FROM outbox WHERE id = $1", id)
}

// Audit reads the acts of a store, the newest first.
func (r Reader) Audit(ctx context.Context, storeID, before string, limit int) ([]commerce.AuditEntry, error) {
	return list(ctx, r, schema.ScanAudit, "SELECT "+schema.Audit.Columns()+" FROM audit WHERE store_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
		storeID, cmp.Or(before, storage.AfterAllIDs), limit)
}

// Job reads a job.
func (r Reader) Job(ctx context.Context, key commerce.JobKey) (commerce.Job, error) {
	return one(ctx, r, &schema.Jobs, key)
}

// Jobs reads the jobs that do not wait. Those that wait are found slot by slot, in a
// way of each engine.
func (r Reader) Jobs(ctx context.Context, f storage.JobFilter) ([]commerce.Job, error) {
	where := "state = 'parked' AND owner = $1"
	switch f.State {
	case commerce.JobDead:
		where = "state = 'dead' AND ($1 = '' OR owner = $1)"
	case commerce.JobGivenUp:
		where = "state = 'given_up' AND ($1 = '' OR owner = $1)"
	}
	return list(ctx, r, schema.ScanJob, "SELECT "+schema.Jobs.Columns()+" FROM jobs WHERE "+where+
		" AND (run_at, slot, id) > ($2, $3, $4) ORDER BY run_at, slot, id LIMIT $5", f.Owner, f.After.RunAt, f.After.Slot, f.After.ID, f.Limit)
}
