package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Caller is the actor of a call and, for a partner, the partner's row as the front read
// it.
type Caller struct {
	commerce.Actor
	Partner commerce.Partner
}

// FindOrder finds an order of the caller. A test key finds test orders only. Any other
// order is answered as not found.
func (s *Service) FindOrder(ctx context.Context, c Caller, orderID string) (commerce.Order, error) {
	key, err := s.orderKey(ctx, orderID)
	if err != nil {
		return commerce.Order{}, orderMissing(err)
	}
	return s.visibleOrder(ctx, c, key)
}

func (s *Service) visibleOrder(ctx context.Context, c Caller, key commerce.OrderKey) (commerce.Order, error) {
	order, err := s.reader.Order(ctx, key)
	if err != nil {
		return order, orderMissing(err)
	}
	if err := c.MaySee(order); err != nil {
		return commerce.Order{}, err
	}
	return order, nil
}

// MaySee refuses an order that does not belong to the caller.
func (c Caller) MaySee(order commerce.Order) error {
	if order.PartnerID != c.Partner.ID || c.Mode == commerce.Test && order.Mode != commerce.Test {
		return commerce.NotFound("order")
	}
	return c.Partner.MayUse(order.StoreID)
}

func orderMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return commerce.NotFound("order")
	}
	return err
}
