package reads

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// OpenCounts counts the entries of the index of open orders.
func (r Reader) OpenCounts(ctx context.Context, stores []string, most int) (counts []storage.OpenCount, err error) {
	sql, args := r.openCounts(stores, most)
	err = each(ctx, r, commerce.OpenStatuses, sql, args, func(status commerce.OrderStatus, s schema.Scanner) { counts = withOpen(counts, status, s) })
	return counts, err
}

// AttentionCounts reads the index of open reasons.
func (r Reader) AttentionCounts(ctx context.Context, stores []string, most int) ([]storage.AttentionCount, error) {
	counts := map[commerce.AttentionCode]storage.AttentionCount{}
	sql, args := r.attentionCounts(stores, most)
	err := r.Rows(ctx, sql, args, func(s schema.Scanner) { countAttention(counts, s) })
	return slices.Collect(maps.Values(counts)), err
}

// LateDeliveries reads the orders under way, and then their deliveries store by store.
func (r Reader) LateDeliveries(ctx context.Context, stores []string, at commerce.Millis, most int) (late []commerce.Delivery, err error) {
	condition, args := r.inStores(stores, []any{""})
	sql := "SELECT store_id, id FROM orders WHERE status = $1 AND " + openStatuses + condition + " ORDER BY created_on LIMIT $" + strconv.Itoa(len(args)+1)
	orders := map[string][]string{}
	err = each(ctx, r, storage.UnderWay, sql, func(status commerce.OrderStatus) []any {
		return append(append([]any{string(status)}, args[1:]...), most)
	}, func(_ commerce.OrderStatus, s schema.Scanner) {
		store := s.Text()
		orders[store] = append(orders[store], s.Text())
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, r, slices.Sorted(maps.Keys(orders)), "SELECT "+schema.Deliveries.Columns()+" FROM deliveries WHERE store_id = $1 AND "+r.among("order_id", "$2")+
		" AND state = 'active' AND dropoff_eta > 0 AND dropoff_eta < $3", func(store string) []any { return []any{store, orders[store], at} },
		func(_ string, s schema.Scanner) {
			late = append(late, schema.Deliveries.Scan(s, commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()}))
		})
	return late, err
}
