package commerce

// Deed is one thing that operators count: what happened, of which kind, and in which mode.
type Deed struct {
	What DeedKind
	Of   string
	Mode Mode
}

// DeedKind is what happened.
type DeedKind string

// The kinds.
const (
	DeedOrder   DeedKind = "order"   // an order was made; Of is report, checkout or merchant
	DeedPayment DeedKind = "payment" // Of is captured, failed, mismatch or late
	DeedRefund  DeedKind = "refund"  // Of is done, refused or failed_later
)

// Deeds appends what changes do. now is the stamp of the changes.
func (c *Changes) Deeds(list []Deed, now Millis) []Deed {
	mode := Live
	for i := range c.Orders {
		o := &c.Orders[i]
		mode = o.Mode
		if o.CreatedOn != now {
			continue
		}
		of := "report"
		switch {
		case o.PartnerID == "":
			of = "merchant"
		case o.Status == PendingPayment:
			of = "checkout"
		}
		list = append(list, Deed{DeedOrder, of, o.Mode})
	}
	for _, e := range c.Ledger {
		switch e.Kind {
		case EntryCapture:
			list = append(list, Deed{DeedPayment, "captured", mode})
		case EntryRefund:
			list = append(list, Deed{DeedRefund, "done", mode})
		case EntryRefundFailed:
			list = append(list, Deed{DeedRefund, "failed_later", mode})
		}
	}
	for i := range c.Refunds {
		if r := &c.Refunds[i]; r.State == RefundFailed && r.UpdatedOn == now && !c.returned(r.ID) {
			list = append(list, Deed{DeedRefund, "refused", mode})
		}
	}
	for i := range c.Attention {
		if a := &c.Attention[i]; a.Code == AttentionPaymentMismatch && a.Since == now && a.ResolvedOn == 0 {
			list = append(list, Deed{DeedPayment, "mismatch", mode})
		}
	}
	for i := range c.Timeline {
		note, _ := c.Timeline[i].Data.(NoteData)
		switch note.Code {
		case "payment_too_late":
			list = append(list, Deed{DeedPayment, "late", mode})
		case "payment_declined":
			list = append(list, Deed{DeedPayment, "failed", mode})
		}
	}
	return list
}

// returned reports whether the money of a refund came back, which is not its refusal.
func (c *Changes) returned(refundID string) bool {
	for _, e := range c.Ledger {
		if e.RefundID == refundID && e.Kind == EntryRefundFailed {
			return true
		}
	}
	return false
}
