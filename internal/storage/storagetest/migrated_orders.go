package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// oldOrder is an order with its payment in a database of number 1.
type oldOrder struct {
	id, status, flag            string
	captured, refunded, pending int
	pickedUp                    int
}

func (o oldOrder) insert(t *testing.T, db Raw) {
	t.Helper()
	db.Execute(t, fmt.Sprintf("INSERT INTO orders (store_id, id, partner_id, mode, source, external_id, fulfillment, lines, subtotal_cents, tax_cents,"+
		" delivery_fee_cents, total_cents, pickup_instructions, dropoff_instructions, external_payment_id, created_on, customer_id, customer_email, status,"+
		" refunded_cents, courier_quote_id, courier_delivery_id, courier_tracking_url, inventory_deducted, confirmed, ready_for_pickup_at, picked_up_at,"+
		" attention, updated_on, events, notified_on) VALUES ('sto_1', '%s', '', 'live', '', '', 'pickup', '[]', 300, 0, 0, 300, '', '', '', 7, '', '', '%s',"+
		" %d, '', '', '', FALSE, FALSE, 0, %d, '%s', 8, 0, 0)", o.id, o.status, o.refunded, o.pickedUp, o.flag))
	db.Execute(t, fmt.Sprintf("INSERT INTO payments (store_id, order_id, processor, success_url, cancel_url, store_name, titles, answers_partner, answers_op,"+
		" answers_key, trace_id, created_on, state, session_id, checkout_url, payment_id, error, notice_id, captured_cents, refunded_cents, pending_cents,"+
		" entries, updated_on) VALUES ('sto_1', '%s', '', '', '', '', '[]', '', '', '', '', 7, 'paid', '', '', '', '', '', %d, %d, %d, 1, 8)",
		o.id, o.captured, o.refunded, o.pending))
}

// migrateFlags fills a database of number 1 with orders that have flags, opens it,
// which migrates it, and reads the attention rows made from the flags. An order with
// remaining money is flagged even if another flag had replaced the flag about the money.
func migrateFlags(t *testing.T, db Raw) {
	db.MakeFirst(t)
	for _, o := range []oldOrder{
		{"ord_1", "paid", "", 300, 0, 0, 0}, {"ord_2", "shipped", "courier_gave_up", 300, 0, 0, 0}, {"ord_3", "paid", "product_inactive", 300, 0, 0, 0},
		{"ord_4", "cancelled", "refund_due", 300, 100, 0, 0}, {"ord_5", "cancelled", "second_payment", 300, 100, 100, 0},
		{"ord_6", "refunded", "refund_failed", 300, 0, 0, 0}, {"ord_7", "cancelled", "payment_disputed", 300, 200, 100, 0},
		{"ord_8", "pending_payment", "payment_disputed", 299, 0, 0, 0},
	} {
		o.insert(t, db)
	}
	r := reader(t, db)
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
	if err != nil || order.Status != commerce.PendingPayment || order.TotalCents != 300 || order.UpdatedOn != 8 || order.Metadata != nil || order.ReadyInMinutes != nil || order.LineRefunds != nil {
		t.Errorf("an order is now %+v, %v", order, err)
	}
}

// migrateRefunds does the same with orders that are refunded, or were.
func migrateRefunds(t *testing.T, db Raw) {
	db.MakeFirst(t)
	for _, o := range []oldOrder{
		{"ord_1", "paid", "", 300, 100, 0, 0}, {"ord_2", "refunded", "", 300, 300, 0, 9}, {"ord_3", "refunded", "", 300, 300, 0, 0},
		{"ord_4", "refunded", "", 300, 300, 0, 0}, {"ord_5", "paid", "refund_failed", 300, 0, 0, 0}, {"ord_6", "paid", "refund_failed", 300, 250, 0, 0},
	} {
		o.insert(t, db)
	}
	db.Execute(t, "INSERT INTO deliveries (store_id, order_id, answers_partner, answers_op, answers_key, trace_id, created_on, attempt, state, provider,"+
		" asked_on, provider_id, quote_id, fee_cents, avoid, tracking_url, status, pickup_eta, dropoff_eta, courier_name, courier_phone, courier_vehicle,"+
		" courier_image_url, imminent, seen_on, heard_on, told_on, untold, cancel_partner, cancel_op, cancel_key, error, updated_on, changes)"+
		" VALUES ('sto_1', 'ord_3', '', '', '', '', 7, 1, 'over', '', 0, '', '', 0, '', '', 'delivered', 0, 0, '', '', '', '', FALSE, 0, 0, 0, FALSE, '', '', '', '', 8, 0)")
	for seq, order := range []string{"ord_5", "ord_5", "ord_6"} {
		db.Execute(t, fmt.Sprintf("INSERT INTO ledger (store_id, order_id, seq, kind, amount_cents, refund_id, ref, created_on)"+
			" VALUES ('sto_1', '%s', %d, 'refund_failed', 60, '', '', 7)", order, seq+1))
	}
	db.Execute(t, "INSERT INTO refunds (store_id, id, order_id, amount_cents, reason, origin, answers_partner, answers_op, answers_key, trace_id, created_on,"+
		" state, ref, error, updated_on) VALUES ('sto_1', 'rfd_1', 'ord_1', 100, '', 'asked', '', '', '', '', 7, 'done', '', '', 8)")

	r, ctx := reader(t, db), context.Background()
	for id, want := range map[string]struct {
		from     commerce.OrderStatus
		cameBack commerce.Cents
	}{
		"ord_1": {"", 0}, "ord_2": {commerce.PickedUp, 0}, "ord_3": {commerce.Delivered, 0}, "ord_4": {commerce.Cancelled, 0}, "ord_5": {"", 120}, "ord_6": {"", 50},
	} {
		key := commerce.OrderKey{StoreID: "sto_1", OrderID: id}
		order, err := r.Order(ctx, key)
		payment, err2 := r.Payment(ctx, key)
		if err = errors.Join(err, err2); err != nil || order.RefundedFrom != want.from || order.RefundStopped || payment.CameBackCents != want.cameBack {
			t.Errorf("%s: %+v, %+v, %v; want %+v", id, order, payment, err, want)
		}
	}
	refund, err := r.Refund(ctx, commerce.RefundKey{StoreID: "sto_1", RefundID: "rfd_1"})
	if err != nil || refund.TotalRefundedCents != 100 || refund.OrderStatus != commerce.Paid {
		t.Errorf("a refund: %+v, %v", refund, err)
	}
}

func reader(t *testing.T, db Raw) storage.Reader {
	t.Helper()
	e, err := db.Open(storage.Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.Reader()
}
