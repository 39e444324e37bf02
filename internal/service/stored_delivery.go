package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// StoredDelivery returns the stored delivery of an order with the matching state of the
// order. The delivery is empty if the order has none. A change of both gives both the same
// UpdatedOn, so a delivery that is newer than the order may belong to a newer state of the
// order, which is then read.
func (s *Service) StoredDelivery(ctx context.Context, order commerce.Order) (Tracked, error) {
	if order.Fulfillment != commerce.ByDelivery {
		return Tracked{Order: order}, nil
	}
	for {
		d, err := s.reader.Delivery(ctx, order.Key())
		if errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		if err != nil || d.UpdatedOn <= order.UpdatedOn {
			return Tracked{Order: order, Delivery: d}, err
		}
		if order, err = s.reader.Order(ctx, order.Key()); err != nil || order.UpdatedOn <= d.UpdatedOn {
			return Tracked{Order: order, Delivery: d}, err
		}
	}
}
