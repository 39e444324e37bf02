package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// RunUnreadable: a row that cannot be read fails the reads and batches that need
// it with storage.ErrUnreadable, and no others. run executes SQL on the database.
func RunUnreadable(t *testing.T, db Database, run func(sql string)) {
	ctx := context.Background()
	e := db.Open(t, time.Now)
	broken, whole := commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_broken"}, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_whole"}
	keys := []commerce.OrderKey{broken, whole}
	partners := []string{"ptn_broken", "ptn_whole"}
	Change(t, e, commerce.Needs{Orders: keys, Payments: keys, Partners: partners}, func(_ *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
		for _, k := range keys {
			c.Orders = append(c.Orders, commerce.Order{StoreID: k.StoreID, ID: k.OrderID, Status: commerce.Paid, UpdatedOn: now,
				Lines: []commerce.OrderLine{{ProductID: "prd_1", Quantity: 1}}})
			c.Payments = append(c.Payments, commerce.Payment{StoreID: k.StoreID, OrderID: k.OrderID, UpdatedOn: now})
		}
		for _, id := range partners {
			c.Partners = append(c.Partners, commerce.Partner{ID: id, Name: id, RateLimit: 1, UpdatedOn: now})
		}
		return c
	})
	orders := commerce.Needs{Orders: keys[:1]}
	readOrder := func(k commerce.OrderKey) error { _, err := e.Reader().Order(ctx, k); return err }
	for what, c := range map[string]struct {
		spoil, mend string
		needs       commerce.Needs
		read        func() error
	}{
		"lines": {"UPDATE orders SET lines = '[{' WHERE id = 'ord_broken'", "UPDATE orders SET lines = '[]' WHERE id = 'ord_broken'",
			orders, func() error { return readOrder(broken) }},
		"address": {"UPDATE orders SET address = '{\"name\":7}' WHERE id = 'ord_broken'", "UPDATE orders SET address = NULL WHERE id = 'ord_broken'",
			orders, func() error { return readOrder(broken) }},
		"metadata": {"UPDATE orders SET metadata = '{\"a\":7}' WHERE id = 'ord_broken'", "UPDATE orders SET metadata = NULL WHERE id = 'ord_broken'",
			orders, func() error { return readOrder(broken) }},
		"refunds by line": {"UPDATE orders SET line_refunds = '{}' WHERE id = 'ord_broken'", "UPDATE orders SET line_refunds = NULL WHERE id = 'ord_broken'",
			orders, func() error { return readOrder(broken) }},
		"scopes": {"UPDATE partners SET scopes = 'x' WHERE id = 'ptn_broken'", "UPDATE partners SET scopes = '[]' WHERE id = 'ptn_broken'",
			commerce.Needs{Partners: partners[:1]}, func() error { _, err := e.Reader().Partner(ctx, "ptn_broken"); return err }},
		"titles": {"UPDATE payments SET titles = '{}' WHERE order_id = 'ord_broken'", "UPDATE payments SET titles = '[]' WHERE order_id = 'ord_broken'",
			commerce.Needs{Payments: keys[:1]}, func() error { _, err := e.Reader().Payment(ctx, broken); return err }},
	} {
		run(c.spoil)
		expectUnreadable(t, what+", read", c.read())
		_, err := e.Load(ctx, c.needs)
		expectUnreadable(t, what+", loaded", err)
		if err := readOrder(whole); err != nil {
			t.Errorf("%s: another order: %v", what, err)
		}
		Change(t, e, commerce.Needs{Orders: keys[1:], Partners: partners[1:]}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			o, _ := rows.Orders.Get(whole)
			o.UpdatedOn = now
			return commerce.Changes{Orders: []commerce.Order{o}}
		})
		run(c.mend)
		if err := c.read(); err != nil {
			t.Errorf("%s, mended: %v", what, err)
		}
	}
}

func expectUnreadable(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, storage.ErrUnreadable) || errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("%s: %v, want storage.ErrUnreadable", what, err)
	}
}
