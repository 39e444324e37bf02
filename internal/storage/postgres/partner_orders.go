package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// PartnerOrders implements storage.Reader. A page in the sequence of changes ends before the
// low watermark, as a page of products does.
func (r reader) PartnerOrders(ctx context.Context, f storage.PartnerOrderFilter, have storage.OrderDocuments) (page storage.PartnerOrderPage, err error) {
	version := noVersion
	if !r.e.spread {
		if version, err = r.versionOfOrders(ctx, f.ReadSet().Orders); err != nil {
			return page, err
		}
	}
	err = belowWatermark(ctx, func(bool) (cut bool, err error) {
		below := commerce.Millis(noWatermark)
		if r.e.spread && f.Sequence == storage.InChangeOrder {
			if below, err = r.lowestOf(ctx, f.PartnerID); err != nil {
				return false, err
			}
		}
		page, cut, err = r.PartnerOrdersBelow(ctx, f, have, below)
		return cut, err
	})
	page.Version = version
	return page, err
}

// lowestOf reads the low watermark of a partner in a cluster.
func (r reader) lowestOf(ctx context.Context, partnerID string) (below commerce.Millis, err error) {
	err = r.read(ctx, func(ctx context.Context) error {
		var q pgx.Batch
		r.e.queueLowest(&q, (*int64)(&below), "SELECT "+guardOfPartners.lowest, partnerID)
		return r.e.readers.SendBatch(ctx, &q).Close()
	})
	return below, err
}

// ordersKey names the orders of a partner in one mode.
type ordersKey struct {
	partnerID string
	mode      commerce.Mode
}

// newestOrdersSQL reads the newest stamp of the orders of partners and modes.
const newestOrdersSQL = "SELECT k.i, greatest(" +
	"(SELECT max(created_on) FROM orders WHERE partner_id = k.partner AND mode = k.mode), " +
	"(SELECT max(updated_on) FROM orders WHERE partner_id = k.partner AND mode = k.mode AND updated_on <> created_on), 0)" +
	" FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k (partner, mode, i)"

// versionOfOrders is the version of a page of orders that is read afterwards: their newest
// stamp, unless an open batch may still write below it.
func (r reader) versionOfOrders(ctx context.Context, of storage.OrdersOf) (v storage.Version, err error) {
	partners, modes := make([]string, len(of.Modes)), make([]string, len(of.Modes))
	for i, mode := range of.Modes {
		partners[i], modes[i] = of.PartnerID, string(mode)
	}
	watermark := int64(noWatermark)
	err = r.rows(ctx, "SELECT *, "+guardOfAll.lowest+" FROM ("+newestOrdersSQL+") AS newest", []any{partners, modes}, func(s schema.Scanner) {
		s.Int()
		v = max(v, storage.Version(s.Int()))
		if open := s.Int(); open != 0 {
			watermark = open
		}
	})
	if int64(v) >= watermark {
		v = noVersion
	}
	return v, err
}

// readNewestOrders reads the newest stamps of orders.
func (e *Engine) readNewestOrders(ctx context.Context, keys []ordersKey) (map[ordersKey]int64, error) {
	partners, modes := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		partners[i], modes[i] = k.partnerID, string(k.mode)
	}
	newest := make(map[ordersKey]int64, len(keys))
	return newest, query(ctx, e.readers, func(s *scanner) {
		i := s.Int()
		newest[keys[i-1]] = s.Int()
	}, newestOrdersSQL, partners, modes)
}

// unchangedOrders reports whether the newest stamp of the orders is still the version.
func (r reader) unchangedOrders(ctx context.Context, of storage.OrdersOf, v storage.Version) (bool, error) {
	if v == noVersion || len(of.Modes) == 0 {
		return false, nil
	}
	newest := int64(0)
	for _, mode := range of.Modes {
		stamp, _, err := r.e.newestOrders.Get(ctx, ordersKey{of.PartnerID, mode})
		if err != nil {
			return false, err
		}
		newest = max(newest, stamp)
	}
	return newest == int64(v), nil
}

// OrdersByKey implements storage.Reader by one statement. In a cluster each order is read by
// itself, so that orders of other nodes are found while a node is away.
func (r reader) OrdersByKey(ctx context.Context, keys []commerce.OrderKey) (found map[commerce.OrderKey]commerce.Order, err error) {
	if r.e.spread {
		return r.Reader.OrdersByKey(ctx, keys)
	}
	err = r.read(ctx, func(ctx context.Context) error {
		found, err = readSingles(ctx, r.e, &schema.Orders, ordersByKey.read, 3, keys)
		return err
	})
	return found, err
}

var ordersByKey = func() byKeys {
	var bound values
	schema.Orders.BindKey(&bound, commerce.OrderKey{})
	return byKeysSQL(schema.Orders.Shape(), bound)
}()
