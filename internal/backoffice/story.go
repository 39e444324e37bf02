package backoffice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
)

// Parts of a story, by which it can be filtered.
const (
	partOrder   = "order"
	partPayment = "payment"
	partCourier = "courier"
	partWebhook = "webhook"
	partStock   = "stock"
	partStaff   = "staff"
	partCall    = "call"
)

// entry is one line of the story of an order.
type entry struct {
	At      commerce.Millis
	Offset  time.Duration // since the order was made
	Part    string
	Title   string
	Actor   string // as Actor.Name gives it; empty: not known
	Detail  []string
	Failed  bool
	TraceID string
	Request string // the id of the request that the entry tells of; empty: of none
}

// story merges all that happened to the order into one list, oldest first: its timeline with
// the moves of stock, refunds, the calls of its partner, every webhook attempt, and the acts of
// staff that the timeline does not tell of.
func (f orderFacts) story() []entry {
	var list []entry
	add := func(e entry) {
		e.Offset = e.At.Sub(f.Order.CreatedOn)
		list = append(list, e)
	}
	traces := f.traces()
	for _, e := range f.Timeline {
		told := f.tell(e)
		told.TraceID = traces[e.CreatedOn]
		add(told)
		if moves := f.movesOf(e.Data); len(moves) > 0 {
			add(entry{At: e.CreatedOn, Part: partStock, Title: "Stock moved", Actor: e.Actor, Detail: moves})
		}
	}
	for _, r := range f.Refunds {
		if r.State == commerce.RefundDone {
			continue // the timeline has it
		}
		e := entry{At: r.UpdatedOn, Part: partPayment, TraceID: r.TraceID, Failed: r.State == commerce.RefundFailed,
			Title: fmt.Sprintf("Refund of %s %s", r.AmountCents.Dollars(), refundWord(r.State))}
		e.Detail = nonEmpty(r.Reason, r.Error)
		add(e)
	}
	for _, w := range f.Webhooks {
		for _, e := range f.attemptsOf(w) {
			add(e)
		}
	}
	for _, a := range f.Audit {
		if !f.toldBy(a) {
			add(entry{At: a.CreatedOn, Part: partStaff, Title: site.Word(a.Action), Actor: a.Actor, TraceID: a.TraceID, Detail: nonEmpty(reasonOf(a))})
		}
	}
	for _, c := range f.Calls {
		add(entry{At: c.At, Part: partCall, TraceID: c.TraceID, Failed: c.Status >= 400, Request: c.ID, Actor: "partner:" + f.Partner.ID + "/" + c.KeyID,
			Title: fmt.Sprintf("%s %s answered %d in %d ms", c.Method, c.Path, c.Status, c.Took.Milliseconds()), Detail: nonEmpty(c.Code)})
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.At, b.At) })
	return list
}

// traces has the trace ids that are known of the times of changes: one batch has one time.
func (f orderFacts) traces() map[commerce.Millis]string {
	known := map[commerce.Millis]string{}
	for _, w := range f.Webhooks {
		known[w.Timestamp] = w.TraceID
	}
	for _, a := range f.Audit {
		known[a.CreatedOn] = cmp.Or(known[a.CreatedOn], a.TraceID)
	}
	return known
}

// toldBy reports whether the timeline tells of an act: it has an event of the same actor and
// batch.
func (f orderFacts) toldBy(a commerce.AuditEntry) bool {
	return slices.ContainsFunc(f.Timeline, func(e commerce.TimelineEvent) bool { return e.CreatedOn == a.CreatedOn && e.Actor == a.Actor })
}

var titles = map[commerce.TimelineKind]string{
	commerce.TimelineCreated: "Order made", commerce.TimelinePendingPayment: "Waits for the payment", commerce.TimelinePaid: "Paid",
	commerce.TimelineProcessed: "Confirmed", commerce.TimelineFailedPayment: "Payment failed", commerce.TimelineCancelled: "Cancelled",
	commerce.TimelineRefundRequested: "Refund requested", commerce.TimelineRefunded: "Refunded", commerce.TimelineDeliveryCreated: "Courier ordered",
	commerce.TimelineCourierAssigned: "Courier found", commerce.TimelineCourierUpdate: "Courier update", commerce.TimelineStatusChanged: "Delivery moved on",
	commerce.TimelineShipped: "Courier accepted", commerce.TimelineOutForDelivery: "On the way to the customer", commerce.TimelineDelivered: "Delivered",
	commerce.TimelineDeliveryCancelled: "Courier cancelled", commerce.TimelineReadyForPickup: "Ready for pickup", commerce.TimelinePickedUp: "Picked up",
	commerce.TimelineNote: "Note",
}

