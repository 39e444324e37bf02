package reads

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// openStatuses is the condition of the index of open orders, without which no engine uses it.
var openStatuses = func() string {
	var list []string
	for _, s := range commerce.OpenStatuses {
		list = append(list, "'"+string(s)+"'")
	}
	return "status IN (" + strings.Join(list, ", ") + ")"
}()

func scanOrder(s schema.Scanner) commerce.Order {
	return schema.Orders.Scan(s, commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()})
}

// inStores is the condition that an order is of one of the stores. It stands for the
// parameter after those in args.
func (r Reader) inStores(stores []string, args []any) (string, []any) {
	parameter := "$" + strconv.Itoa(len(args)+1)
	switch {
	case stores == nil:
		return "", args
	case len(stores) == 1:
		return " AND store_id = " + parameter, append(args, stores[0])
	}
	return " AND " + r.among("store_id", parameter), append(args, stores)
}

// OpenOrders reads the oldest open orders of a status.
func (r Reader) OpenOrders(ctx context.Context, f storage.OpenFilter) ([]commerce.Order, error) {
	stores, args := r.inStores(f.Stores, []any{string(f.Status)})
	orders, err := list(ctx, r, scanOrder, "SELECT "+schema.Orders.Columns()+" FROM orders WHERE status = $1 AND "+openStatuses+stores+
		" ORDER BY created_on, store_id LIMIT $"+strconv.Itoa(len(args)+1), append(args, f.Limit)...)
	slices.SortStableFunc(orders, storage.ByAge)
	return orders, err
}

// OpenOrdersEnding looks through the newest open orders of each status.
func (r Reader) OpenOrdersEnding(ctx context.Context, stores []string, end string, limit int) ([]commerce.Order, error) {
	in, args := r.inStores(stores, []any{""})
	sql := "SELECT store_id, id FROM orders WHERE status = $1 AND " + openStatuses + in +
		" ORDER BY created_on DESC, store_id DESC LIMIT $" + strconv.Itoa(len(args)+1)
	var keys []commerce.OrderKey
	err := r.Each(ctx, sql, len(commerce.OpenStatuses), func(i int) []any {
		return append(append([]any{string(commerce.OpenStatuses[i])}, args[1:]...), storage.EndingExamined)
	}, func(_ int, s schema.Scanner) {
		if key := (commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()}); strings.HasSuffix(key.OrderID, end) {
			keys = append(keys, key)
		}
	})
	if err != nil {
		return nil, err
	}
	return r.newest(ctx, keys, limit)
}

// newest reads the newest orders of those with these keys.
func (r Reader) newest(ctx context.Context, keys []commerce.OrderKey, limit int) (orders []commerce.Order, err error) {
	slices.SortFunc(keys, func(a, b commerce.OrderKey) int {
		return int(commerce.TimeOfOrder(b.OrderID) - commerce.TimeOfOrder(a.OrderID))
	})
	found, err := r.OrdersByKey(ctx, keys[:min(len(keys), 2*limit)]) // times in ids are almost those of the orders
	for _, o := range found {
		orders = append(orders, o)
	}
	return storage.Newest(orders, limit), err
}

// OrdersByKey reads each order by itself.
func (r Reader) OrdersByKey(ctx context.Context, keys []commerce.OrderKey) (map[commerce.OrderKey]commerce.Order, error) {
	found := make(map[commerce.OrderKey]commerce.Order, len(keys))
	err := each(ctx, r, keys, byKey[schema.Orders.Name], func(k commerce.OrderKey) []any { return []any{k.StoreID, k.OrderID} },
		func(k commerce.OrderKey, s schema.Scanner) { found[k] = schema.Orders.Scan(s, k) })
	return found, err
}

// ExternalOrders looks up the id of each partner and mode.
func (r Reader) ExternalOrders(ctx context.Context, externalID string) (keys []commerce.OrderKey, err error) {
	partners, err := r.Partners(ctx)
	if err != nil {
		return nil, err
	}
	var names []commerce.ExternalKey
	for _, p := range partners {
		for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
			names = append(names, commerce.ExternalKey{PartnerID: p.ID, Mode: mode, ExternalID: externalID})
		}
	}
	err = each(ctx, r, names, "SELECT store_id, order_id FROM external_ids WHERE partner_id = $1 AND mode = $2 AND external_id = $3",
		func(k commerce.ExternalKey) []any { return []any{k.PartnerID, string(k.Mode), k.ExternalID} },
		func(_ commerce.ExternalKey, s schema.Scanner) {
			keys = append(keys, commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()})
		})
	return keys, err
}

// ContactOrders finds the customers, and then the orders of each.
func (r Reader) ContactOrders(ctx context.Context, stores []string, contact string, limit int) ([]commerce.Order, error) {
	type customer struct{ store, id string }
	var customers []customer
	err := r.Rows(ctx, "SELECT store_id, id FROM customers WHERE "+r.among("store_id", "$1")+" AND contact = $2", []any{stores, contact},
		func(s schema.Scanner) { customers = append(customers, customer{s.Text(), s.Text()}) })
	if err != nil {
		return nil, err
	}
	var keys []commerce.OrderKey
	err = each(ctx, r, customers, "SELECT id FROM orders WHERE customer_id = $1 AND (address IS NOT NULL OR customer_email <> '') AND store_id = $2 LIMIT $3",
		func(c customer) []any { return []any{c.id, c.store, storage.CustomerExamined} },
		func(c customer, s schema.Scanner) {
			keys = append(keys, commerce.OrderKey{StoreID: c.store, OrderID: s.Text()})
		})
	if err != nil {
		return nil, err
	}
	return r.newest(ctx, keys, limit)
}

// AllOpenAttention reads from the index of open reasons.
func (r Reader) AllOpenAttention(ctx context.Context, stores []string, limit int) ([]commerce.Attention, error) {
	reasons, err := list(ctx, r, schema.ScanAttention, "SELECT "+schema.Attention.Columns()+
		" FROM attention WHERE resolved_on = 0 AND "+r.among("store_id", "$1")+" LIMIT $2", stores, limit)
	slices.SortFunc(reasons, storage.ByUrgency)
	return reasons, err
}
