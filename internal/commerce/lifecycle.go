package commerce

import "slices"

// OrderStatus is where an order stands.
type OrderStatus string

// The statuses, each with who moves the order on from there.
const (
	PendingPayment  OrderStatus = "pending_payment"  // the customer pays, or never does
	Paid            OrderStatus = "paid"             // the merchant or the partner confirms
	Processed       OrderStatus = "processed"        // dispatch creates a delivery, or the merchant marks it ready
	FailedPayment   OrderStatus = "failed_payment"   // nobody; only cancelling is left
	Shipped         OrderStatus = "shipped"          // the courier picks it up
	OutForDelivery  OrderStatus = "out_for_delivery" // the courier drops it off
	Delivered       OrderStatus = "delivered"        // terminal
	ReadyForPickup  OrderStatus = "ready_for_pickup" // the customer collects it
	PickedUp        OrderStatus = "picked_up"        // terminal
	Cancelled       OrderStatus = "cancelled"        // terminal
	Refunded        OrderStatus = "refunded"         // terminal
	RefundRequested OrderStatus = "refund_requested" // the merchant refunds or declines
)

// Statuses lists every status, in the order in which an order may meet them.
var Statuses = []OrderStatus{PendingPayment, FailedPayment, Paid, Processed, Shipped, OutForDelivery, Delivered,
	ReadyForPickup, PickedUp, RefundRequested, Cancelled, Refunded}

// Terminal statuses are left by a refund only, or by one that comes back.
func (s OrderStatus) Terminal() bool {
	return s == Delivered || s == PickedUp || s == Cancelled || s == Refunded
}

// Trigger is what makes an order change its status.
type Trigger string

// The triggers.
const (
	StartCheckout        Trigger = "start_checkout"
	Report               Trigger = "report"
	PaymentSucceeded     Trigger = "payment_succeeded"
	PaymentSessionFailed Trigger = "payment_session_failed"
	Confirm              Trigger = "confirm"
	CourierCreated       Trigger = "courier_created"
	CourierPickedUp      Trigger = "courier_picked_up"
	CourierDelivered     Trigger = "courier_delivered"
	MarkReady            Trigger = "mark_ready"
	MarkPickedUp         Trigger = "mark_picked_up"
	Cancel               Trigger = "cancel"
	RefundInFull         Trigger = "refund_in_full"
	RefundCameBack       Trigger = "refund_came_back"
	RequestRefund        Trigger = "request_refund"
	DeclineRefund        Trigger = "decline_refund"
)

// StockEffect is what a transition does to the stock of the order's products.
type StockEffect string

// The effects.
const (
	KeepsStock    StockEffect = ""
	DeductsStock  StockEffect = "deducted"
	RestoresStock StockEffect = "restored if deducted"
)

// Transition is one row of the lifecycle.
type Transition struct {
	Trigger Trigger
	By      string        // who pulls it
	From    []OrderStatus // empty: the order is made
	To      OrderStatus   // empty: back to the status it came from
	Only    Fulfillment   // empty: both
	If      string        // a further condition, in words
	Stock   StockEffect
	// Timeline and Webhook are the events that tell of it; empty: none.
	Timeline TimelineKind
	Webhook  WebhookKind
	Jobs     []JobKind // what else is done outside the process
}

