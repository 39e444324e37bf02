package backoffice

import (
	"slices"

	"purveyor/internal/commerce"
)

// action is something that staff can do with an order. Refused is the reason why it is not
// possible now; empty: it is possible.
type action struct {
	Name    string // the last part of its path
	Word    string // on its button
	May     commerce.Permission
	Danger  bool // it takes something away, so it is asked for first
	Asks    bool // it has a page with a form; else it is done at once
	Refused string
}

// The actions by their names.
const (
	doConfirm  = "confirm"
	doReady    = "ready"
	doPickedUp = "picked-up"
	doRefund   = "refund"
	doRequest  = "request-refund"
	doDecline  = "decline-refund"
	doDispatch = "dispatch"
	doCancel   = "cancel"
	doNote     = "note"
)

// triggers are the lifecycle's rows behind actions that change the status.
var triggers = map[string]commerce.Trigger{doConfirm: commerce.Confirm, doReady: commerce.MarkReady, doPickedUp: commerce.MarkPickedUp,
	doRequest: commerce.RequestRefund, doDecline: commerce.DeclineRefund, doCancel: commerce.Cancel}

// actions are all actions on the order in the order of its page, refused ones as well.
func (f orderFacts) actions() []action {
	list := []action{
		{Name: doConfirm, Word: "Confirm", May: commerce.MayAdvanceOrders, Asks: f.Order.Fulfillment == commerce.ByDelivery},
		{Name: doReady, Word: "Ready", May: commerce.MayAdvanceOrders},
		{Name: doPickedUp, Word: "Picked up", May: commerce.MayAdvanceOrders},
		{Name: doDispatch, Word: "Find another courier", May: commerce.MayAdvanceOrders, Asks: true},
		{Name: doNote, Word: "Add a note", May: commerce.MayAdvanceOrders, Asks: true},
		{Name: doRefund, Word: "Refund", May: commerce.MayWriteRefunds, Danger: true, Asks: true},
		{Name: doRequest, Word: "Request a refund", May: commerce.MayWriteOrders, Asks: true},
		{Name: doDecline, Word: "Decline the refund", May: commerce.MayWriteOrders, Asks: true},
		{Name: doCancel, Word: "Cancel the order", May: commerce.MayWriteOrders, Danger: true, Asks: true},
	}
	for i := range list {
		list[i].Refused = f.refusal(list[i].Name)
	}
	return list
}

// refusal is the reason why an action is not possible now. The use cases decide again.
func (f orderFacts) refusal(name string) string {
	if trigger, ok := triggers[name]; ok {
		if _, err := f.Order.Check(trigger); err != nil {
			return err.Error()
		}
	}
	switch name {
	case doRefund:
		switch p := f.Payment; {
		case p == nil || p.CapturedCents == 0:
			return "Nothing was paid by card here"
		case p.Left() == 0 && p.PendingCents > 0:
			return "All of the payment is on its way back"
		case p.Left() == 0:
			return "All of the payment is refunded"
		}
	case doDispatch:
		if f.Delivery == nil {
			return commerce.NoNewCourier(f.Order, commerce.Delivery{}, false)
		}
		return commerce.NoNewCourier(f.Order, *f.Delivery, true)
	}
	return ""
}

// next is the action that staff would most likely want now: the one filled button.
func (f orderFacts) next() (action, bool) {
	want := ""
	switch f.Order.Status {
	case commerce.Paid:
		want = doConfirm
	case commerce.Processed:
		want = doReady
		if f.Order.Fulfillment == commerce.ByDelivery {
			if _, gaveUp := f.raised(commerce.AttentionCourierGaveUp); !gaveUp {
				return action{}, false
			}
			want = doDispatch
		}
	case commerce.ReadyForPickup:
		want = doPickedUp
	case commerce.RefundRequested, commerce.Cancelled:
		want = doRefund
	}
	list := f.actions()
	i := slices.IndexFunc(list, func(a action) bool { return a.Name == want && a.Refused == "" })
	if i < 0 {
		return action{}, false
	}
	return list[i], true
}
