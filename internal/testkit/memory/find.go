package memory

import (
	"context"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

func inStores(stores []string, id string) bool { return stores == nil || slices.Contains(stores, id) }

func (r reader) OpenOrders(_ context.Context, f storage.OpenFilter) ([]commerce.Order, error) {
	return list(r, &schema.Orders, f.Limit, func(o *commerce.Order) bool {
		return o.Status == f.Status && o.Status.Open() && inStores(f.Stores, o.StoreID)
	}, byValue(storage.ByAge))
}

func (r reader) newest(limit int, wanted func(*commerce.Order) bool) ([]commerce.Order, error) {
	orders, err := list(r, &schema.Orders, -1, wanted, byValue(storage.ByAge))
	return storage.Newest(orders, limit), err
}

func (r reader) OpenOrdersEnding(_ context.Context, stores []string, end string, limit int) ([]commerce.Order, error) {
	return r.newest(limit, func(o *commerce.Order) bool {
		return o.Status.Open() && inStores(stores, o.StoreID) && strings.HasSuffix(o.ID, end)
	})
}

// OrderPage implements storage.Reader. It looks at all orders.
func (r reader) OrderPage(_ context.Context, f storage.OrderFilter) (page storage.OrderPage, err error) {
	at := func(o commerce.Order) storage.OrderPosition { return f.Position(o.ID, o.CreatedOn) }
	orders, err := list(r, &schema.Orders, -1, func(o *commerce.Order) bool {
		return f.Has(*o) && (f.After == storage.OrderPosition{} || at(*o).Compare(f.After) < 0)
	}, func(a, b *commerce.Order) int { return at(*b).Compare(at(*a)) })
	if len(orders) > f.Limit {
		orders = orders[:f.Limit]
		page.Next = at(orders[f.Limit-1])
	}
	page.Orders = orders
	return page, err
}

func (r reader) OrdersByKey(_ context.Context, keys []commerce.OrderKey) (map[commerce.OrderKey]commerce.Order, error) {
	found := map[commerce.OrderKey]commerce.Order{}
	for _, key := range keys {
		if o, err := one(r, &schema.Orders, key); err == nil {
			found[key] = o
		}
	}
	return found, nil
}

func (r reader) ExternalOrders(_ context.Context, externalID string) (keys []commerce.OrderKey, err error) {
	refs, err := list(r, &schema.ExternalIDs, -1, func(ref *commerce.ExternalRef) bool { return ref.ExternalID == externalID },
		func(a, b *commerce.ExternalRef) int { return compareOrders(a.Order, b.Order) })
	for _, ref := range refs {
		keys = append(keys, ref.Order)
	}
	return keys, err
}

func (r reader) ContactOrders(_ context.Context, stores []string, contact string, limit int) ([]commerce.Order, error) {
	customers, err := list(r, &schema.Customers, -1, func(c *commerce.Customer) bool { return c.Contact == contact && inStores(stores, c.StoreID) },
		func(a, b *commerce.Customer) int { return strings.Compare(a.ID, b.ID) })
	if err != nil {
		return nil, err
	}
	return r.newest(limit, func(o *commerce.Order) bool {
		return slices.ContainsFunc(customers, func(c commerce.Customer) bool { return c.StoreID == o.StoreID && c.ID == o.CustomerID })
	})
}

func (r reader) AllOpenAttention(_ context.Context, stores []string, limit int) ([]commerce.Attention, error) {
	return list(r, &schema.Attention, limit, func(a *commerce.Attention) bool { return a.ResolvedOn == 0 && inStores(stores, a.StoreID) }, byValue(storage.ByUrgency))
}
