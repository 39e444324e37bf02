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
	condition, args := r.inStores(stores, []any{""})
	sql := "SELECT count(*), coalesce(min(created_on), 0) FROM (SELECT created_on FROM orders WHERE status = $1 AND " + openStatuses + condition +
		" ORDER BY created_on LIMIT $" + strconv.Itoa(len(args)+1) + ") AS few"
	err = each(ctx, r, commerce.OpenStatuses, sql, func(status commerce.OrderStatus) []any {
		return append(append([]any{string(status)}, args[1:]...), most)
	}, func(status commerce.OrderStatus, s schema.Scanner) {
		if c := (storage.OpenCount{Status: status, Count: s.Int(), Oldest: commerce.Millis(s.Int())}); c.Count > 0 {
			counts = append(counts, c)
		}
	})
	return counts, err
}

// AttentionCounts reads the index of open reasons.
func (r Reader) AttentionCounts(ctx context.Context, stores []string, most int) ([]storage.AttentionCount, error) {
	condition, args := r.inStores(stores, nil)
	counts := map[commerce.AttentionCode]storage.AttentionCount{}
	err := r.Rows(ctx, "SELECT code, since FROM attention WHERE resolved_on = 0 AND since >= 0"+condition+" LIMIT $"+strconv.Itoa(len(args)+1),
		append(args, most), func(s schema.Scanner) {
			code, since := commerce.AttentionCode(s.Text()), commerce.Millis(s.Int())
			c, met := counts[code]
			if c.Code, c.Count = code, c.Count+1; !met || since < c.Oldest {
				c.Oldest = since
			}
			counts[code] = c
		})
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
