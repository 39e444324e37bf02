package memory

import (
	"context"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// PartnerOrders implements storage.Reader. It looks at all orders.
func (r reader) PartnerOrders(_ context.Context, f storage.PartnerOrderFilter, have storage.OrderDocuments) (page storage.PartnerOrderPage, err error) {
	page.ReadSet = f.ReadSet()
	r.mu.Lock()
	page.Version = storage.Version(r.stamp)
	r.mu.Unlock()
	orders, err := list(r, &schema.Orders, -1, func(o *commerce.Order) bool {
		return f.Has(*o) && f.Follows(f.Position(*o)) && (f.Sequence != storage.ByExternalID || o.ExternalID != "" && strings.HasPrefix(o.ExternalID, f.Prefix))
	}, func(a, b commerce.Order) int { return f.Compare(f.Position(a), f.Position(b)) })
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
	return page, err
}
