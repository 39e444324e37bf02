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

// FindOrderByExternal finds an order by the partner's own id. It looks for an order of the
// caller's mode first; a live key then finds the test order with this id.
func (s *Service) FindOrderByExternal(ctx context.Context, c Caller, externalID string) (commerce.Order, error) {
	modes := []commerce.Mode{c.Mode}
	if c.Mode == commerce.Live {
		modes = append(modes, commerce.Test)
	}
	for _, mode := range modes {
		key, err := s.reader.ExternalOrder(ctx, commerce.ExternalKey{PartnerID: c.Partner.ID, Mode: mode, ExternalID: externalID})
		switch {
		case errors.Is(err, storage.ErrNotFound):
			continue
		case err != nil:
			return commerce.Order{}, err
		}
		return s.visibleOrder(ctx, c, key)
	}
	return commerce.Order{}, commerce.NotFound("order")
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
	switch {
	case order.PartnerID != c.Partner.ID, c.Mode == commerce.Test && order.Mode != commerce.Test:
		return commerce.NotFound("order")
	case !c.Partner.MayUse(order.StoreID):
		return commerce.StoreDenied()
	}
	return nil
}

func orderMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return commerce.NotFound("order")
	}
	return err
}

// MayReadStore refuses an unknown store (404) and a store that the key may not use (403).
// A store that was found once is not read again, because stores are never deleted.
func (s *Service) MayReadStore(ctx context.Context, p commerce.Partner, storeID string) error {
	_, err := s.storeNo(ctx, storeID)
	return storeRefusal(p, storeID, err)
}

// store reads a store. It refuses as MayReadStore does.
func (s *Service) store(ctx context.Context, p commerce.Partner, id string) (commerce.Store, error) {
	store, err := s.reader.Store(ctx, id)
	return store, storeRefusal(p, id, err)
}

func storeRefusal(p commerce.Partner, storeID string, err error) error {
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return commerce.NotFound("store")
	case err == nil && !p.MayUse(storeID):
		return commerce.StoreDenied()
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

func (s *Service) storeNo(ctx context.Context, id string) (int64, error) {
	if no, ok := s.storeNos.Load(id); ok {
		return no.(int64), nil
	}
	store, err := s.reader.Store(ctx, id)
	if err != nil {
		return 0, err
	}
	s.storeNos.Store(id, store.No)
	return store.No, nil
}

func (s *Service) storeID(ctx context.Context, no int64) (string, error) {
	if id, ok := s.storeIDs.Load(no); ok {
		return id.(string), nil
	}
	store, err := s.reader.StoreByNo(ctx, no)
	if err != nil {
		return "", err
	}
	s.storeIDs.Store(no, store.ID)
	return store.ID, nil
}
