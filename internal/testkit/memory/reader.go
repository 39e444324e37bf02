package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// reader implements storage.Reader. Each call sees one state, under the lock.
type reader struct{ *Database }

func one[K comparable, V any](r reader, of *schema.Table[K, V], key K) (v V, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stored, there := get(r.tables, of, key)
	if !there {
		return v, storage.ErrNotFound
	}
	return *clone(r.tables[of.Name].plan, stored), nil
}

// of reads the rows of a group, at most limit (below 0: all) in order.
func of[V any](r reader, table schema.Described, group any, limit int, order func(a, b *V) int) ([]V, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tables[table.Shape().Name]
	return sorted(t, slices.Clone(t.groups[group]), limit, order), nil
}

// list reads the rows that are wanted, at most limit (below 0: all) in order.
func list[V any](r reader, of schema.Described, limit int, wanted func(*V) bool, order func(a, b *V) int) ([]V, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return selected(r.tables[of.Shape().Name], limit, wanted, order), nil
}

// first reads a row that is not found by its key.
func first[V any](r reader, of schema.Described, wanted func(*V) bool) (v V, err error) {
	found, _ := list(r, of, 1, wanted, func(_, _ *V) int { return 0 })
	if len(found) == 0 {
		return v, storage.ErrNotFound
	}
	return found[0], nil
}

func (r reader) Store(_ context.Context, id string) (commerce.Store, error) {
	return one(r, &schema.Stores, id)
}

func (r reader) StoreByNo(_ context.Context, no int64) (commerce.Store, error) {
	return first(r, &schema.Stores, func(s *commerce.Store) bool { return s.No == no })
}

func (r reader) Stores(_ context.Context, f storage.StoreFilter) ([]commerce.Store, error) {
	return list(r, &schema.Stores, f.Limit, func(s *commerce.Store) bool {
		return s.Active == f.Active && s.ID > f.After && (f.IDs == nil || slices.Contains(f.IDs, s.ID))
	}, func(a, b *commerce.Store) int { return cmp.Compare(a.ID, b.ID) })
}

func (r reader) Sites(_ context.Context, f storage.SiteFilter) (sites []commerce.Site, err error) {
	stores, err := list(r, &schema.Stores, -1, func(s *commerce.Store) bool {
		return s.Active == f.Active && slices.ContainsFunc(f.Area, func(strip commerce.Strip) bool {
			at, known := s.Point()
			return known && s.Band() == strip.Band && strip.West <= at.Lng && at.Lng <= strip.East
		})
	}, func(a, b *commerce.Store) int { return cmp.Compare(a.ID, b.ID) })
	for _, s := range stores {
		if site, known := s.Site(); known {
			sites = append(sites, site)
		}
	}
	return sites, err
}

func (r reader) Categories(_ context.Context, f storage.CategoryFilter) ([]commerce.Category, error) {
	return list(r, &schema.Categories, -1, func(c *commerce.Category) bool {
		if f.Active != nil && *f.Active != c.Active {
			return false
		}
		if f.StoreIDs == nil {
			return true
		}
		for s := range each[commerce.Stock](r.tables, &schema.Stock) {
			if s.CategoryID == c.ID && slices.Contains(f.StoreIDs, s.StoreID) {
				return true
			}
		}
		return false
	}, func(a, b *commerce.Category) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
}

func (r reader) Stock(_ context.Context, productIDs []string) (map[string]commerce.Stock, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]commerce.Stock{}
	for _, id := range productIDs {
		if s, there := get(r.tables, &schema.Stock, r.productKey(id)); there {
			found[id] = *clone(r.tables[schema.Stock.Name].plan, s)
		}
	}
	return found, nil
}

// byValue is an order of rows as package storage has it.
func byValue[V any](order func(a, b V) int) func(a, b *V) int {
	return func(a, b *V) int { return order(*a, *b) }
}

func compareProducts(a, b commerce.ProductKey) int {
	return cmp.Or(cmp.Compare(a.StoreID, b.StoreID), cmp.Compare(a.ProductID, b.ProductID))
}

