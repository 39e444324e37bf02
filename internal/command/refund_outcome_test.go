package command

import (
	"reflect"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// TestRefundOutcomeKnown: the merchant is asked to look at a refund without an
// answer until its outcome is known, however it becomes known, and for as long as
// another refund of the order has none.
func TestRefundOutcomeKnown(t *testing.T) {
	dead := deadJob(commerce.JobRefund, "rfd")
	o, r := orderIn(commerce.Paid, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 200)
	record := func(with func(*RecordRefund)) jobCommand {
		cmd := recordRefund(o, r, dead)
		with(&cmd)
		return cmd
	}
	callback := func(failed bool) RecordRefundCallback {
		return RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "rfd", Ref: "re", AmountCents: 200, Failed: failed, Message: "closed account"}
	}
	decide := func(cmd jobCommand, before commerce.Changes) (commerce.Changes, error) {
		_, changes, err := decided(cmd, before, now)
		return changes, err
	}
	post := func(cmd RecordRefundCallback, before commerce.Changes) (commerce.Changes, error) {
		_, changes, err := decided(cmd, before, now)
		return changes, err
	}
	for name, end := range map[string]func(commerce.Changes) (commerce.Changes, error){
		"made": func(b commerce.Changes) (commerce.Changes, error) { return decide(record(func(*RecordRefund) {}), b) },
		"refused": func(b commerce.Changes) (commerce.Changes, error) {
			return decide(record(func(c *RecordRefund) { c.Ref, c.Refused = "", "no" }), b)
		},
		"given up": func(b commerce.Changes) (commerce.Changes, error) {
			return decide(record(func(c *RecordRefund) {
				c.RecordJob = byAnn(dead)
			}), b)
		},
		"reported as made":   func(b commerce.Changes) (commerce.Changes, error) { return post(callback(false), b) },
		"reported as failed": func(b commerce.Changes) (commerce.Changes, error) { return post(callback(true), b) },
	} {
		for _, others := range []commerce.Cents{0, 100} {
			before := refunding(o, r, dead)
			before.Payments[0].PendingCents += others
			before.Attention = raisedOn(o, string(commerce.AttentionRefundUnknown))
			changes, err := end(before)
			known := commerce.Attention{}
			for _, a := range mergeAttention(before.Attention, changes.Attention) {
				if a.Code == commerce.AttentionRefundUnknown {
					known = a
				}
			}
			by := "order:refund_known"
			if name == "given up" {
				by = "operator:ann"
			}
			if err != nil || known.Open() != (others > 0) || others == 0 && (known.ResolvedBy != by || known.ResolvedOn != now) {
				t.Errorf("%s, %d cents of other refunds under way: %+v, %v", name, others, known, err)
			}
			before.Attention = nil
			if changes, err = end(before); err != nil || len(changes.Orders) != 1 {
				t.Errorf("%s: %+v, %v", name, changes, err)
			}
			for _, a := range changes.Attention {
				if a.Code == commerce.AttentionRefundUnknown {
					t.Errorf("%s: a reason that was never raised is saved: %+v", name, a)
				}
			}
		}
	}
}

// TestRefundMadeAfterItWasGivenUp: the processor has the last word on a refund
// that an operator gave up, and the merchant is asked to look: the operator may
// have given the money back by hand. What tells that it was made is late if the
// processor has reported its failure.
func TestRefundMadeAfterItWasGivenUp(t *testing.T) {
	o, r, j := orderIn(commerce.Paid, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 200), deadJob(commerce.JobRefund, "rfd")
	giveUp := recordRefund(o, r, j)
	giveUp.RecordJob = byAnn(j)
	before := refunding(o, r, j)
	_, changes, err := decided(giveUp, before, now)
	if err != nil {
		t.Fatal(err)
	}
	after := merge(before, changes)
	callback := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "rfd", Ref: "re", AmountCents: 200, Failed: true, Message: "closed account"}
	refund, changes, err := decided(callback, after, now+1)
	if err != nil || refund.State != commerce.RefundFailed || !reflect.DeepEqual(changes, commerce.Changes{Refunds: []commerce.Refund{refund}}) {
		t.Errorf("reported as failed: %+v, %v", changes, err)
	}
	failed := merge(after, changes)
	callback.Failed = false
	if _, changes, err := decided(callback, failed, now+1); err != nil || !reflect.DeepEqual(changes, commerce.Changes{}) {
		t.Errorf("reported as failed, then as made: %+v, %v", changes, err)
	}
	refund, changes, err = decided(callback, after, now+1)
	paid := merge(after, changes).Payments[0]
	if err != nil || refund.State != commerce.RefundDone || refund.Error != "" || paid.RefundedCents != 200 || paid.PendingCents != 0 ||
		len(changes.Ledger) != 1 || !reflect.DeepEqual(webhookKinds(changes), []commerce.WebhookKind{commerce.WebhookRefunded}) {
		t.Errorf("reported as made: %+v, %v", changes, err)
	}
	if codes := openCodes(merge(after, changes).Attention); !strings.Contains(codes, "refund_after_all") {
		t.Errorf("raised are %s", codes)
	}
	account := commerce.Account{Order: changes.Orders[0], Payment: paid, Refunds: changes.Refunds, Attention: merge(after, changes).Attention,
		Entries: append([]commerce.LedgerEntry{{Seq: 1, Kind: commerce.EntryCapture, AmountCents: 300}}, changes.Ledger...)}
	account.Order.TotalCents = 300
	if faults := account.Faults(); len(faults) != 0 {
		t.Errorf("the books do not add up: %q", faults)
	}
}
