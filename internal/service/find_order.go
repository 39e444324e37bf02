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

// orderKey finds the store of an order by the number that the order's id carries. It
// returns storage.ErrNotFound for an id that the service did not make.
func (s *Service) orderKey(ctx context.Context, orderID string) (commerce.OrderKey, error) {
	no, ok := commerce.StoreNoOfOrder(orderID)
	if !ok {
		return commerce.OrderKey{}, storage.ErrNotFound
	}
	storeID, err := s.storeID(ctx, no)
	return commerce.OrderKey{StoreID: storeID, OrderID: orderID}, err
}

// newOrderID makes the id of a new order of a store, which carries the store's number.
// It refuses an unknown store (400).
func (s *Service) newOrderID(ctx context.Context, storeID string) (string, error) {
	no, err := s.storeNo(ctx, storeID)
	if errors.Is(err, storage.ErrNotFound) {
		err = commerce.Invalid("store_id", "store %s is not known", storeID)
	}
	if err != nil {
		return "", err
	}
	return commerce.NewOrderID(no, s.millis(), s.o.Env.Entropy()), nil
}
