package storagetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

var attentionTests = map[string]func(*testing.T, Database){
	"open attention comes in pages, the oldest first": openAttention,
}

// openAttention raises and resolves reasons in two stores, and reads them back
// whole and page by page.
func openAttention(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	row := func(store, order string, code commerce.AttentionCode, since, resolved int64) commerce.Attention {
		return commerce.Attention{StoreID: store, OrderID: order, Code: code, Since: since, Detail: "d", ResolvedOn: resolved}
	}
	rows := []commerce.Attention{
		row("sto_1", "ord_b", "a", 5, 0), row("sto_1", "ord_a", "b", 5, 0), row("sto_1", "ord_a", "a", 5, 0), row("sto_1", "ord_a", "c", 4, 0),
		row("sto_1", "ord_c", "a", 6, 0), row("sto_1", "ord_c", "b", 3, 7), row("sto_2", "ord_d", "a", 1, 0),
	}
	save := func(list ...commerce.Attention) {
		t.Helper()
		c := commerce.Changes{Attention: list}
		Change(t, e, needsOf(c), func(*commerce.Rows, int64) commerce.Changes { return c })
	}
	save(rows...)
	rows[4].ResolvedOn, rows[4].ResolvedBy = 9, "order:cancel"
	save(rows[4])

	ctx, r := context.Background(), e.Reader()
	var all []commerce.Attention
	var after storage.AttentionPosition
	for {
		page, err := r.OpenAttention(ctx, "sto_1", after, 2)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page...)
		if len(page) < 2 {
			break
		}
		last := page[1]
		after = storage.AttentionPosition{Since: last.Since, OrderID: last.OrderID, Code: last.Code}
	}
	if want := []commerce.Attention{rows[3], rows[2], rows[1], rows[0]}; !reflect.DeepEqual(all, want) {
		t.Errorf("open in pages:\n got %+v\nwant %+v", all, want)
	}
	of, err := r.Attention(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_c"})
	if want := []commerce.Attention{rows[4], rows[5]}; err != nil || !reflect.DeepEqual(of, want) {
		t.Errorf("of one order:\n got %+v, %v\nwant %+v", of, err, want)
	}
}

// migrateFlags fills a database of number 1 with orders that have flags, opens it,
// which migrates it, and reads the rows that came of the flags. Money
// that is left of an order is flagged even where another flag had replaced the
// one that told of it.
func migrateFlags(t *testing.T, db Raw) {
	db.MakeFirst(t)
	for _, o := range []struct {
		id, status, flag            string
		captured, refunded, pending int
	}{
		{"ord_1", "paid", "", 300, 0, 0}, {"ord_2", "shipped", "courier_gave_up", 300, 0, 0}, {"ord_3", "paid", "product_inactive", 300, 0, 0},
		{"ord_4", "cancelled", "refund_due", 300, 100, 0}, {"ord_5", "cancelled", "second_payment", 300, 100, 100},
		{"ord_6", "refunded", "refund_failed", 300, 0, 0}, {"ord_7", "cancelled", "payment_disputed", 300, 200, 100},
		{"ord_8", "pending_payment", "payment_disputed", 299, 0, 0},
	} {
		db.Execute(t, "INSERT INTO orders (store_id, id, partner_id, mode, source, external_id, fulfillment, lines, subtotal_cents, tax_cents, delivery_fee_cents,"+
			" total_cents, pickup_instructions, dropoff_instructions, external_payment_id, created_on, customer_id, customer_email, status, refunded_cents,"+
			" courier_quote_id, courier_delivery_id, courier_tracking_url, inventory_deducted, confirmed, ready_for_pickup_at, picked_up_at, attention,"+
			" updated_on, events, notified_on) VALUES ('sto_1', '"+o.id+"', '', 'live', '', '', 'pickup', '[]', 300, 0, 0, 300, '', '', '', 7, '', '', '"+
			o.status+"', 0, '', '', '', FALSE, FALSE, 0, 0, '"+o.flag+"', 8, 0, 0)")
		db.Execute(t, fmt.Sprintf("INSERT INTO payments (store_id, order_id, processor, success_url, cancel_url, store_name, titles, answers_partner, answers_op,"+
			" answers_key, trace_id, created_on, state, session_id, checkout_url, payment_id, error, notice_id, captured_cents, refunded_cents, pending_cents,"+
			" entries, updated_on) VALUES ('sto_1', '%s', '', '', '', '', '[]', '', '', '', '', 7, 'paid', '', '', '', '', '', %d, %d, %d, 1, 8)",
			o.id, o.captured, o.refunded, o.pending))
	}
	e, err := db.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := e.Reader()
	rows, err := r.OpenAttention(context.Background(), "sto_1", storage.AttentionPosition{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range rows {
		if got = append(got, a.OrderID+" "+string(a.Code)); a.Since != 8 || !a.Open() {
			t.Errorf("%+v", a)
		}
	}
	want := []string{"ord_2 courier_gave_up", "ord_4 refund_due", "ord_5 refund_due", "ord_5 second_payment", "ord_6 refund_failed", "ord_7 payment_disputed",
		"ord_8 payment_disputed", "ord_8 payment_mismatch"}
	if !slices.Equal(got, want) {
		t.Errorf("rows are\n%q, want\n%q", got, want)
	}
	order, err := r.Order(context.Background(), commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_8"})
	if err != nil || order.Status != commerce.PendingPayment || order.TotalCents != 300 || order.UpdatedOn != 8 {
		t.Errorf("an order is now %+v, %v", order, err)
	}
}
