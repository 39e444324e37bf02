package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

func (r reader) Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error) {
	return single(ctx, r, r.e.singles.deliveries, key)
}

func (r reader) Attention(ctx context.Context, key commerce.OrderKey) (list []commerce.Attention, err error) {
	err = r.rows(ctx, "SELECT "+attention.Columns()+" FROM attention WHERE store_id = $1 AND order_id = $2 ORDER BY code",
		[]any{key.StoreID, key.OrderID}, func(s *scanner) { list = append(list, schema.ScanAttention(s)) })
	return list, err
}

func (r reader) OpenAttention(ctx context.Context, storeID string, after storage.AttentionPosition, limit int) (list []commerce.Attention, err error) {
	err = r.rows(ctx, "SELECT "+attention.Columns()+" FROM attention WHERE resolved_on = 0 AND store_id = $1"+
		" AND (since, order_id, code) > ($2, $3, $4) ORDER BY since, order_id, code LIMIT $5",
		[]any{storeID, after.Since, after.OrderID, string(after.Code), limit},
		func(s *scanner) { list = append(list, schema.ScanAttention(s)) })
	return list, err
}

func (r reader) GeocodedAddress(ctx context.Context, address string) (commerce.GeocodedAddress, error) {
	return one(ctx, r, places, address)
}

func (r reader) StrayCallbacks(ctx context.Context, deliveryID string) (list []commerce.StrayCallback, err error) {
	err = r.rows(ctx, "SELECT "+schema.StrayCallbacks.Columns()+" FROM courier_notices WHERE delivery_id = $1 ORDER BY id",
		[]any{deliveryID}, func(s *scanner) { list = append(list, schema.ScanStrayCallback(s)) })
	return list, err
}
