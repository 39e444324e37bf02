// Package reads has the reads whose statements are the same in both engines.
// Engines embed a Reader, and have methods of their own for the others.
package reads

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Rows runs one statement, and calls row for each of its rows. Parameters are
// $1, $2 and so on. Each stands for the first time after those with lower numbers,
// because SQLite numbers parameters in the order in which it meets them. An argument is a
// string, a number, a time, a bool, bytes, or a list of strings for Reader.Among.
type Rows func(ctx context.Context, sql string, args []any, row func(schema.Scanner)) error

// Lookup reads a row by its key; false if there is none.
type Lookup[K comparable, V any] func(ctx context.Context, key K) (V, bool, error)

// Reader reads by the statements of an engine.
type Reader struct {
	Rows Rows
	// Each runs a statement n times, each time with other arguments. All see one state.
	Each func(ctx context.Context, sql string, n int, args func(i int) []any, row func(i int, s schema.Scanner)) error
	// Among compares a column with the list in a parameter, whose name stands for {list}.
	Among string
	// WaitingJobs is the table jobs in a FROM clause of a statement that needs the index
	// of the waiting jobs.
	WaitingJobs string
	// Number is a parameter as a number to find rows by; {parameter} stands for its name.
	Number string
	// Text is a parameter as a text to find rows by; {parameter} stands for its name.
	Text string
	// OpenStamp is an expression for the lowest stamp that an open batch may still write;
	// empty: NULL.
	OpenStamp string
	// Lookups are Lookup functions by the names of their tables. Other rows are
	// read by one statement each.
	Lookups map[string]any
	// Homes remembers the stores of products; nil: each is read.
	Homes *Homes
}

// arguments is a schema.Binder that collects the values as arguments of a statement.
type arguments []any

func (a *arguments) add(v any) schema.Binder        { *a = append(*a, v); return a }
func (a *arguments) Text(v string) schema.Binder    { return a.add(v) }
func (a *arguments) Int(v int64) schema.Binder      { return a.add(v) }
func (a *arguments) Bool(v bool) schema.Binder      { return a.add(v) }
func (a *arguments) Blob(v []byte) schema.Binder    { return a.add(v) }
func (a *arguments) JSON(v []byte) schema.Binder    { return a.add(v) }
func (a *arguments) Float(v *float64) schema.Binder { return a.add(v) }

// among is the condition that a column has one of the values of a list.
func (r Reader) among(column, list string) string {
	return column + " " + strings.ReplaceAll(r.Among, "{list}", list)
}

func (r Reader) number(parameter string) string {
	return strings.ReplaceAll(r.Number, "{parameter}", parameter)
}

func (r Reader) text(parameter string) string {
	return strings.ReplaceAll(r.Text, "{parameter}", parameter)
}

// each runs a statement for each of the keys. All see one state.
func each[K any](ctx context.Context, r Reader, keys []K, sql string, args func(K) []any, row func(K, schema.Scanner)) error {
	return r.Each(ctx, sql, len(keys), func(i int) []any { return args(keys[i]) }, func(i int, s schema.Scanner) { row(keys[i], s) })
}

// one reads a row by its key; storage.ErrNotFound if there is none.
func one[K comparable, V any](ctx context.Context, r Reader, t *schema.Table[K, V], k K) (v V, err error) {
	found := false
	if lookup, ok := r.Lookups[t.Name].(Lookup[K, V]); ok {
		v, found, err = lookup(ctx, k)
	} else {
		var key arguments
		t.BindKey(&key, k)
		err = r.Rows(ctx, byKey[t.Name], key, func(s schema.Scanner) { v, found = t.Scan(s, k), true })
	}
	if err == nil && !found {
		err = storage.ErrNotFound
	}
	return v, err
}

// list reads all rows of a statement.
func list[V any](ctx context.Context, r Reader, scan func(schema.Scanner) V, sql string, args ...any) (list []V, err error) {
	err = r.Rows(ctx, sql, args, func(s schema.Scanner) { list = append(list, scan(s)) })
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
func scanEndpoint(s schema.Scanner) commerce.Endpoint {
	return schema.Endpoints.Scan(s, s.Text())
}
func scanStock(s schema.Scanner) commerce.Stock {
	return schema.Stock.Scan(s, commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()})
}

