package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

func (r reader) Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error) {
	return one(ctx, r, deliveries, key)
}

func (r reader) Attention(ctx context.Context, key commerce.OrderKey) (list []commerce.Attention, err error) {
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT "+attention.Columns()+" FROM attention WHERE store_id = ? AND order_id = ? ORDER BY code",
			func(b schema.Binder) { b.Text(key.StoreID).Text(key.OrderID) },
			func(s *scanner) { list = append(list, schema.ScanAttention(s)) })
	})
	return list, err
}

func (r reader) OpenAttention(ctx context.Context, storeID string, after storage.AttentionPosition, limit int) (list []commerce.Attention, err error) {
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT "+attention.Columns()+" FROM attention WHERE resolved_on = 0 AND store_id = ?"+
			" AND (since, order_id, code) > (?, ?, ?) ORDER BY since, order_id, code LIMIT ?",
			func(b schema.Binder) {
				b.Text(storeID).Int(int64(after.Since)).Text(after.OrderID).Text(string(after.Code)).Int(int64(limit))
			},
			func(s *scanner) { list = append(list, schema.ScanAttention(s)) })
	})
	return list, err
}

func (r reader) GeocodedAddress(ctx context.Context, address string) (commerce.GeocodedAddress, error) {
	return one(ctx, r, places, address)
}

func (r reader) StrayCallbacks(ctx context.Context, deliveryID string) (list []commerce.StrayCallback, err error) {
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT "+schema.StrayCallbacks.Columns()+" FROM courier_notices WHERE delivery_id = ? ORDER BY id",
			func(b schema.Binder) { b.Text(deliveryID) },
			func(s *scanner) { list = append(list, schema.ScanStrayCallback(s)) })
	})
	return list, err
}
