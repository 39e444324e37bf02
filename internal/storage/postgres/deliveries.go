package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

func (r reader) Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error) {
	return single(ctx, r, r.e.singles.deliveries, key)
}

func (r reader) Placed(ctx context.Context, address string) (commerce.Placed, error) {
	return one(ctx, r, places, address)
}

func (r reader) CourierNotices(ctx context.Context, deliveryID string) (list []commerce.CourierNotice, err error) {
	err = r.rows(ctx, "SELECT "+schema.CourierNotices.Columns()+" FROM courier_notices WHERE delivery_id = $1 ORDER BY id",
		[]any{deliveryID}, func(s *scanner) { list = append(list, schema.ScanCourierNotice(s)) })
	return list, err
}