// TrackingSecret implements storage.Reader, as do the others.
func (r Reader) TrackingSecret(ctx context.Context) ([]byte, error) {
	return first(ctx, r, schema.Scanner.Blob, "SELECT secret FROM meta WHERE name = 'tracking'")
}

// Store reads a store by its id.
func (r Reader) Store(ctx context.Context, id string) (commerce.Store, error) {
	return one(ctx, r, &schema.Stores, id)
}

// StoreByNo reads the store with a number.
func (r Reader) StoreByNo(ctx context.Context, no int64) (commerce.Store, error) {
	return first(ctx, r, scanStore, "SELECT "+schema.Stores.Columns()+" FROM stores WHERE no = $1", no)
}

// Stores reads stores in the order of their ids.
func (r Reader) Stores(ctx context.Context, f storage.StoreFilter) ([]commerce.Store, error) {
	sql, args := "SELECT "+schema.Stores.Columns()+" FROM stores WHERE active = $1 AND id > $2", []any{f.Active, f.After}
	if f.IDs != nil {
		sql, args = sql+" AND "+r.among("id", "$3"), append(args, f.IDs)
	}
	args = append(args, f.Limit)
	return list(ctx, r, scanStore, sql+" ORDER BY id LIMIT $"+strconv.Itoa(len(args)), args...)
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
	if store, known := r.Homes.get(productID); known {
		return commerce.ProductStore{ProductID: productID, StoreID: store}, nil
	}
	v, err := one(ctx, r, &schema.ProductStores, productID)
	if err == nil {
		r.Homes.set(productID, v.StoreID)
	}
	return v, err
}

