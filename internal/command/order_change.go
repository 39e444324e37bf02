package command

import (
	"reflect"

	"purveyor/internal/commerce"
)

// orderChange collects the changes that one command makes to one order and to the rows
// that go with it. Events are appended in the order in which the partner reads them.
type orderChange struct {
	rows  *commerce.Rows // as they were when the command began
	now   commerce.Millis
	by    commerce.Actor
	actor string // the name of by
	push  bool   // the partner has a callback URL

	order    commerce.Order
	payment  *commerce.Payment  // nil: the command does not use it, and so below
	delivery *commerce.Delivery // nil also for a pickup order
	refund   *commerce.Refund   // the one that the command is about
	// stored are the rows as they were loaded; nil for a row that the command makes.
	stored struct {
		order    *commerce.Order
		payment  *commerce.Payment
		delivery *commerce.Delivery
		refund   *commerce.Refund
	}
	changes commerce.Changes // but for the rows above, which finish adds
}

// begin starts the change of an order that is stored.
func begin(o commerce.Order, rows *commerce.Rows, now commerce.Millis, by commerce.Actor) *orderChange {
	oc := create(o, rows, now, by)
	stored := oc.order
	oc.stored.order = &stored
	return oc
}

// create starts the change that makes an order. The order has no status until its first
// transition.
func create(o commerce.Order, rows *commerce.Rows, now commerce.Millis, by commerce.Actor) *orderChange {
	oc := &orderChange{order: o, rows: rows, now: now, by: by, actor: by.Name()}
	oc.order.UpdatedOn = now // events show the order with it; it alone is no reason to save the row
	if o.PartnerID != "" {
		p, ok := rows.Partners.Get(o.PartnerID)
		oc.push = ok && p.CallbackURL != ""
	}
	return oc
}

// usePayment lets the command change the order's payment.
func (oc *orderChange) usePayment(p commerce.Payment) {
	stored := p
	oc.payment, oc.stored.payment = &p, &stored
}

// useDelivery lets the command change the order's delivery.
func (oc *orderChange) useDelivery(d commerce.Delivery) {
	stored := d
	oc.delivery, oc.stored.delivery = &d, &stored
}

// useRefund lets the command change a refund of the order.
func (oc *orderChange) useRefund(r commerce.Refund) {
	stored := r
	oc.refund, oc.stored.refund = &r, &stored
}

// saveOrder makes finish save the order even if only its UpdatedOn differs.
func (oc *orderChange) saveOrder() { oc.stored.order = nil }

// finish returns all changes. It alone decides which rows are saved: those that differ in
// any field from what was loaded.
func (oc *orderChange) finish() commerce.Changes {
	c := &oc.changes
	c.Orders = appendChanged(c.Orders, oc.stored.order, &oc.order)
	c.Payments = appendChanged(c.Payments, oc.stored.payment, oc.payment)
	c.Deliveries = appendChanged(c.Deliveries, oc.stored.delivery, oc.delivery)
	c.Refunds = appendChanged(c.Refunds, oc.stored.refund, oc.refund)
	return oc.changes
}

// appendChanged appends row to rows if the command made or changed it.
func appendChanged[V any](rows []V, stored, row *V) []V {
	if row == nil || stored != nil && reflect.DeepEqual(stored, row) {
		return rows
	}
	return append(rows, *row)
}

// addTimeline appends an event to the order's timeline.
func (oc *orderChange) addTimeline(kind commerce.TimelineKind, message string, data commerce.TimelineData) {
	oc.order.Events++
	oc.changes.Timeline = append(oc.changes.Timeline, commerce.TimelineEvent{
		StoreID: oc.order.StoreID, OrderID: oc.order.ID, Seq: oc.order.Events,
		Kind: kind, Status: oc.order.Status, Message: message, Data: data, CreatedOn: oc.now, Actor: oc.actor,
	})
}

// addDeliveryTimeline appends a timeline event that shows the delivery.
func (oc *orderChange) addDeliveryTimeline(kind commerce.TimelineKind, message string) {
	oc.addTimeline(kind, message, commerce.DeliveryDataOf(oc.order, *oc.delivery))
	oc.changes.Timeline[len(oc.changes.Timeline)-1].CourierStatus = oc.delivery.Status
}

// addNote appends a timeline event with a message for people and a code for programs.
func (oc *orderChange) addNote(code, message string) {
	oc.addTimeline(commerce.TimelineNote, message, commerce.NoteData{Code: code})
}

// addWebhook stores a webhook event for the order's partner. An order that the merchant
// made has no partner, and so no webhook events.
func (oc *orderChange) addWebhook(kind commerce.WebhookKind, data commerce.EventData) {
	if oc.order.PartnerID == "" {
		return
	}
	oc.order.NotifiedOn = max(oc.now, oc.order.NotifiedOn+1)
	oc.changes.Webhooks = append(oc.changes.Webhooks, commerce.WebhookEvent{
		PartnerID: oc.order.PartnerID, Kind: kind, Mode: oc.order.Mode, StoreID: oc.order.StoreID, OrderID: oc.order.ID,
		TraceID: oc.by.TraceID, About: &data, Timestamp: oc.order.NotifiedOn, Deliver: oc.push,
	})
}

// addDeliveryWebhook stores a webhook event that shows the delivery.
func (oc *orderChange) addDeliveryWebhook(kind commerce.WebhookKind) {
	oc.addWebhook(kind, commerce.EventData{Order: oc.order, Delivery: *oc.delivery})
}

// enqueue adds a job about the order that is due now. The command's caller waits for a
// job that is awaited.
func (oc *orderChange) enqueue(kind commerce.JobKind, subject string, awaited bool) {
	oc.changes.NewJobs = append(oc.changes.NewJobs, commerce.Job{
		Kind: kind, Mode: oc.order.Mode, Owner: oc.order.StoreID, Subject: subject, PartnerID: oc.order.PartnerID, RunAt: oc.now, Awaited: awaited,
	})
}

// enqueueAt adds a job about the order that is due at a later time (Unix ms).
func (oc *orderChange) enqueueAt(kind commerce.JobKind, subject string, at commerce.Millis) {
	oc.enqueue(kind, subject, false)
	oc.changes.NewJobs[len(oc.changes.NewJobs)-1].RunAt = at
}
