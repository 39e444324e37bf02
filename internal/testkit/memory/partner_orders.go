package memory

import (
	"context"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// PartnerOrders implements storage.Reader. It looks at all orders.
func (r reader) PartnerOrders(_ context.Context, f storage.PartnerOrderFilter) (page storage.PartnerOrderPage, err error) {
	page.ReadSet = f.ReadSet()
	r.mu.Lock()
	page.Version = storage.Version(r.stamp)
	r.mu.Unlock()
	page.Orders, err = list(r, &schema.Orders, -1, func(o commerce.Order) bool {
		return f.Has(o) && f.Follows(f.Position(o)) && (f.Sequence != storage.ByExternalID || o.ExternalID != "" && strings.HasPrefix(o.ExternalID, f.Prefix))
	}, func(a, b commerce.Order) int { return f.Compare(f.Position(a), f.Position(b)) })
	if len(page.Orders) > f.Limit {
		page.Orders = page.Orders[:f.Limit]
		page.Next = f.Position(page.Orders[f.Limit-1])
	}
	return page, err
}
