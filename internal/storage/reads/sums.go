package reads

import (
	"context"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// HourSums reads the days of each store.
func (r Reader) HourSums(ctx context.Context, q storage.SumFilter, f func(commerce.DaySumsKey, *commerce.HourSum)) error {
	sql := "SELECT " + schema.HourSums.Columns() + " FROM hour_sums WHERE " + r.among("store_id", "$1") +
		" AND day >= " + r.number("$2") + " AND day < " + r.number("$3") + " AND mode = $4"
	return r.Rows(ctx, sql, []any{q.StoreIDs, commerce.DayOf(q.From), q.Until, string(q.Mode)}, func(s schema.Scanner) {
		key := schema.ScanDaySumsKey(s)
		schema.UnpackHours(s, func(h *commerce.HourSum) {
			if q.Has(key.Day, h) {
				f(key, h)
			}
		})
	})
}

// SumPosition reads how far the sums have come.
func (r Reader) SumPosition(ctx context.Context, name string) (commerce.SumPosition, error) {
	return one(ctx, r, &schema.SumPositions, name)
}

// ChangedOrders merges the orders that were made, and those that were changed later.
func (r Reader) ChangedOrders(ctx context.Context, partnerID string, mode commerce.Mode, from commerce.Millis, limit int) (changes []storage.OrderChange, err error) {
	for _, feed := range []struct{ at, only string }{{"created_on", ""}, {"updated_on", " AND updated_on <> created_on"}} {
		some, err := list(ctx, r, func(s schema.Scanner) storage.OrderChange {
			return storage.OrderChange{ID: s.Text(), At: commerce.Millis(s.Int())}
		}, "SELECT id, "+feed.at+" FROM orders WHERE partner_id = $1 AND mode = $2 AND "+feed.at+" >= $3"+feed.only+" ORDER BY "+feed.at+" LIMIT $4",
			partnerID, string(mode), from, limit)
		if err != nil {
			return nil, err
		}
		changes = append(changes, some...)
	}
	slices.SortFunc(changes, storage.OrderChange.Compare)
	return changes[:min(limit, len(changes))], nil
}

// sumEvents is the list of commerce.SumEvents as SQL.
var sumEvents = func() string {
	var list []string
	for _, kind := range commerce.SumEvents {
		list = append(list, "'"+string(kind)+"'")
	}
	return strings.Join(list, ", ")
}()

// OrdersToSum reads orders by the range of their ids, and then what belongs to them. An
// order that changes in between is summed once more later.
func (r Reader) OrdersToSum(ctx context.Context, storeID, from, to string, limit int) ([]commerce.SumFacts, error) {
	var facts []commerce.SumFacts
	at := map[string]int{}
	err := r.Rows(ctx, "SELECT "+schema.SumOrderColumns+" FROM orders WHERE store_id = $1 AND id >= $2 AND id < $3 ORDER BY id LIMIT $4",
		[]any{storeID, from, to, limit}, func(s schema.Scanner) {
			o := schema.ScanSumOrder(s, storeID)
			at[o.ID] = len(facts)
			facts = append(facts, commerce.SumFacts{Order: o})
		})
	if err != nil || len(facts) == 0 {
		return nil, err
	}
	of := func(columns, table, rest string) (string, []any) {
		return "SELECT " + columns + " FROM " + table + " WHERE store_id = $1 AND order_id >= $2 AND order_id <= $3" + rest,
			[]any{storeID, facts[0].Order.ID, facts[len(facts)-1].Order.ID}
	}
	sql, args := of(schema.SumEventColumns, "timeline", " AND kind IN ("+sumEvents+") ORDER BY order_id, seq")
	err = r.Rows(ctx, sql, args, func(s schema.Scanner) {
		id, event := schema.ScanSumEvent(s)
		if i, ok := at[id]; ok {
			facts[i].Events = append(facts[i].Events, event)
		}
	})
	if err != nil {
		return nil, err
	}
	sql, args = of("order_id, captured_cents", "payments", "")
	err = r.Rows(ctx, sql, args, func(s schema.Scanner) {
		if i, ok := at[s.Text()]; ok {
			facts[i].CapturedCents = commerce.Cents(s.Int())
		}
	})
	return facts, err
}

// EventsToSum reads events by the range of their ids, and then their attempts.
func (r Reader) EventsToSum(ctx context.Context, partnerID, from, to string, limit int) (facts []commerce.WebhookFacts, through string, err error) {
	first, at := "", map[string]int{}
	err = r.Rows(ctx, "SELECT id, store_id, mode FROM webhook_events WHERE partner_id = $1 AND id >= $2 AND id < $3 ORDER BY id LIMIT $4",
		[]any{partnerID, from, to, limit}, func(s schema.Scanner) {
			f := commerce.WebhookFacts{ID: s.Text(), StoreID: s.Text(), Mode: commerce.Mode(s.Text())}
			if through = f.ID; first == "" {
				first = f.ID
			}
			if f.StoreID != "" {
				at[f.ID] = len(facts)
				facts = append(facts, f)
			}
		})
	if err != nil || first == "" {
		return nil, "", err
	}
	err = r.Rows(ctx, "SELECT event_id, status FROM webhook_attempts WHERE partner_id = $1 AND event_id >= $2 AND event_id <= $3",
		[]any{partnerID, first, through}, func(s schema.Scanner) {
			id, status := s.Text(), s.Int()
			if i, ok := at[id]; ok {
				facts[i].Tried = true
				facts[i].Delivered = facts[i].Delivered || commerce.WebhookAttempt{Status: status}.Delivered()
			}
		})
	return facts, through, err
}
