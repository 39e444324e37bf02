package storagetest

import (
	"context"
	"fmt"
	"testing"

	"purveyor/internal/commerce"
)

// migrateReplies fills a database of number 1 with jobs whose answers wait, opens
// it, and reads the jobs: each carries the idempotency key that stood in the
// payment, refund or delivery that it is about.
func migrateReplies(t *testing.T, db Raw) {
	db.MakeFirst(t)
	const body, asked, cancelled, delivered = "1_0abcdefghjkmnpqrstvwxyz012", "ord_1_0abcdefghjkmnpqrstvwxyz012", "ord_1_0abcdefghjkmnpqrstvwxyz013", "ord_1_0abcdefghjkmnpqrstvwxyz014"
	for _, id := range []string{asked, cancelled} {
		db.Execute(t, fmt.Sprintf("INSERT INTO payments (store_id, order_id, processor, success_url, cancel_url, store_name, titles, answers_partner, answers_op,"+
			" answers_key, trace_id, created_on, state, session_id, checkout_url, payment_id, error, notice_id, captured_cents, refunded_cents, pending_cents,"+
			" entries, updated_on) VALUES ('sto_1', '%s', '', '', '', '', '[]', 'ptn_1', 'checkout', 'k %[1]s', '', 7, 'opening', '', '', '', '', '', 0, 0, 0, 0, 8)", id))
	}
	for _, r := range []struct{ id, key string }{{"rfd_1", "k 1"}, {"rfd_2", ""}} {
		db.Execute(t, fmt.Sprintf("INSERT INTO refunds (store_id, id, order_id, amount_cents, reason, origin, answers_partner, answers_op, answers_key, trace_id, created_on,"+
			" state, ref, error, updated_on) VALUES ('sto_1', '%s', '%s', 100, '', 'asked', 'ptn_1', 'refund', '%s', '', 7, 'pending', '', '', 8)", r.id, asked, r.key))
	}
	for _, d := range []struct{ order, status, cancelKey string }{{asked, "", ""}, {cancelled, "cancelled", "c 1"}, {delivered, "cancelled", ""}} {
		db.Execute(t, fmt.Sprintf("INSERT INTO deliveries (store_id, order_id, answers_partner, answers_op, answers_key, trace_id, created_on, attempt, state, provider,"+
			" asked_on, provider_id, quote_id, fee_cents, avoid, tracking_url, status, pickup_eta, dropoff_eta, courier_name, courier_phone, courier_vehicle,"+
			" courier_image_url, imminent, seen_on, heard_on, told_on, untold, cancel_partner, cancel_op, cancel_key, error, updated_on, changes)"+
			" VALUES ('sto_1', '%s', 'ptn_1', 'report', 'd 1', '', 7, 12, 'dispatching', '', 0, '', '', 0, '', '', '%s', 0, 0, '', '', '', '', FALSE, 0, 0, 0, FALSE,"+
			" 'ptn_1', 'cancel', '%s', '', 8, 0)", d.order, d.status, d.cancelKey))
	}
	jobs := []struct{ id, kind, owner, subject, state, want string }{
		{"job_1", "open_session", "sto_1", asked, "waiting", "checkout k " + asked},
		{"job_2", "open_session", "sto_1", cancelled, "dead", "checkout k " + cancelled},
		{"job_3", "refund_payment", "sto_1", "rfd_1", "parked", "refund k 1"},
		{"job_4", "refund_payment", "sto_1", "rfd_2", "waiting", "refund "},
		{"job_5", "refund_payment", "sto_2", "rfd_1", "waiting", " "}, // of another store
		{"job_6", "dispatch", "sto_1", "dlv_" + body + "_12", "waiting", "report d 1"},
		{"job_7", "dispatch", "sto_1", "dlv_9_" + body + "_1", "waiting", " "},
		{"job_8", "cancel_delivery", "sto_1", cancelled, "waiting", "cancel c 1"},
		{"job_9", "refund_payment", "sto_1", "rfd_1", "given_up", " "},
		{"job_10", "expire_session", "sto_1", asked, "waiting", " "},
		{"job_11", "deliver_webhook", "ptn_1", "evt_1", "waiting", " "},
	}
	for i, j := range jobs {
		db.Execute(t, fmt.Sprintf("INSERT INTO jobs (slot, id, kind, owner, subject, run_at, state, tries, probes, error, leased_by, leased_until)"+
			" VALUES (%d, '%s', '%s', '%s', '%s', 7, '%s', 0, 0, '', '', 0)", i, j.id, j.kind, j.owner, j.subject, j.state))
	}
	r, ctx := reader(t, db), context.Background()
	for i, want := range jobs {
		j, err := r.Job(ctx, commerce.JobKey{Slot: int64(i), ID: want.id})
		if got := j.ReplyTo.Op + " " + j.ReplyTo.Key; err != nil || got != want.want || (j.ReplyTo.PartnerID != "") != (j.ReplyTo.Op != "") || string(j.State) != want.state {
			t.Errorf("%s of %s: %+v, %v; want the reply %q", want.kind, want.subject, j, err, want.want)
		}
	}
	for order, want := range map[string]bool{asked: false, cancelled: true, delivered: false} { // the last one by the courier himself
		if d, err := r.Delivery(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: order}); err != nil || d.CalledOff != want {
			t.Errorf("%s: %+v, %v", order, d, err)
		}
	}
}
