package schema

import "purveyor/internal/commerce"

// Payments has the payment of each order that is paid through us.
var Payments = Table[commerce.OrderKey, commerce.Payment]{
	Name: "payments", Key: "store_id, order_id",
	Fixed: "processor, success_url, cancel_url, store_name, titles, trace_id, created_on",
	Mutable: "state, session_id, checkout_url, payment_id, error, notice_id, captured_cents, refunded_cents, pending_cents, " +
		"came_back_cents, entries, updated_on",
	KeyOf:   func(v *commerce.Payment) commerce.OrderKey { return v.Key() },
	BindKey: func(b Binder, k commerce.OrderKey) { b.Text(k.StoreID).Text(k.OrderID) },
	BindFixed: func(b Binder, v *commerce.Payment) {
		b.Text(v.Processor).Text(v.SuccessURL).Text(v.CancelURL).Text(v.StoreName).JSON(encodeTitles(v.Titles)).
			Text(v.TraceID).Int(int64(v.CreatedOn))
	},
	BindMutable: func(b Binder, v *commerce.Payment) {
		b.Text(string(v.State)).Text(v.SessionID).Text(v.CheckoutURL).Text(v.PaymentID).Text(v.Error).Text(v.CallbackID).
			Int(int64(v.CapturedCents)).Int(int64(v.RefundedCents)).Int(int64(v.PendingCents)).Int(int64(v.CameBackCents)).Int(v.Entries).Int(int64(v.UpdatedOn))
	},
	Scan: func(s Scanner, k commerce.OrderKey) commerce.Payment {
		return commerce.Payment{StoreID: k.StoreID, OrderID: k.OrderID, Processor: s.Text(), SuccessURL: s.Text(), CancelURL: s.Text(),
			StoreName: s.Text(), Titles: decodeTitles(s), TraceID: s.Text(), CreatedOn: millis(s),
			State: commerce.PaymentState(s.Text()), SessionID: s.Text(), CheckoutURL: s.Text(), PaymentID: s.Text(), Error: s.Text(), CallbackID: s.Text(),
			CapturedCents: commerce.Cents(s.Int()), RefundedCents: commerce.Cents(s.Int()), PendingCents: commerce.Cents(s.Int()), CameBackCents: commerce.Cents(s.Int()),
			Entries: s.Int(), UpdatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.OrderKey, commerce.Payment] { return &r.Payments },
	Needs:   func(n *commerce.Needs) *[]commerce.OrderKey { return &n.Payments },
	Changes: func(c *commerce.Changes) *[]commerce.Payment { return &c.Payments },
	Created: func(n *commerce.Needs) *[]commerce.OrderKey { return &n.NewPayments },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id", Single: true},
}

// ScanPayment reads all columns of Payments.
func ScanPayment(s Scanner) commerce.Payment {
	return Payments.Scan(s, commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()})
}

// Refunds of payments.
var Refunds = Table[commerce.RefundKey, commerce.Refund]{
	Name: "refunds", Key: "store_id, id",
	Fixed:   "order_id, amount_cents, reason, origin, trace_id, created_on, lines, restock",
	Mutable: "state, total_refunded_cents, order_status, ref, error, updated_on",
	KeyOf:   func(v *commerce.Refund) commerce.RefundKey { return v.Key() },
	BindKey: func(b Binder, k commerce.RefundKey) { b.Text(k.StoreID).Text(k.RefundID) },
	BindFixed: func(b Binder, v *commerce.Refund) {
		b.Text(v.OrderID).Int(int64(v.AmountCents)).Text(v.Reason).Text(string(v.Origin)).
			Text(v.TraceID).Int(int64(v.CreatedOn)).JSON(encodeRefundLines(v.Lines)).Bool(v.Restock)
	},
	BindMutable: func(b Binder, v *commerce.Refund) {
		b.Text(string(v.State)).Int(int64(v.TotalRefundedCents)).Text(string(v.OrderStatus)).Text(v.Ref).Text(v.Error).Int(int64(v.UpdatedOn))
	},
	Scan: func(s Scanner, k commerce.RefundKey) commerce.Refund {
		return commerce.Refund{StoreID: k.StoreID, ID: k.RefundID, OrderID: s.Text(), AmountCents: commerce.Cents(s.Int()), Reason: s.Text(),
			Origin: commerce.RefundOrigin(s.Text()), TraceID: s.Text(), CreatedOn: millis(s), Lines: decodeRefundLines(s), Restock: s.Bool(),
			State: commerce.RefundState(s.Text()), TotalRefundedCents: commerce.Cents(s.Int()), OrderStatus: commerce.OrderStatus(s.Text()), Ref: s.Text(), Error: s.Text(), UpdatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.RefundKey, commerce.Refund] { return &r.Refunds },
	Needs:   func(n *commerce.Needs) *[]commerce.RefundKey { return &n.Refunds },
	Changes: func(c *commerce.Changes) *[]commerce.Refund { return &c.Refunds },
	Created: func(n *commerce.Needs) *[]commerce.RefundKey { return &n.NewRefunds },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id", Single: true, Collides: true},
}

// ScanRefund reads all columns of Refunds.
func ScanRefund(s Scanner) commerce.Refund {
	return Refunds.Scan(s, commerce.RefundKey{StoreID: s.Text(), RefundID: s.Text()})
}

// Ledger has the entries of each payment's account.
var Ledger = Log[commerce.LedgerEntry]{
	Name: "ledger", ID: "store_id, order_id, seq", Rest: "kind, amount_cents, refund_id, ref, created_on",
	Bind: func(b Binder, e *commerce.LedgerEntry) {
		b.Text(e.StoreID).Text(e.OrderID).Int(e.Seq).Text(string(e.Kind)).Int(int64(e.AmountCents)).Text(e.RefundID).Text(e.Ref).Int(int64(e.CreatedOn))
	},
	Changes: func(c *commerce.Changes) *[]commerce.LedgerEntry { return &c.Ledger },
	Traits:  Traits{Shard: "store_id"},
}

// ScanLedger reads the columns of Ledger that follow the order's key.
func ScanLedger(s Scanner, k commerce.OrderKey) commerce.LedgerEntry {
	return commerce.LedgerEntry{StoreID: k.StoreID, OrderID: k.OrderID, Seq: s.Int(), Kind: commerce.EntryKind(s.Text()),
		AmountCents: commerce.Cents(s.Int()), RefundID: s.Text(), Ref: s.Text(), CreatedOn: millis(s)}
}
