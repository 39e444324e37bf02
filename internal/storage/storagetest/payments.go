package storagetest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// samplePayment is the payment of the order of sample, with every field set.
func samplePayment() (commerce.Payment, commerce.Refund, []commerce.LedgerEntry) {
	return commerce.Payment{StoreID: "sto_1", OrderID: "ord_1", Processor: "sandbox", SuccessURL: "https://a.example/ok", CancelURL: "https://a.example/no",
			StoreName: "One", Titles: []commerce.LineTitle{{Name: "Rye \"loaf\"", ImageURL: "https://a.example/1.png"}, {Name: "Ünï"}},
			TraceID: "t", State: commerce.PaymentPaid, SessionID: "cs_1", CheckoutURL: "https://pay.example/1", PaymentID: "pi_1",
			Error: "e", CallbackID: "n", CapturedCents: 1373, RefundedCents: 100, PendingCents: 50, CameBackCents: 25, Entries: 2, CreatedOn: 40, UpdatedOn: 41},
		commerce.Refund{StoreID: "sto_1", ID: "rfd_1", OrderID: "ord_1", AmountCents: 100, Reason: "duplicate", Origin: commerce.RefundAsked, Restock: true,
			Lines:   []commerce.RefundLine{{ProductID: "prd_1", Quantity: 1, TaxCents: 2}, {ProductID: "prd_2", Quantity: 3}},
			TraceID: "t", State: commerce.RefundDone, TotalRefundedCents: 150, OrderStatus: commerce.Shipped, Ref: "re_1", Error: "e", CreatedOn: 42, UpdatedOn: 43},
		[]commerce.LedgerEntry{
			{StoreID: "sto_1", OrderID: "ord_1", Seq: 1, Kind: commerce.EntryCapture, AmountCents: 1373, Ref: "pi_1", CreatedOn: 44},
			{StoreID: "sto_1", OrderID: "ord_1", Seq: 2, Kind: commerce.EntryRefund, AmountCents: 100, RefundID: "rfd_1", Ref: "re_1", CreatedOn: 45}}
}

// changePayment changes every field that can change.
func changePayment(p *commerce.Payment, r *commerce.Refund) {
	p.State, p.SessionID, p.CheckoutURL, p.PaymentID, p.Error, p.CallbackID = commerce.PaymentExpired, "cs_2", "https://pay.example/2", "pi_2", "", "m"
	p.CapturedCents, p.RefundedCents, p.PendingCents, p.CameBackCents, p.Entries, p.UpdatedOn = 2000, 150, 0, 0, 3, 141
	r.State, r.Ref, r.Error, r.UpdatedOn = commerce.RefundFailed, "re_2", "", 143
	r.TotalRefundedCents, r.OrderStatus = 0, ""
}

// wantPayments reads the payment of sample.
func wantPayments(t *testing.T, r storage.Reader, c commerce.Changes) {
	t.Helper()
	ctx, key := context.Background(), c.Payments[0].Key()
	want := func(what string, err error, got, want any) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", what, got, err, want)
		}
	}
	payment, err := r.Payment(ctx, key)
	want("payment", err, payment, c.Payments[0])
	refund, err := r.Refund(ctx, c.Refunds[0].Key())
	want("refund", err, refund, c.Refunds[0])
	ledger, err := r.Ledger(ctx, key)
	want("ledger", err, ledger, c.Ledger)
	refunds, err := r.Refunds(ctx, key)
	want("refunds", err, refunds, c.Refunds)
	payments, err := r.Payments(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_0"}, 5)
	want("payments", err, payments, c.Payments)
	payments, err = r.Payments(ctx, key, 5)
	want("payments after the last", err, payments, []commerce.Payment(nil))
	object, err := r.SandboxObject(ctx, "sbx_1")
	want("sandbox object", err, object, c.Sandbox[0])
	reply, err := r.Reply(ctx, c.Replies[0].ReplyKey)
	want("reply", err, reply, c.Replies[0])
}

func closeReplies(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := []commerce.ReplyKey{{PartnerID: "p", Op: "o", Key: "a"}, {PartnerID: "p", Op: "o", Key: "b"}, {PartnerID: "q", Op: "o", Key: "a"}}
	var open []commerce.Reply
	for _, k := range keys {
		open = append(open, commerce.Reply{ReplyKey: k, Job: commerce.JobKey{Slot: 1, ID: "job"}, Body: []byte{}, CreatedOn: 7})
	}
	Change(t, e, commerce.Needs{Replies: keys}, func(*commerce.Rows, commerce.Millis) commerce.Changes { return commerce.Changes{Replies: open} })
	closed := open[0]
	closed.Status, closed.Body, closed.Job = 201, []byte("{}"), commerce.JobKey{}
	Change(t, e, commerce.Needs{OpenReplies: keys}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Replies: []commerce.Reply{closed}, Released: keys[1:2]}
	})
	ctx, r := context.Background(), e.Reader()
	if got, err := r.Reply(ctx, keys[0]); err != nil || !reflect.DeepEqual(got, closed) {
		t.Errorf("closed: %+v, %v", got, err)
	}
	if got, err := r.Reply(ctx, keys[1]); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("released: %+v, %v", got, err)
	}
	if got, err := r.Reply(ctx, keys[2]); err != nil || !got.Open() {
		t.Errorf("still open: %+v, %v", got, err)
	}
}

func deleteObjects(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	ids := []string{"sbx_1", "sbx_2"}
	Change(t, e, commerce.Needs{Sandbox: ids}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Sandbox: []commerce.SandboxObject{{ID: ids[0], Data: []byte("{}")}, {ID: ids[1], Data: []byte("{}")}}}
	})
	Change(t, e, commerce.Needs{Sandbox: ids}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{GoneSandbox: ids[:1]}
	})
	ctx, r := context.Background(), e.Reader()
	if _, err := r.SandboxObject(ctx, ids[0]); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	if _, err := r.SandboxObject(ctx, ids[1]); err != nil {
		t.Error(err)
	}
}
