package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// raisedOn are rows of reasons that are open for the order.
func raisedOn(o commerce.Order, codes ...string) (rows []commerce.Attention) {
	for _, c := range codes {
		if c != "" {
			rows = append(rows, commerce.Attention{StoreID: o.StoreID, OrderID: o.ID, Code: commerce.AttentionCode(c), Since: 1, Detail: "as before"})
		}
	}
	return rows
}

// openCodes are the codes of the open rows, the most urgent first.
func openCodes(rows []commerce.Attention) string {
	var open []commerce.AttentionCode
	for _, a := range rows {
		if a.Open() {
			open = append(open, a.Code)
		}
	}
	slices.SortFunc(open, func(a, b commerce.AttentionCode) int { return a.Rank() - b.Rank() })
	names := make([]string, len(open))
	for i, c := range open {
		names[i] = string(c)
	}
	return strings.Join(names, " ")
}

// mergeAttention is what is stored after changes.
func mergeAttention(before, changes []commerce.Attention) []commerce.Attention {
	after := slices.Clone(before)
	for _, a := range changes {
		after = slices.DeleteFunc(after, func(b commerce.Attention) bool { return b.Key() == a.Key() })
		after = append(after, a)
	}
	return after
}

// TestDisputeSurvivesTheCourier: the search for a courier fails and later succeeds. It
// raises and resolves a reason of its own. The bank's dispute stays open all the while.
func TestDisputeSurvivesTheCourier(t *testing.T) {
	o := deliveryOrder(commerce.Processed)
	job := leased(commerce.JobDispatch, commerce.DeliveryRef(o.ID, 1))
	failed := RecordDelivery{RecordJob: RecordJob{Job: job, Delays: commerce.DispatchDelays, Failed: errors.New("timeout")}, Facts: FactsOf(o), Attempt: 1, Provider: "u"}
	before := withDelivery(o, in("", dispatching)(o), job)
	before.Attention = raisedOn(o, "payment_disputed")
	_, changes, err := decided(failed, before, now)
	after := merge(before, changes)
	if got := openCodes(after.Attention); err != nil || got != "payment_disputed not_dispatched" {
		t.Fatalf("without a courier: %q, %v", got, err)
	}
	made := RecordDelivery{RecordJob: RecordJob{Job: job}, Facts: FactsOf(o), Attempt: 1, Provider: "u", Made: madeByU}
	_, changes, err = decided(made, after, now+1)
	after = merge(after, changes)
	if got := openCodes(after.Attention); err != nil || got != "payment_disputed" {
		t.Errorf("with a courier: %q, %v", got, err)
	}
	if a := changes.Attention[0]; a.ResolvedOn != now+1 || a.ResolvedBy != "order:courier_created" || a.Since != now {
		t.Errorf("resolved as %+v", a)
	}
	if dispute := after.Attention[0]; dispute != before.Attention[0] {
		t.Errorf("the dispute is now %+v", dispute)
	}
}

// TestCancelResolvesItsReasons holds each code against the cancelling of an
// order: it is resolved exactly when the table says so.
func TestCancelResolvesItsReasons(t *testing.T) {
	for _, r := range commerce.Reasons {
		o := orderIn(commerce.Paid, commerce.ByPickup, false)
		before := stored(o, 5)
		before.Attention = raisedOn(o, string(r.Code))
		cmd := CancelOrder{Facts: FactsOf(o), Actor: byPartner}
		_, changes, err := decided(cmd, before, now)
		open := openCodes(merge(before, changes).Attention) != ""
		if err != nil || open == slices.Contains(r.By, commerce.Cancel) {
			t.Errorf("%s: open %v, %v", r.Code, open, err)
		}
	}
}

// TestProviderRefusesUs: a job whose provider refuses our credentials asks the merchant to look, once,
// and no longer once the provider answers.
func TestProviderRefusesUs(t *testing.T) {
	delivered, cancelled, paid := deliveryOrder(commerce.Processed), deliveryOrder(commerce.Cancelled), orderIn(commerce.Paid, commerce.ByPickup, false)
	refund := pendingRefund(commerce.RefundAsked, 100)
	run := leased(commerce.JobRefund, "job")
	withRefund := refunding(paid, refund, run)
	withRefund.Attention = nil
	recordJob := func(failed error) RecordJob {
		return RecordJob{Job: run, Failed: failed, Delays: commerce.RetryDelays}
	}
	for name, c := range map[string]struct {
		stored commerce.Changes
		try    func(failed error) jobRecord
		also   string // what a failure raises beside it
	}{
		"dispatch": {withDelivery(delivered, in("", dispatching)(delivered), run), func(failed error) jobRecord {
			cmd := RecordDelivery{RecordJob: recordJob(failed), Facts: FactsOf(delivered), Attempt: 1}
			if failed == nil {
				cmd.Refused = "no courier is free"
			}
			return cmd
		}, "not_dispatched "},
		"cancel": {withDelivery(cancelled, in(commerce.CourierAssigned)(cancelled), run), func(failed error) jobRecord {
			return RecordDeliveryCancelled{RecordJob: recordJob(failed), Facts: FactsOf(cancelled), Cancelled: failed == nil}
		}, ""},
		"refund": {withRefund, func(failed error) jobRecord {
			cmd := recordRefund(paid, refund, run)
			cmd.RecordJob = recordJob(failed)
			return cmd
		}, ""},
	} {
		rows, notes := c.stored.Attention, 0
		after := func(failed error) string {
			t.Helper()
			cmd, before := c.try(failed), c.stored
			before.Attention = rows
			_, changes, err := decided(cmd, before, now)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, e := range changes.Timeline {
				if note, ok := e.Data.(commerce.NoteData); ok && note.Code == "provider_refuses_us" {
					notes++
				}
			}
			rows = mergeAttention(rows, changes.Attention)
			return openCodes(rows)
		}
		denied := fmt.Errorf("uber: %w", &commerce.CredentialsError{Message: "the key is revoked"})
		if got := after(denied); got != c.also+"provider_refuses_us" || rows[len(rows)-1].Detail != "the key is revoked" {
			t.Errorf("%s, refused: %q, %+v", name, got, rows)
		}
		if got := after(denied); got != c.also+"provider_refuses_us" || notes != 1 {
			t.Errorf("%s, refused again: %q, %d notes", name, got, notes)
		}
		if got := after(errors.New("down")); got != c.also+"provider_refuses_us" {
			t.Errorf("%s, then down: %q", name, got)
		}
		if got := after(nil); got != strings.TrimSpace(c.also) {
			t.Errorf("%s, then answered: %q", name, got)
		}
	}
}

// jobRecord is a command that ends a try of a job.
type jobRecord interface {
	Needs() commerce.Needs
	Decide(*commerce.Rows, commerce.Millis) (Recorded, commerce.Changes, error)
}
