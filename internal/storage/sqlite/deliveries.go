package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

func (r reader) Delivery(ctx context.Context, key commerce.OrderKey) (commerce.Delivery, error) {
	return one(ctx, r, deliveries, key)
}

func (r reader) Placed(ctx context.Context, address string) (commerce.Placed, error) {
	return one(ctx, r, places, address)
}

func (r reader) CourierNotices(ctx context.Context, deliveryID string) (list []commerce.CourierNotice, err error) {
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT "+schema.CourierNotices.Columns()+" FROM courier_notices WHERE delivery_id = ? ORDER BY id",
			func(b schema.Binder) { b.Text(deliveryID) },
			func(s *scanner) { list = append(list, schema.ScanCourierNotice(s)) })
	})
	return list, err
}