func (r reader) StockPage(_ context.Context, storeID string, after commerce.ProductKey, limit int) ([]commerce.Stock, error) {
	if storeID != "" {
		after.StoreID = storeID
	}
	return list(r, &schema.Stock, limit, func(s *commerce.Stock) bool {
		return (storeID == "" || s.StoreID == storeID) && compareProducts(s.Key(), after) > 0
	}, func(a, b *commerce.Stock) int { return compareProducts(a.Key(), b.Key()) })
}

func (r reader) StockMoves(_ context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) (moves []commerce.StockMove, err error) {
	newest, err := of(r, &schema.StockMoves, key, -1, func(a, b *commerce.StockMove) int { return cmp.Compare(b.Seq, a.Seq) })
	for len(moves) < limit {
		i := slices.IndexFunc(newest, func(m commerce.StockMove) bool { return m.At == from.At && m.Seq < from.Seq })
		if i < 0 {
			break
		}
		moves, from = append(moves, newest[i]), newest[i].Before()
		newest = newest[i+1:]
	}
	return moves, err
}

func (r reader) Order(_ context.Context, key commerce.OrderKey) (commerce.Order, error) {
	return one(r, &schema.Orders, key)
}

func (r reader) ExternalOrder(_ context.Context, key commerce.ExternalKey) (commerce.OrderKey, error) {
	ref, err := one(r, &schema.ExternalIDs, key)
	return ref.Order, err
}

func (r reader) Reply(_ context.Context, key commerce.ReplyKey) (commerce.Reply, error) {
	return one(r, &schema.Replies, key)
}

func (r reader) Payment(_ context.Context, key commerce.OrderKey) (commerce.Payment, error) {
	return one(r, &schema.Payments, key)
}

func (r reader) Refund(_ context.Context, key commerce.RefundKey) (commerce.Refund, error) {
	return one(r, &schema.Refunds, key)
}

func (r reader) Ledger(_ context.Context, key commerce.OrderKey) ([]commerce.LedgerEntry, error) {
	return of(r, &schema.Ledger, key, -1, func(a, b *commerce.LedgerEntry) int { return cmp.Compare(a.Seq, b.Seq) })
}

func (r reader) Refunds(_ context.Context, key commerce.OrderKey) ([]commerce.Refund, error) {
	return of(r, &schema.Refunds, key, -1, func(a, b *commerce.Refund) int {
		return cmp.Or(cmp.Compare(a.CreatedOn, b.CreatedOn), cmp.Compare(a.ID, b.ID))
	})
}

func compareOrders(a, b commerce.OrderKey) int {
	return cmp.Or(cmp.Compare(a.StoreID, b.StoreID), cmp.Compare(a.OrderID, b.OrderID))
}

func (r reader) Payments(_ context.Context, after commerce.OrderKey, limit int) ([]commerce.Payment, error) {
	return list(r, &schema.Payments, limit, func(p *commerce.Payment) bool { return compareOrders(p.Key(), after) > 0 },
		func(a, b *commerce.Payment) int { return compareOrders(a.Key(), b.Key()) })
}

func (r reader) Delivery(_ context.Context, key commerce.OrderKey) (commerce.Delivery, error) {
	return one(r, &schema.Deliveries, key)
}

func (r reader) Attention(_ context.Context, key commerce.OrderKey) ([]commerce.Attention, error) {
	return of(r, &schema.Attention, key, -1, func(a, b *commerce.Attention) int { return cmp.Compare(a.Code, b.Code) })
}

func (r reader) OpenAttention(_ context.Context, storeID string, after storage.AttentionPosition, limit int) ([]commerce.Attention, error) {
	at := func(a commerce.Attention) storage.AttentionPosition {
		return storage.AttentionPosition{Since: a.Since, OrderID: a.OrderID, Code: a.Code}
	}
	order := func(a, b storage.AttentionPosition) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.OrderID, b.OrderID), cmp.Compare(a.Code, b.Code))
	}
	return list(r, &schema.Attention, limit, func(a *commerce.Attention) bool {
		return a.StoreID == storeID && a.ResolvedOn == 0 && order(at(*a), after) > 0
	}, func(a, b *commerce.Attention) int { return order(at(*a), at(*b)) })
}

