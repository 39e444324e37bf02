package commerce

import "slices"

// OrderStatus is where an order stands.
type OrderStatus string

// The statuses. Each comment names the next step.
const (
	PendingPayment  OrderStatus = "pending_payment"  // the customer pays, or never does
	Paid            OrderStatus = "paid"             // the merchant or the partner confirms
	Processed       OrderStatus = "processed"        // dispatch creates a delivery, or the merchant marks it ready
	FailedPayment   OrderStatus = "failed_payment"   // cancelling only
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

// OpenStatuses are those in which staff have work with an order, or a courier has. An index
// of each engine has the orders with them (migration 0016).
var OpenStatuses = []OrderStatus{Paid, Processed, ReadyForPickup, Shipped, OutForDelivery, RefundRequested}

// Open reports whether staff or a courier have work with the order.
func (s OrderStatus) Open() bool { return slices.Contains(OpenStatuses, s) }

// Terminal reports whether only a refund, or a refund that the bank returns, leaves the
// status.
func (s OrderStatus) Terminal() bool {
	return s == Delivered || s == PickedUp || s == Cancelled || s == Refunded
}

// Trigger names what makes an order change its status.
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

// StockEffect is what a transition does to the stock of the order's products. Checking
// and deducting refuse the transition when a product's stock is short.
type StockEffect string

// The effects.
const (
	KeepsStock StockEffect = ""
	// ChecksStock deducts nothing. A store may have it hold the goods.
	ChecksStock StockEffect = "checked or held, of active products"
	SellsStock  StockEffect = "deducted, of active products" // for a new sale
	// DeductsStock includes products that were switched off after the customer paid. It
	// does not check goods that are held.
	DeductsStock     StockEffect = "deducted"
	ReleasesStock    StockEffect = "released if held"
	RestoresStock    StockEffect = "released if held, restored if deducted"
	RestoresUnhanded StockEffect = "released if held, restored if deducted and not handed over"
)

// Condition is what must hold for a transition beside the order's status.
type Condition string

// The conditions.
const (
	NoCondition        Condition = ""
	PaidExactly        Condition = "amount equals the order's total"
	EverythingReturned Condition = "money was captured and all of it is returned"
)

// Holds reports whether the condition holds for an order and its payment, whose ledger
// has the entry that led to the transition. The payment may be nil if there is no
// condition.
func (c Condition) Holds(o Order, p *Payment) bool {
	switch c {
	case PaidExactly:
		return p.CapturedCents == o.TotalCents
	case EverythingReturned:
		return p.Returned()
	}
	return true
}

// Transition is one row of the lifecycle. Package command has one function that executes
// a row, every column of it.
type Transition struct {
	Trigger Trigger
	By      []ActorKind   // other actors are refused
	From    []OrderStatus // empty: the transition makes the order
	To      OrderStatus   // empty: the order itself says which, see After
	// Beneath: a requested refund does not stop it. It moves the status to which the order
	// goes back if the refund is declined, and the status stays refund_requested.
	Beneath bool
	Only    Fulfillment // empty: both
	If      Condition
	Stock   StockEffect
	// Timeline and Webhook are the events that record the transition; Webhook may be
	// empty.
	Timeline TimelineKind
	Webhook  WebhookKind
	Jobs     []JobKind // further jobs about the order
}

var (
	people    = []ActorKind{ActorPartner, ActorMember, ActorStaff}
	handlers  = append(people[:len(people):len(people)], ActorOperator)
	providers = []ActorKind{ActorProvider, ActorSystem} // a callback, or a job that asks the provider
)

// Lifecycle is the whole table (SPEC, States and transitions; BEHAVIOUR,
// Lifecycle). docs/lifecycle.md is generated from it.
var Lifecycle = []Transition{
	{Trigger: StartCheckout, By: people, To: PendingPayment, Stock: ChecksStock,
		Timeline: TimelinePendingPayment},
	{Trigger: Report, By: people, To: Processed, Stock: SellsStock,
		Timeline: TimelineProcessed, Webhook: WebhookAccepted},
	{Trigger: PaymentSucceeded, By: providers, From: []OrderStatus{PendingPayment}, To: Paid,
		If: PaidExactly, Timeline: TimelinePaid, Webhook: WebhookPaid,
		Jobs: []JobKind{JobMailPaid, JobTextPaid}},
	{Trigger: PaymentSessionFailed, By: []ActorKind{ActorSystem, ActorOperator}, From: []OrderStatus{PendingPayment}, To: FailedPayment,
		Stock: ReleasesStock, Timeline: TimelineFailedPayment},
	{Trigger: Confirm, By: handlers, From: []OrderStatus{Paid}, To: Processed,
		Stock: DeductsStock, Timeline: TimelineProcessed, Webhook: WebhookProcessed},
	{Trigger: CourierCreated, By: providers, From: []OrderStatus{Processed}, To: Shipped, Beneath: true, Only: ByDelivery,
		Timeline: TimelineShipped, Webhook: WebhookShipped},
	{Trigger: CourierPickedUp, By: providers, From: []OrderStatus{Shipped}, To: OutForDelivery, Beneath: true, Only: ByDelivery,
		Timeline: TimelineOutForDelivery, Webhook: WebhookOutForDelivery},
	{Trigger: CourierDelivered, By: providers, From: []OrderStatus{Shipped, OutForDelivery}, To: Delivered, Beneath: true, Only: ByDelivery,
		Timeline: TimelineDelivered, Webhook: WebhookDelivered},
	{Trigger: MarkReady, By: handlers, From: []OrderStatus{Processed}, To: ReadyForPickup, Only: ByPickup,
		Timeline: TimelineReadyForPickup, Webhook: WebhookReadyForPickup, Jobs: []JobKind{JobMailReady}},
	{Trigger: MarkPickedUp, By: handlers, From: []OrderStatus{ReadyForPickup}, To: PickedUp, Only: ByPickup,
		Timeline: TimelinePickedUp, Webhook: WebhookPickedUp},
	{Trigger: Cancel, By: handlers,
		From: []OrderStatus{PendingPayment, FailedPayment, Paid, Processed, Shipped, OutForDelivery, ReadyForPickup, RefundRequested},
		To:   Cancelled, Stock: RestoresStock, Timeline: TimelineCancelled, Webhook: WebhookCancelled},
	{Trigger: RefundInFull, By: providers,
		From: []OrderStatus{PendingPayment, FailedPayment, Paid, Processed, Shipped, OutForDelivery, Delivered, ReadyForPickup, PickedUp,
			RefundRequested, Cancelled},
		To: Refunded, If: EverythingReturned, Stock: RestoresUnhanded, Timeline: TimelineRefunded, Webhook: WebhookRefunded},
	{Trigger: RefundCameBack, By: providers, From: []OrderStatus{Refunded},
		Timeline: TimelineNote, Webhook: WebhookRefundFailed},
	{Trigger: RequestRefund, By: []ActorKind{ActorStaff},
		From: []OrderStatus{Paid, Processed, Shipped, OutForDelivery, Delivered, ReadyForPickup, PickedUp},
		To:   RefundRequested, Timeline: TimelineRefundRequested},
	{Trigger: DeclineRefund, By: []ActorKind{ActorStaff}, From: []OrderStatus{RefundRequested}, Timeline: TimelineNote},
}

var transitions = func() map[Trigger]Transition {
	m := make(map[Trigger]Transition, len(Lifecycle))
	for _, t := range Lifecycle {
		m[t.Trigger] = t
	}
	return m
}()

// TransitionOf returns the row of a trigger.
func TransitionOf(t Trigger) Transition { return transitions[t] }

// Check returns the row of the trigger if it is possible for an order of this status and
// fulfillment, and else a conflict wrong_fulfillment_type or wrong_status. An order that
// is being made has no status yet.
func (o Order) Check(trigger Trigger) (Transition, error) {
	t := transitions[trigger]
	if t.Only != "" && o.Fulfillment != t.Only {
		return t, Conflict("wrong_fulfillment_type", "Order is a %s order; this needs a %s order", o.Fulfillment, t.Only)
	}
	status := o.Status
	if t.Beneath {
		status = o.Beneath()
	}
	if makes := len(t.From) == 0; makes != (status == "") || !makes && !slices.Contains(t.From, status) {
		return t, Conflict("wrong_status", "Order status is %s; this is possible from %s only", o.Status, joined(t.From, "or"))
	}
	if trigger == Cancel && o.Beneath().Terminal() { // its goods would seem to be in the store again
		return t, Conflict("wrong_status", "The customer has the goods; refund the order or decline")
	}
	return t, nil
}

// Beneath is the status of the order without the request for a refund, if there is one.
func (o Order) Beneath() OrderStatus {
	if o.Status == RefundRequested {
		return o.RequestedFrom
	}
	return o.Status
}

// After is the order after the transition: its status, and the fields that say how it got
// there. Nothing else sets a status.
func (o Order) After(t Transition) Order {
	before := o
	if t.Beneath && o.Status == RefundRequested {
		o.RequestedFrom = t.To
		return o
	}
	o.Status = t.To
	switch t.Trigger {
	case RequestRefund:
		o.RequestedFrom = before.Status
	case DeclineRefund:
		o.Status, o.RequestedFrom = before.RequestedFrom, ""
	case Cancel:
		o.RequestedFrom = ""
	case Confirm:
		o.Confirmed = true
	case RefundInFull:
		o.RefundedFrom, o.RefundStopped = before.Status, before.StillToFulfil()
	case RefundCameBack:
		// What the refund did to couriers and stock stays, so an order that it stopped is
		// cancelled. So is one that does not know where it came from.
		o.Status = before.RefundedFrom
		if before.RefundStopped || before.RefundedFrom == "" {
			o.Status, o.RequestedFrom = Cancelled, ""
		}
		o.RefundedFrom, o.RefundStopped = "", false
	}
	return o
}

// StillToFulfil reports whether the goods are still to be handed over.
func (o Order) StillToFulfil() bool {
	at := o.Beneath()
	handedOver := at == Delivered || at == PickedUp || o.PickedUpAt != 0
	return !handedOver && !o.Stopped()
}

// Stopped reports whether the order was cancelled or refunded, so that nothing is
// delivered any more.
func (o Order) Stopped() bool { return o.Status == Cancelled || o.Status == Refunded }

// joined lists values in words: "a, b or c".
func joined[T ~string](list []T, last string) string {
	var b []byte
	for i, s := range list {
		switch {
		case i > 0 && i == len(list)-1:
			b = append(b, " "+last+" "...)
		case i > 0:
			b = append(b, ", "...)
		}
		b = append(b, s...)
	}
	return string(b)
}
