// Package command holds the verbs: one file for each change of state. A
// command names the rows it needs and is decided over them in pure Go; package
// commit loads the rows before and saves the changes after. Ids of what a
// command makes are drawn by its caller, and facts that never change (an
// order's lines, a product's store) are handed in.
package command

import (
	"errors"
	"reflect"
	"slices"

	"purveyor/internal/commerce"
)

// OrderFacts are the facts of an order that never change. The caller reads them before it
// makes the command, so that the command can name all of its needs.
type OrderFacts struct {
	Key         commerce.OrderKey
	PartnerID   string // empty: made by the merchant
	Fulfillment commerce.Fulfillment
	Lines       []commerce.OrderLine
	// Holds reports that goods may be held for the order. If none are held, none ever will
	// be.
	Holds bool
	// Seen is the UpdatedOn of the order that the actor has seen. A command that does
	// something to the order refuses if it has moved since; 0: no check.
	Seen commerce.Millis
}

// FactsOf returns the facts of an order.
func FactsOf(o commerce.Order) OrderFacts {
	return OrderFacts{Key: o.Key(), PartnerID: o.PartnerID, Fulfillment: o.Fulfillment, Lines: o.Lines, Holds: o.HeldUntil != 0}
}

// needs names the order and its partner, and the stock and attention rows that these
// transitions may change.
func (f OrderFacts) needs(triggers ...commerce.Trigger) commerce.Needs {
	n := commerce.Needs{Orders: []commerce.OrderKey{f.Key}}
	if f.PartnerID != "" {
		n.Partners = []string{f.PartnerID}
	}
	for _, t := range triggers {
		switch commerce.TransitionOf(t).Stock {
		case commerce.KeepsStock:
		case commerce.ReleasesStock:
			f.needHeld(&n)
		default:
			n.Stock = commerce.ProductKeys(f.Key.StoreID, f.Lines)
		}
		f.needAttention(&n, commerce.ResolvedBy(t)...)
	}
	return n
}

// needHeld adds to n the stock of the goods that may be held for the order.
func (f OrderFacts) needHeld(n *commerce.Needs) {
	if f.Holds {
		n.Stock = commerce.ProductKeys(f.Key.StoreID, f.Lines)
	}
}

// delivery names the order's delivery. A pickup order has none.
func (f OrderFacts) delivery() []commerce.OrderKey {
	if f.Fulfillment != commerce.ByDelivery {
		return nil
	}
	return []commerce.OrderKey{f.Key}
}

// refundKey is the key of a refund of the order.
func (f OrderFacts) refundKey(id string) commerce.RefundKey {
	return commerce.RefundKey{StoreID: f.Key.StoreID, RefundID: id}
}

// needAttention adds to n the attention rows that the command may raise or resolve.
func (f OrderFacts) needAttention(n *commerce.Needs, codes ...commerce.AttentionCode) {
	n.Attention = append(n.Attention, commerce.AttentionKeys(f.Key, codes...)...)
}

// access refuses the order's partner if it may no longer use the store.
func (f OrderFacts) access(rows *commerce.Rows, by commerce.Actor) error {
	if f.PartnerID == "" || by.Kind == commerce.ActorStaff {
		return nil
	}
	partner, _ := rows.Partners.Get(f.PartnerID)
	return partner.Under(by.Key).MayUse(f.Key.StoreID)
}

// orderChange collects the changes that one command makes to one order and to the rows
// that go with it. Events are appended in the order in which the partner reads them.
type orderChange struct {
	rows    *commerce.Rows // as they were when the command began
	now     commerce.Millis
	by      commerce.Actor
	seen    commerce.Millis  // OrderFacts.Seen
	partner commerce.Partner // that made the order; the merchant: none

	order     commerce.Order
	saveOrder bool                     // even if only its UpdatedOn differs
	payment   *commerce.Payment        // nil: the command does not use it, and so below
	delivery  *commerce.Delivery       // nil also for a pickup order
	refund    *commerce.Refund         // the one that the command is about
	givenBack []commerce.InventoryMove // what moved because of its lines
	job       commerce.Job             // of the attempt that the command records, in its next state
	changes   commerce.Changes         // but for the rows above, which finish adds
}

// begin starts the change of an order, which is stored or is made by the command. A new
// order has no status until its first transition.
func begin(o commerce.Order, rows *commerce.Rows, now commerce.Millis, by commerce.Actor) *orderChange {
	oc := &orderChange{order: o, rows: rows, now: now, by: by}
	oc.order.UpdatedOn = now // events show the order with it; it alone is no reason to save the row
	if o.PartnerID != "" {
		oc.partner, _ = rows.Partners.Get(o.PartnerID)
	}
	return oc
}

// begin starts the change of a stored order. with names the other rows that the command
// cannot do without.
func (f OrderFacts) begin(rows *commerce.Rows, now commerce.Millis, by commerce.Actor, with ...func(*orderChange) error) (*orderChange, error) {
	order, ok := rows.Orders.Get(f.Key)
	if !ok {
		return nil, commerce.NotFound("order")
	}
	oc := begin(order, rows, now, by)
	oc.seen = f.Seen
	for _, load := range with {
		if err := load(oc); err != nil {
			return nil, err
		}
	}
	return oc, nil
}

// fresh refuses an act on an order that has moved since the actor saw it.
func (oc *orderChange) fresh() error {
	if stored, _ := oc.rows.Orders.Get(oc.order.Key()); oc.seen != 0 && stored.UpdatedOn != oc.seen {
		return commerce.Conflict("changed_meanwhile", "The order has changed since you opened this page")
	}
	return nil
}

func thePayment(oc *orderChange) (err error) {
	oc.payment, err = find(&oc.rows.Payments, oc.order.Key(), "payment")
	return err
}