func (r reader) GeocodedAddress(_ context.Context, address string) (commerce.GeocodedAddress, error) {
	return one(r, &schema.Places, address)
}

func (r reader) StrayCallbacks(_ context.Context, deliveryID string) ([]commerce.StrayCallback, error) {
	return list(r, &schema.StrayCallbacks, -1, func(n *commerce.StrayCallback) bool { return n.DeliveryID == deliveryID },
		func(a, b *commerce.StrayCallback) int { return cmp.Compare(a.ID, b.ID) })
}

func (r reader) SandboxObject(_ context.Context, id string) (commerce.SandboxObject, error) {
	return one(r, &schema.SandboxObjects, id)
}

func (r reader) Timeline(_ context.Context, key commerce.OrderKey, limit int) ([]commerce.TimelineEvent, error) {
	list, err := of(r, &schema.Timeline, key, -1, func(a, b *commerce.TimelineEvent) int { return cmp.Compare(a.Seq, b.Seq) })
	if limit >= 0 {
		list = list[max(0, len(list)-limit):]
	}
	return list, err
}

func (r reader) Faults(_ context.Context, partnerID string) (commerce.Faults, error) {
	f, err := one(r, &schema.Faults, partnerID)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return f, err
}

func (r reader) Certification(_ context.Context, partnerID string) (commerce.Certification, error) {
	c, err := one(r, &schema.Certifications, partnerID)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return c, err
}

func (r reader) APIKeys(_ context.Context, partnerID string) ([]commerce.APIKey, error) {
	return list(r, &schema.APIKeys, -1, func(k *commerce.APIKey) bool { return k.PartnerID == partnerID },
		func(a, b *commerce.APIKey) int {
			return cmp.Or(cmp.Compare(b.CreatedOn, a.CreatedOn), cmp.Compare(b.ID, a.ID))
		})
}

func (r reader) EndingKeys(_ context.Context, after, until commerce.Millis) ([]commerce.APIKey, error) {
	return list(r, &schema.APIKeys, -1, func(k *commerce.APIKey) bool { return k.ExpiresOn > after && k.ExpiresOn <= until },
		func(a, b *commerce.APIKey) int {
			return cmp.Or(cmp.Compare(a.ExpiresOn, b.ExpiresOn), cmp.Compare(a.ID, b.ID))
		})
}

func (r reader) KeyHolder(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.APIKey, error) {
	key, err := first(r, &schema.APIKeys, func(k *commerce.APIKey) bool { return k.Hash == hash })
	if err != nil {
		return commerce.Partner{}, key, err
	}
	p, err := r.Partner(ctx, key.PartnerID)
	return p, key, err
}

func (r reader) Partner(_ context.Context, id string) (commerce.Partner, error) {
	return one(r, &schema.Partners, id)
}

// Partners implements storage.Reader. Processes look each second, so what a partner points to is copied after a
// change alone.
func (r reader) Partners(context.Context) ([]commerce.Partner, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if table := r.tables[schema.Partners.Name]; r.listed.writes != table.writes || r.listed.partners == nil {
		r.listed.writes = table.writes
		r.listed.partners = selected(table, -1, func(*commerce.Partner) bool { return true }, func(a, b *commerce.Partner) int { return cmp.Compare(a.ID, b.ID) })
	}
	return slices.Clone(r.listed.partners), nil
}

func (r reader) Outbox(_ context.Context, before string, limit int) ([]commerce.UnsentMessage, error) {
	return list(r, &schema.Outbox, limit, func(m *commerce.UnsentMessage) bool { return before == "" || m.ID < before },
		func(a, b *commerce.UnsentMessage) int { return cmp.Compare(b.ID, a.ID) })
}

