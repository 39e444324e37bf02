package service

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Followed is an order as its tracking page shows it.
type Followed struct {
	Tracked
	Store commerce.Store
	Door  *commerce.Place // nil: not known, or nothing is brought there
	Now   commerce.Millis
	Gone  bool // the order ended so long ago that it has no page any more; only this is known then
}

// endRoom is how many events of a timeline are read to find the end of the order. After the
// end there are few.
const endRoom = 100

// FollowOrder reads what the customer of an order sees of it. With live, the courier's provider
// is asked as in TrackOrder, so the answer may take some seconds. An order that does not exist is
// refused as not found.
func (s *Service) FollowOrder(ctx context.Context, orderID string, live bool) (f Followed, err error) {
	f.Order, err = s.orderOf(ctx, orderID)
	if errors.Is(err, storage.ErrNotFound) {
		err = commerce.NotFound("order")
	}
	if err != nil {
		return Followed{}, err
	}
	f.Now = s.millis()
	if f.Order.Ended(nil) != 0 {
		timeline, err := s.reader.Timeline(ctx, f.Order.Key(), endRoom)
		if err != nil || !commerce.MayBeTracked(f.Order.Ended(timeline), f.Now) {
			return Followed{Gone: err == nil}, err
		}
	}
	if f.Store, err = s.reader.Store(ctx, f.Order.StoreID); err != nil {
		return Followed{}, err
	}
	if live {
		f.Tracked, _, err = s.TrackOrder(ctx, f.Order, false)
	} else {
		f.Tracked, err = s.StoredDelivery(ctx, f.Order)
	}
	if err == nil && f.Order.Fulfillment == commerce.ByDelivery && f.Order.Address != nil {
		f.Door, _, err = s.PlaceOf(ctx, f.Order.Address.Address)
	}
	return f, err
}
