package service

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Caller is the actor of a call and the row of the partner or the user behind it, as the
// front read it.
type Caller struct {
	commerce.Actor
	Partner commerce.Partner // of a partner's call
	User    commerce.User    // of a call by staff
	// Seen is the UpdatedOn of the order that the caller has seen and acts on. An order that
	// has moved since is refused (409, changed_meanwhile); 0: as it is now.
	Seen commerce.Millis
}

// facts are the facts of an order for an act of the caller.
func (c Caller) facts(o commerce.Order) command.OrderFacts {
	f := command.FactsOf(o)
	f.Seen = c.Seen
	return f
}

// FindOrder finds an order of the caller: the partner's own, with a test key test orders
// only, or an order in a store whose orders the user may read. An operator finds every
// order. Any other order is answered as not found.
func (s *Service) FindOrder(ctx context.Context, c Caller, orderID string) (commerce.Order, error) {
	order, err := s.orderOf(ctx, orderID)
	return c.visible(order, err)
}

// visible returns an order that was read, if the caller may see it. err is the error of
// the read.
func (c Caller) visible(order commerce.Order, err error) (commerce.Order, error) {
	if errors.Is(err, storage.ErrNotFound) {
		err = commerce.NotFound("order")
	}
	if err == nil {
		err = c.MaySee(order)
	}
	if err != nil {
		return commerce.Order{}, err
	}
	return order, nil
}

// MaySee refuses an order that does not belong to the caller. An operator reaches the database,
// and so all orders.
func (c Caller) MaySee(order commerce.Order) error {
	if c.Kind == commerce.ActorOperator {
		return nil
	}
	if c.Kind == commerce.ActorStaff {
		if !c.User.May(commerce.MayReadOrders, order.StoreID) {
			return commerce.NotFound("order")
		}
		return nil
	}
	if order.PartnerID != c.Partner.ID || c.Mode == commerce.Test && order.Mode != commerce.Test {
		return commerce.NotFound("order")
	}
	return c.Partner.MayUse(order.StoreID)
}