func (r reader) Audit(_ context.Context, storeID, before string, limit int) ([]commerce.AuditEntry, error) {
	return list(r, &schema.Audit, limit, func(e *commerce.AuditEntry) bool { return e.StoreID == storeID && (before == "" || e.ID < before) },
		func(a, b *commerce.AuditEntry) int { return cmp.Compare(b.ID, a.ID) })
}

func (r reader) NewestAudit(_ context.Context, before string, limit int) ([]commerce.AuditEntry, error) {
	return list(r, &schema.Audit, limit, func(e *commerce.AuditEntry) bool { return before == "" || e.ID < before },
		func(a, b *commerce.AuditEntry) int { return cmp.Compare(b.ID, a.ID) })
}

func (r reader) HourSums(_ context.Context, q storage.SumFilter, f func(commerce.DaySumsKey, *commerce.HourSum)) error {
	days, err := list(r, &schema.HourSums, -1, func(d *commerce.DaySums) bool {
		return d.Mode == q.Mode && slices.Contains(q.StoreIDs, d.StoreID)
	}, func(a, b *commerce.DaySums) int { return cmp.Compare(a.Day, b.Day) })
	for _, d := range days {
		for i := range d.Hours {
			if q.Has(d.Day, &d.Hours[i]) {
				f(d.DaySumsKey, &d.Hours[i])
			}
		}
	}
	return err
}

func (r reader) SumPosition(_ context.Context, name string) (commerce.SumPosition, error) {
	return one(r, &schema.SumPositions, name)
}

func (r reader) ChangedOrders(_ context.Context, partnerID string, mode commerce.Mode, from commerce.Millis, limit int) (changes []storage.OrderChange, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.tables.since(partnerID, from) {
		o := m.row.value.(*commerce.Order)
		if o.Mode == mode && (m.at == o.CreatedOn || m.at == o.UpdatedOn) {
			changes = append(changes, storage.OrderChange{ID: o.ID, At: m.at})
		}
	}
	slices.SortFunc(changes, storage.OrderChange.Compare)
	changes = slices.Compact(changes)
	return changes[:min(limit, len(changes))], err
}

func (r reader) OrdersToSum(_ context.Context, storeID, from, to string, limit int) (facts []commerce.SumFacts, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.tables[schema.Orders.Name].groups[storeID] // in the order of ids
	all = all[behind(all, from, false):behind(all, to, false)]
	for _, row := range all[:min(len(all), limit)] {
		o := row.value.(*commerce.Order)
		payment, _ := get(r.tables, &schema.Payments, o.Key())
		f := commerce.SumFacts{CapturedCents: payment.CapturedCents, Order: commerce.Order{StoreID: storeID, ID: o.ID, PartnerID: o.PartnerID, Mode: o.Mode,
			Source: o.Source, Status: o.Status, TotalCents: o.TotalCents, TaxCents: o.TaxCents, DeliveryFeeCents: o.DeliveryFeeCents, RefundedCents: o.RefundedCents}}
		for _, row := range r.tables[schema.Timeline.Name].groups[o.Key()] { // in the order in which they were added
			e := row.value.(*commerce.TimelineEvent)
			if !slices.Contains(commerce.SumEvents, e.Kind) {
				continue
			}
			event := commerce.SumEvent{Kind: e.Kind, CreatedOn: e.CreatedOn}
			if d, ok := e.Data.(commerce.DeliveryData); ok && e.Kind == commerce.TimelineDeliveryCreated {
				event.DropoffETA = d.DropoffETA
			}
			f.Events = append(f.Events, event)
		}
		facts = append(facts, f)
	}
	return facts, err
}

func (r reader) OutboxMessage(_ context.Context, id string) (commerce.UnsentMessage, error) {
	return first(r, &schema.Outbox, func(m *commerce.UnsentMessage) bool { return m.ID == id })
}

// TrackingSecret implements storage.Reader. It is the same for all databases, so that a seed gives one history.
func (r reader) TrackingSecret(context.Context) ([]byte, error) {
	return bytes.Repeat([]byte("secret"), 6), nil
}

// Ping implements storage.Reader.
func (r reader) Ping(context.Context) error { return nil }
