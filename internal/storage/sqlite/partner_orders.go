package sqlite

import (
	"context"
	"math"

	"purveyor/internal/storage"
)

// PartnerOrders implements storage.Reader. SQLite has one writer: stamps become visible in
// their order. The stamp is read first, as for a product.
func (r reader) PartnerOrders(ctx context.Context, f storage.PartnerOrderFilter, have storage.OrderDocuments) (page storage.PartnerOrderPage, err error) {
	stamp, err := r.e.freshness.stamp(ctx)
	if err != nil {
		return page, err
	}
	page, _, err = r.PartnerOrdersBelow(ctx, f, have, math.MaxInt64)
	page.Version = storage.Version(stamp)
	return page, err
}

// newestOrder reads the newest stamps of the orders of a partner and mode.
const newestOrder = "SELECT max(coalesce((SELECT created_on FROM orders WHERE partner_id = $1 AND mode = $2 ORDER BY created_on DESC LIMIT 1), 0)," +
	" coalesce((SELECT updated_on FROM orders WHERE partner_id = $1 AND mode = $2 AND updated_on <> created_on ORDER BY updated_on DESC LIMIT 1), 0))"

// unchangedOrders reports whether no order of the set has a stamp above v.
func unchangedOrders(conn *connection, of storage.OrdersOf, v int64) (bool, error) {
	same := true
	for _, mode := range of.Modes {
		err := query(conn, newestOrder, bind(of.PartnerID, string(mode)), func(s *scanner) { same = same && s.Int() <= v })
		if err != nil {
			return false, err
		}
	}
	return same, nil
}
