package memory

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// OpenCounts implements storage.Reader, as do the others.
func (r reader) OpenCounts(_ context.Context, stores []string, most int) (counts []storage.OpenCount, err error) {
	for _, status := range commerce.OpenStatuses {
		orders, _ := list(r, &schema.Orders, most, func(o *commerce.Order) bool { return o.Status == status && inStores(stores, o.StoreID) }, byValue(storage.ByAge))
		if len(orders) > 0 {
			counts = append(counts, storage.OpenCount{Status: status, Count: int64(len(orders)), Oldest: orders[0].CreatedOn})
		}
	}
	return counts, nil
}

func (r reader) AttentionCounts(_ context.Context, stores []string, most int) (counts []storage.AttentionCount, err error) {
	open, err := list(r, &schema.Attention, most, func(a *commerce.Attention) bool { return a.ResolvedOn == 0 && inStores(stores, a.StoreID) },
		func(a, b *commerce.Attention) int { return cmp.Compare(a.Since, b.Since) })
	for _, a := range open {
		i := slices.IndexFunc(counts, func(c storage.AttentionCount) bool { return c.Code == a.Code })
		if i < 0 {
			i, counts = len(counts), append(counts, storage.AttentionCount{Code: a.Code, Oldest: a.Since})
		}
		counts[i].Count++
	}
	return counts, err
}

func (r reader) LateDeliveries(_ context.Context, stores []string, at commerce.Millis, most int) (late []commerce.Delivery, err error) {
	for _, status := range storage.UnderWay {
		orders, _ := list(r, &schema.Orders, most, func(o *commerce.Order) bool { return o.Status == status && inStores(stores, o.StoreID) }, byValue(storage.ByAge))
		for _, o := range orders {
			d, err := one(r, &schema.Deliveries, o.Key())
			if err == nil && d.State == commerce.DeliveryActive && d.DropoffETA > 0 && d.DropoffETA < at {
				late = append(late, d)
			}
		}
	}
	return late, nil
}