func theDelivery(oc *orderChange) (err error) {
	oc.delivery, err = find(&oc.rows.Deliveries, oc.order.Key(), "delivery")
	return err
}

func theRefund(id string) func(*orderChange) error {
	return func(oc *orderChange) (err error) {
		oc.refund, err = find(&oc.rows.Refunds, commerce.RefundKey{StoreID: oc.order.StoreID, RefundID: id}, "refund")
		return err
	}
}

// find returns a copy of a row, or a refusal (404) if there is none.
func find[K comparable, V any](table *commerce.Table[K, V], key K, noun string) (*V, error) {
	row, ok := table.Get(key)
	if !ok {
		return nil, commerce.NotFound(noun)
	}
	return &row, nil
}

// finish returns all changes. It alone decides which rows are saved: those that differ in
// any field from what was loaded.
func (oc *orderChange) finish() commerce.Changes {
	c := &oc.changes
	before, _ := oc.rows.Orders.Get(oc.order.Key())
	if before.UpdatedOn = oc.now; oc.saveOrder || !reflect.DeepEqual(&before, &oc.order) {
		c.Orders = append(c.Orders, oc.order)
	}
	oc.stampDelivery()
	c.Payments = appendChanged(c.Payments, &oc.rows.Payments, oc.payment)
	c.Deliveries = appendChanged(c.Deliveries, &oc.rows.Deliveries, oc.delivery)
	c.Refunds = appendChanged(c.Refunds, &oc.rows.Refunds, oc.refund)
	return oc.changes
}

// stampDelivery moves the time of a delivery that the command made or changed. Readers pair orders
// and deliveries by these times.
func (oc *orderChange) stampDelivery() {
	d := oc.delivery
	if d == nil {
		return
	}
	before, _ := oc.rows.Deliveries.Get(d.Key())
	if before.UpdatedOn = d.UpdatedOn; !reflect.DeepEqual(&before, d) {
		d.UpdatedOn = oc.now
	}
}

// appendChanged appends row to list if the command made or changed it.
func appendChanged[K comparable, V interface{ Key() K }](list []V, stored *commerce.Table[K, V], row *V) []V {
	if row == nil {
		return list
	}
	if before, _ := stored.Get((*row).Key()); reflect.DeepEqual(&before, row) {
		return list
	}
	return append(list, *row)
}

// addTimeline appends an event to the order's timeline.
func (oc *orderChange) addTimeline(kind commerce.TimelineKind, message string, data commerce.TimelineData) {
	oc.order.Events++
	oc.changes.Timeline = append(oc.changes.Timeline, commerce.TimelineEvent{
		StoreID: oc.order.StoreID, OrderID: oc.order.ID, Seq: oc.order.Events,
		Kind: kind, Status: oc.order.Status, Message: message, Data: data, CreatedOn: oc.now, Actor: oc.by.Name(),
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
		TraceID: oc.by.TraceID, About: &data, Timestamp: oc.order.NotifiedOn,
		To: oc.partner.Recipients(kind, oc.order.Mode, oc.order.StoreID),
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

// attention returns the row of a reason, with what the command has changed of it so far.
func (oc *orderChange) attention(code commerce.AttentionCode) commerce.Attention {
	key := commerce.AttentionKey{StoreID: oc.order.StoreID, OrderID: oc.order.ID, Code: code}
	for _, a := range oc.changes.Attention {
		if a.Code == code {
			return a
		}
	}
	a, _ := oc.rows.Attention.Get(key)
	a.StoreID, a.OrderID, a.Code = key.StoreID, key.OrderID, key.Code
	return a
}

func (oc *orderChange) setAttention(a commerce.Attention) {
	oc.changes.Attention = slices.DeleteFunc(oc.changes.Attention, func(b commerce.Attention) bool { return b.Code == a.Code })
	oc.changes.Attention = append(oc.changes.Attention, a)
}

// raised reports whether the merchant is asked to look at the order for this
// reason.
func (oc *orderChange) raised(code commerce.AttentionCode) bool { return oc.attention(code).Open() }

// raiseWithoutNote raises a reason for the merchant to look at the order. Other reasons
// stay as they are.
func (oc *orderChange) raiseWithoutNote(code commerce.AttentionCode, detail string) {
	oc.setAttention(oc.attention(code).Raise(detail, oc.now))
}

// raiseAttention raises a reason and adds a note about it to the timeline.
func (oc *orderChange) raiseAttention(code commerce.AttentionCode, message string) {
	message = commerce.CleanText(message, commerce.MaxNote)
	oc.raiseWithoutNote(code, message)
	oc.addNote(string(code), message)
}

// resolve closes those of the reasons that are open. what names the event of the order
// that resolved them, as a Trigger does.
func (oc *orderChange) resolve(what string, codes ...commerce.AttentionCode) {
	for _, code := range codes {
		if a := oc.attention(code); a.Open() {
			oc.setAttention(a.Resolve(commerce.OrderItself+what, oc.now))
		}
	}
}

// resolveBy closes the reasons that the trigger resolves.
func (oc *orderChange) resolveBy(t commerce.Trigger) {
	oc.resolve(string(t), commerce.ResolvedBy(t)...)
}

// recordCredentials raises a reason if a call failed because the provider refuses our
// credentials, resolves it after a call that was answered, and leaves it as it is after
// any other failure. note is the text for the timeline.
func (oc *orderChange) recordCredentials(failed error, note string) {
	const code = commerce.AttentionProviderRefusesUs
	denied, ok := errors.AsType[*commerce.CredentialsError](failed)
	switch {
	case failed == nil:
		oc.resolve("provider_answered", code)
	case ok && !oc.raised(code):
		oc.raiseWithoutNote(code, denied.Message)
		oc.addNote(string(code), note)
	}
}