// tell makes the entry of a timeline event.
func (f orderFacts) tell(e commerce.TimelineEvent) entry {
	told := entry{At: e.CreatedOn, Part: partOrder, Title: cmp.Or(titles[e.Kind], string(e.Kind)), Actor: e.Actor, Detail: nonEmpty(e.Message)}
	if e.Kind == commerce.TimelineProcessed && !f.Order.Confirmed {
		told.Title = "Reported as paid"
	}
	switch data := e.Data.(type) {
	case commerce.PaymentData:
		told.Part, told.Title = partPayment, "Paid "+data.AmountCents.Dollars()
		told.Detail = append(told.Detail, nonEmpty(data.PaymentID)...)
	case commerce.RefundData:
		told.Part, told.Title = partPayment, "Refunded "+data.AmountCents.Dollars()
		told.Detail = append(told.Detail, nonEmpty(data.Reason)...)
	case commerce.DeliveryData:
		told.Part = partCourier
		told.Detail = append(told.Detail, nonEmpty(data.Courier.Name, string(data.CourierStatus))...)
	}
	told.Failed = e.Kind == commerce.TimelineFailedPayment || e.Kind == commerce.TimelineDeliveryCancelled
	return told
}

// movesOf are the moves of stock that a timeline event tells of.
func (f orderFacts) movesOf(data commerce.TimelineData) (lines []string) {
	var moves []commerce.InventoryMove
	switch data := data.(type) {
	case commerce.StockData:
		moves = data.Moves
	case commerce.NoteData:
		moves = data.Moves
	case commerce.RefundData:
		moves = data.Moves
	}
	for _, m := range moves {
		lines = append(lines, fmt.Sprintf("%s: %+d, %d left", cmp.Or(f.Names[m.ProductID], m.ProductID), m.Delta, m.Left))
	}
	return lines
}

// attemptsOf are the entries of a webhook event: one for each attempt, or one that it waits.
func (f orderFacts) attemptsOf(w sentEvent) (list []entry) {
	for _, a := range w.Attempts {
		e := entry{At: a.At, Part: partWebhook, TraceID: w.TraceID, Failed: a.Error != "",
			Title:  fmt.Sprintf("Webhook %s answered %d in %d ms", w.Kind, a.Status, a.TookMs),
			Detail: nonEmpty(a.URL, a.Error, a.Answer)}
		if a.Status == 0 {
			e.Title = fmt.Sprintf("Webhook %s was not answered", w.Kind)
		}
		list = append(list, e)
	}
	if len(w.Attempts) == 0 {
		title := "Webhook %s was not sent yet"
		if len(f.Partner.Owners()) == 0 {
			title = "Event %s is kept; the partner has no endpoint"
		}
		list = append(list, entry{At: w.Timestamp, Part: partWebhook, Title: fmt.Sprintf(title, w.Kind), TraceID: w.TraceID})
	}
	return list
}

func refundWord(s commerce.RefundState) string {
	switch s {
	case commerce.RefundPending:
		return "asked for"
	case commerce.RefundFailed:
		return "failed"
	case commerce.RefundGivenUp:
		return "given up"
	}
	return "made"
}

func nonEmpty(texts ...string) (list []string) {
	for _, t := range texts {
		if t != "" {
			list = append(list, t)
		}
	}
	return list
}

// reasonOf is the reason that an act gives in the changed row, if there is one.
func reasonOf(a commerce.AuditEntry) string {
	var after struct {
		Attention map[string]struct{ Detail string } `json:"attention"`
	}
	if json.Unmarshal(a.After, &after) != nil {
		return "" // the act is told without it
	}
	for _, row := range after.Attention {
		return row.Detail
	}
	return ""
}
