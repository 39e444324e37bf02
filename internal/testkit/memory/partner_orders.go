package memory

import (
	"context"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// PartnerOrders implements storage.Reader.
func (r reader) PartnerOrders(_ context.Context, f storage.PartnerOrderFilter, have storage.OrderDocuments) (page storage.PartnerOrderPage, err error) {
	page.ReadSet = f.ReadSet()
	r.mu.Lock()
	page.Version = storage.Version(r.stamp)
	r.mu.Unlock()
	r.mu.Lock()
	orders := sorted(r.tables[schema.Orders.Name], r.candidates(f), f.Limit+1, func(a, b *commerce.Order) int { return f.Compare(f.Position(*a), f.Position(*b)) })
	r.mu.Unlock()
	if len(orders) > f.Limit {
		orders = orders[:f.Limit]
		page.Next = f.Position(orders[f.Limit-1])
	}
	for _, o := range orders {
		row := storage.PartnerOrder{Version: storage.OrderVersion{OrderKey: o.Key(), UpdatedOn: o.UpdatedOn}, At: f.Position(o), Order: o}
		if _, known := have[row.Version]; known {
			row.Order = commerce.Order{}
		}
		page.Orders = append(page.Orders, row)
	}
	return page, nil
}

// candidates are all orders that follow. The lock is held.
func (r reader) candidates(f storage.PartnerOrderFilter) (found []*row) {
	from := commerce.Millis(0)
	if f.Sequence == storage.InChangeOrder {
		from = f.After.At
	}
	for _, m := range r.tables.since(f.PartnerID, from) {
		o := m.row.value.(*commerce.Order)
		if m.at == o.UpdatedOn && f.Has(*o) && f.Follows(f.Position(*o)) && (f.Sequence != storage.ByExternalID || o.ExternalID != "" && strings.HasPrefix(o.ExternalID, f.Prefix)) {
			found = append(found, m.row)
		}
	}
	return found
}
