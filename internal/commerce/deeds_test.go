package commerce

import (
	"fmt"
	"testing"
)

func TestDeeds(t *testing.T) {
	const now = Millis(1000)
	order := func(status OrderStatus, partner string, made Millis) Order {
		return Order{Status: status, PartnerID: partner, Mode: Test, CreatedOn: made}
	}
	for want, c := range map[string]Changes{
		"[]":                        {Orders: []Order{order(Processed, "p", 1)}, Refunds: []Refund{{ID: "r", State: RefundFailed, UpdatedOn: 1}}},
		"[{order report test}]":     {Orders: []Order{order(Processed, "p", now)}},
		"[{order checkout test}]":   {Orders: []Order{order(PendingPayment, "p", now)}},
		"[{order merchant test}]":   {Orders: []Order{order(Processed, "", now)}},
		"[{payment captured live}]": {Ledger: []LedgerEntry{{Kind: EntryCapture}}},
		"[{payment captured test} {payment mismatch test}]": {Orders: []Order{order(PendingPayment, "p", 1)}, Ledger: []LedgerEntry{{Kind: EntryCapture}},
			Attention: []Attention{{Code: AttentionPaymentMismatch, Since: now}, {Code: AttentionDisputed, Since: now}}},
		"[{payment late live}]":        {Timeline: []TimelineEvent{{Data: NoteData{Code: "payment_too_late"}}, {Data: NoteData{Code: "other"}}, {}}},
		"[{payment failed live}]":      {Timeline: []TimelineEvent{{Data: NoteData{Code: "payment_declined"}}}},
		"[{refund done live}]":         {Ledger: []LedgerEntry{{Kind: EntryRefund, RefundID: "r"}}, Refunds: []Refund{{ID: "r", State: RefundDone}}},
		"[{refund refused live}]":      {Refunds: []Refund{{ID: "r", State: RefundFailed, UpdatedOn: now}}},
		"[{refund failed_later live}]": {Refunds: []Refund{{ID: "r", State: RefundFailed, UpdatedOn: now}}, Ledger: []LedgerEntry{{Kind: EntryRefundFailed, RefundID: "r"}}},
	} {
		if got := fmt.Sprint(c.Deeds(nil, now)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
