package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Caller is the actor of a call and, if that is a partner, its row as the front
// has looked it up.
type Caller struct {
	commerce.Actor
	Partner commerce.Partner
}

// FindOrder finds an order that the caller may see: its own, and with a test key
// only test orders. Any other order is not found for it.
func (s *Service) FindOrder(ctx context.Context, c Caller, orderID string) (commerce.Order, error) {
	key, err := s.orderKey(ctx, orderID)
	if err != nil {
		return commerce.Order{}, orderMissing(err)
	}
	return s.visibleOrder(ctx, c, key)
}

// FindOrderByExternal finds an order by the partner's own id: of the caller's
// mode first, and with a live key else the test order.
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

// MaySee refuses an order that is not the caller's.
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

// MayReadStore refuses a store that is not known (404), and one that the key is
// not for (403). A store that was found once is not read again: stores do not go
// away.
func (s *Service) MayReadStore(ctx context.Context, p commerce.Partner, storeID string) error {
	_, err := s.storeNo(ctx, storeID)
	return storeRefusal(p, storeID, err)
}

// store reads a store; it refuses as MayReadStore does.
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