// Lifecycle is the whole table (SPEC, States and transitions; BEHAVIOUR,
// Lifecycle). docs/lifecycle.md is generated from it.
var Lifecycle = []Transition{
	{Trigger: StartCheckout, By: "partner", To: PendingPayment, If: "availability sufficient",
		Timeline: TimelinePendingPayment},
	{Trigger: Report, By: "partner", To: Processed, If: "stock sufficient", Stock: DeductsStock,
		Timeline: TimelineProcessed, Webhook: WebhookAccepted},
	{Trigger: PaymentSucceeded, By: "payment processor", From: []OrderStatus{PendingPayment}, To: Paid,
		If: "amount equals the order's total", Timeline: TimelinePaid, Webhook: WebhookPaid,
		Jobs: []JobKind{JobMailPaid, JobTextPaid}},
	{Trigger: PaymentSessionFailed, By: "payment processor", From: []OrderStatus{PendingPayment}, To: FailedPayment,
		Timeline: TimelineFailedPayment},
	{Trigger: Confirm, By: "merchant or partner", From: []OrderStatus{Paid}, To: Processed, If: "stock sufficient",
		Stock: DeductsStock, Timeline: TimelineProcessed, Webhook: WebhookProcessed},
	{Trigger: CourierCreated, By: "dispatch", From: []OrderStatus{Processed}, To: Shipped, Only: ByDelivery,
		Timeline: TimelineShipped, Webhook: WebhookShipped},
	{Trigger: CourierPickedUp, By: "courier", From: []OrderStatus{Shipped}, To: OutForDelivery, Only: ByDelivery,
		Timeline: TimelineOutForDelivery, Webhook: WebhookOutForDelivery},
	{Trigger: CourierDelivered, By: "courier", From: []OrderStatus{Shipped, OutForDelivery}, To: Delivered, Only: ByDelivery,
		Timeline: TimelineDelivered, Webhook: WebhookDelivered},
	{Trigger: MarkReady, By: "merchant or partner", From: []OrderStatus{Processed}, To: ReadyForPickup, Only: ByPickup,
		Timeline: TimelineReadyForPickup, Webhook: WebhookReadyForPickup, Jobs: []JobKind{JobMailReady}},
	{Trigger: MarkPickedUp, By: "merchant or partner", From: []OrderStatus{ReadyForPickup}, To: PickedUp, Only: ByPickup,
		Timeline: TimelinePickedUp, Webhook: WebhookPickedUp},
	{Trigger: Cancel, By: "merchant or partner",
		From: []OrderStatus{PendingPayment, FailedPayment, Paid, Processed, Shipped, OutForDelivery, ReadyForPickup, RefundRequested},
		To:   Cancelled, Stock: RestoresStock, Timeline: TimelineCancelled, Webhook: WebhookCancelled},
	{Trigger: RefundInFull, By: "merchant or partner",
		From: []OrderStatus{PendingPayment, FailedPayment, Paid, Processed, Shipped, OutForDelivery, Delivered, ReadyForPickup, PickedUp,
			RefundRequested, Cancelled},
		To: Refunded, If: "money was captured and all of it is returned",
		Stock: RestoresStock, Timeline: TimelineRefunded, Webhook: WebhookRefunded},
	{Trigger: RefundCameBack, By: "customer's bank", From: []OrderStatus{Refunded},
		If: "cancelled where that refund had stopped the fulfilment", Timeline: TimelineNote, Webhook: WebhookRefundFailed},
	{Trigger: RequestRefund, By: "merchant",
		From: []OrderStatus{Paid, Processed, Shipped, OutForDelivery, Delivered, ReadyForPickup, PickedUp},
		To:   RefundRequested, Timeline: TimelineRefundRequested},
	{Trigger: DeclineRefund, By: "merchant", From: []OrderStatus{RefundRequested}, Timeline: TimelineNote},
}

var transitions = func() map[Trigger]Transition {
	m := make(map[Trigger]Transition, len(Lifecycle))
	for _, t := range Lifecycle {
		m[t.Trigger] = t
	}
	return m
}()

// TransitionOf is the row of a trigger.
func TransitionOf(t Trigger) Transition { return transitions[t] }

// Check tells whether the trigger may move this order: a conflict
// wrong_fulfillment_type or wrong_status if not.
func (o Order) Check(trigger Trigger) (Transition, error) {
	t := transitions[trigger]
	if t.Only != "" && o.Fulfillment != t.Only {
		return t, Conflict("wrong_fulfillment_type", "Order is a %s order; this needs a %s order", o.Fulfillment, t.Only)
	}
	if !slices.Contains(t.From, o.Status) {
		return t, Conflict("wrong_status", "Order status is %s; this is possible from %s only", o.Status, joinStatuses(t.From))
	}
	return t, nil
}

// StillToFulfil reports whether the goods have not been handed over and nothing
// has stopped that.
func (o Order) StillToFulfil() bool {
	handedOver := o.Status == Delivered || o.Status == PickedUp || o.PickedUpAt != 0
	return !handedOver && o.Status != Cancelled && o.Status != Refunded
}

// RefundInFull takes the order to refunded. It keeps what Unrefund goes back to.
func (o Order) RefundInFull() Order {
	o.RefundedFrom, o.RefundStopped = o.Status, o.StillToFulfil()
	o.Status = TransitionOf(RefundInFull).To
	return o
}

// Unrefund takes a refunded order, of which money came back, to the status that
// it had before the refund, or to cancelled if that refund had stopped the
// fulfilment.
func (o Order) Unrefund() Order {
	o.Status = o.RefundedFrom
	if o.RefundStopped || o.RefundedFrom == "" {
		o.Status = Cancelled
	}
	o.RefundedFrom, o.RefundStopped = "", false
	return o
}

func joinStatuses(list []OrderStatus) string {
	var b []byte
	for i, s := range list {
		switch {
		case i > 0 && i == len(list)-1:
			b = append(b, " or "...)
		case i > 0:
			b = append(b, ", "...)
		}
		b = append(b, s...)
	}
	return string(b)
}