// Stock reads the stock rows of products. It reads first which stores they belong to, because
// a distributed engine keeps the rows of stores in several places.
func (r Reader) Stock(ctx context.Context, productIDs []string) (map[string]commerce.Stock, error) {
	byStore := map[string][]string{}
	var unknown []string
	for _, id := range productIDs {
		if store, known := r.Homes.get(id); known {
			byStore[store] = append(byStore[store], id)
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		err := r.Rows(ctx, "SELECT product_id, store_id FROM product_stores WHERE "+r.among("product_id", "$1"), []any{unknown}, func(s schema.Scanner) {
			id, store := s.Text(), s.Text()
			byStore[store] = append(byStore[store], id)
			r.Homes.set(id, store)
		})
		if err != nil {
			return nil, err
		}
	}
	found := make(map[string]commerce.Stock, len(productIDs))
	sql := "SELECT product_id, " + schema.Stock.Values() + " FROM stock WHERE store_id = $1 AND " + r.among("product_id", "$2")
	err := each(ctx, r, slices.Collect(maps.Keys(byStore)), sql, func(store string) []any { return []any{store, byStore[store]} },
		func(store string, s schema.Scanner) {
			id := s.Text()
			found[id] = schema.Stock.Scan(s, commerce.ProductKey{StoreID: store, ProductID: id})
		})
	return found, err
}

// ItemsSQL selects products of the store $1. ids is the condition for their ids.
func ItemsSQL(ids string) string {
	return "SELECT products.id, " + schema.Qualified("products", schema.Products.Values()) + ", " + schema.Qualified("stock", schema.Stock.Values()) +
		" FROM products JOIN stock ON stock.store_id = products.store_id AND stock.product_id = products.id" +
		" WHERE products.store_id = $1 AND " + ids
}

// ScanItem reads a row of ItemsSQL.
func ScanItem(s schema.Scanner, storeID string) commerce.Item {
	key := commerce.ProductKey{StoreID: storeID, ProductID: s.Text()}
	return commerce.Item{Product: schema.Products.Scan(s, key), Stock: schema.Stock.Scan(s, key)}
}

// Items reads products of a store.
func (r Reader) Items(ctx context.Context, storeID string, ids []string) (map[string]commerce.Item, error) {
	items := make(map[string]commerce.Item, len(ids))
	err := r.Rows(ctx, ItemsSQL(r.among("products.id", "$2")), []any{storeID, ids}, func(s schema.Scanner) {
		item := ScanItem(s, storeID)
		items[item.ID] = item
	})
	return items, err
}

// SKUs reads the SKUs of products of a store.
func (r Reader) SKUs(ctx context.Context, storeID string, ids []string) (map[string]string, error) {
	found := make(map[string]string, len(ids))
	err := r.Rows(ctx, "SELECT id, sku FROM products WHERE store_id = $1 AND "+r.among("id", "$2"), []any{storeID, ids},
		func(s schema.Scanner) {
			id := s.Text()
			found[id] = s.Text()
		})
	return found, err
}

// ProductsBySKU finds products of a store.
func (r Reader) ProductsBySKU(ctx context.Context, storeID string, skus []string) (map[string][]string, error) {
	found := make(map[string][]string, len(skus))
	err := r.Rows(ctx, "SELECT sku, min(id), max(id) FROM products WHERE store_id = $1 AND sku <> '' AND "+r.among("sku", "$2")+" GROUP BY sku", []any{storeID, skus},
		func(s schema.Scanner) {
			sku := s.Text()
			found[sku] = slices.Compact([]string{s.Text(), s.Text()})
		})
	return found, err
}

// FeedPlace reads how far a feed was followed.
func (r Reader) FeedPlace(ctx context.Context, name string) (commerce.FeedPlace, error) {
	return one(ctx, r, &schema.FeedPlaces, name)
}

// DueProductNews reads products whose news are due.
func (r Reader) DueProductNews(ctx context.Context, at commerce.Millis, limit int) ([]commerce.ProductKey, error) {
	return list(ctx, r, func(s schema.Scanner) commerce.ProductKey {
		return commerce.ProductKey{StoreID: s.Text(), ProductID: s.Text()}
	}, "SELECT store_id, product_id FROM product_news WHERE next_on <= $1 ORDER BY next_on, store_id, product_id LIMIT $2", int64(at), int64(limit))
}

// Partner reads a partner.
func (r Reader) Partner(ctx context.Context, id string) (commerce.Partner, error) {
	return one(ctx, r, &schema.Partners, id)
}

// Partners reads all partners.
func (r Reader) Partners(ctx context.Context) ([]commerce.Partner, error) {
	return list(ctx, r, scanPartner, "SELECT "+schema.Partners.Columns()+" FROM partners ORDER BY id")
}

// Faults reads the faults of a partner.
func (r Reader) Faults(ctx context.Context, partnerID string) (commerce.Faults, error) {
	f, err := one(ctx, r, &schema.Faults, partnerID)
	return f, unless(err, storage.ErrNotFound)
}

// Certification reads the newest certification of a partner.
func (r Reader) Certification(ctx context.Context, partnerID string) (commerce.Certification, error) {
	c, err := one(ctx, r, &schema.Certifications, partnerID)
	return c, unless(err, storage.ErrNotFound)
}

// unless is an error, or nil in place of one that is none here.
func unless(err, none error) error {
	if errors.Is(err, none) {
		return nil
	}
	return err
}

// APIKeys reads the keys of a partner.
func (r Reader) APIKeys(ctx context.Context, partnerID string) ([]commerce.APIKey, error) {
	return list(ctx, r, schema.ScanAPIKey, "SELECT "+schema.APIKeys.Columns()+" FROM partner_keys WHERE partner_id = $1 ORDER BY created_on DESC, id DESC", partnerID)
}

// EndingKeys reads the keys that end in a time.
func (r Reader) EndingKeys(ctx context.Context, after, until commerce.Millis) ([]commerce.APIKey, error) {
	return list(ctx, r, schema.ScanAPIKey, "SELECT "+schema.APIKeys.Columns()+" FROM partner_keys WHERE expires_on <> 0 AND expires_on > $1 AND expires_on <= $2 ORDER BY expires_on, id",
		int64(after), int64(until))
}

// KeyHolder finds the key by an index over hashes. The time of the search reveals nothing
// of the key, and the stored hash is compared in constant time.
func (r Reader) KeyHolder(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.APIKey, error) {
	key, err := first(ctx, r, schema.ScanAPIKey, "SELECT "+schema.APIKeys.Columns()+" FROM partner_keys WHERE hash = $1", hash[:])
	if err == nil && subtle.ConstantTimeCompare(key.Hash[:], hash[:]) != 1 {
		err = storage.ErrNotFound
	}
	if err != nil {
		return commerce.Partner{}, commerce.APIKey{}, err
	}
	p, err := r.Partner(ctx, key.PartnerID)
	return p, key, err
}

// Attempts reads the attempts to deliver a webhook.
func (r Reader) Attempts(ctx context.Context, key commerce.EventKey) ([]commerce.WebhookAttempt, error) {
	return list(ctx, r, func(s schema.Scanner) commerce.WebhookAttempt { return schema.ScanAttempt(s, key) },
		"SELECT id, "+schema.Attempts.Rest+" FROM webhook_attempts WHERE partner_id = $1 AND event_id = $2 ORDER BY id", key.PartnerID, key.ID)
}

// EndpointAttempts reads attempts at an endpoint.
func (r Reader) EndpointAttempts(ctx context.Context, owner, before string, limit int) ([]commerce.WebhookAttempt, error) {
	partnerID, id := commerce.SplitOwner(owner)
	if before == "" {
		before = commerce.PrefixAttempt + "~" // behind all ids
	}
	return list(ctx, r, func(s schema.Scanner) commerce.WebhookAttempt {
		return schema.ScanAttempt(s, commerce.EventKey{PartnerID: partnerID, ID: s.Text()})
	}, "SELECT event_id, id, "+schema.Attempts.Rest+" FROM webhook_attempts WHERE partner_id = $1 AND endpoint_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4",
		partnerID, id, before, limit)
}

// HeldEndpoints reads the endpoints that are held and not paused.
func (r Reader) HeldEndpoints(ctx context.Context) ([]commerce.Endpoint, error) {
	return list(ctx, r, scanEndpoint, "SELECT "+schema.Endpoints.Columns()+" FROM endpoints WHERE held_until <> 0 AND paused_on = 0 ORDER BY held_until")
}

// Endpoints reads endpoints by their owners.
func (r Reader) Endpoints(ctx context.Context, owners []string) (map[string]commerce.Endpoint, error) {
	found := make(map[string]commerce.Endpoint, len(owners))
	err := r.Rows(ctx, "SELECT "+schema.Endpoints.Columns()+" FROM endpoints WHERE "+r.among("partner_id", "$1"), []any{owners},
		func(s schema.Scanner) {
			e := scanEndpoint(s)
			found[e.Owner()] = e
		})
	return found, err
}

// WebhookEvents reads events by their keys.
func (r Reader) WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error) {
	byPartner := map[string][]string{}
	for _, k := range keys {
		byPartner[k.PartnerID] = append(byPartner[k.PartnerID], k.ID)
	}
	found := make(map[commerce.EventKey]commerce.WebhookEvent, len(keys))
	sql := "SELECT id, " + schema.WebhookEvents.Rest + " FROM webhook_events WHERE partner_id = $1 AND " + r.among("id", "$2")
	err := each(ctx, r, slices.Collect(maps.Keys(byPartner)), sql, func(partner string) []any { return []any{partner, byPartner[partner]} },
		func(partner string, s schema.Scanner) {
			e := schema.ScanEvent(s, partner)
			found[e.Key()] = e
		})
	return found, err
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

// NewestAudit reads all acts, the newest first.
func (r Reader) NewestAudit(ctx context.Context, before string, limit int) ([]commerce.AuditEntry, error) {
	return list(ctx, r, schema.ScanAudit, "SELECT "+schema.Audit.Columns()+" FROM audit WHERE id < $1 ORDER BY id DESC LIMIT $2",
		cmp.Or(before, storage.AfterAllIDs), limit)
}
