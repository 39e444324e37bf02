package commerce

import (
	"slices"
	"strings"
)

// AttentionCode names a reason for the merchant to look at an order.
type AttentionCode string

// The codes. Reasons ranks them and says what resolves each.
const (
	AttentionTwoCouriers       AttentionCode = "two_couriers"          // a courier that had cancelled has the goods after all
	AttentionGoodsWithCourier  AttentionCode = "goods_with_courier"    // the courier has goods that the customer will not get
	AttentionNotCancelled      AttentionCode = "courier_not_cancelled" // the courier may still come for a cancelled order
	AttentionGoodsReturning    AttentionCode = "goods_returning"       // the courier is on the way back
	AttentionDisputed          AttentionCode = "payment_disputed"      // the customer's bank disputes the payment
	AttentionSecondPayment     AttentionCode = "second_payment"        // the customer paid twice
	AttentionPaymentMismatch   AttentionCode = "payment_mismatch"      // another amount than the total was paid
	AttentionRefundAfterAll    AttentionCode = "refund_after_all"      // a refund that was given up was made
	AttentionRefundUnknown     AttentionCode = "refund_unknown"        // no try of the refund got an answer
	AttentionRefundFailed      AttentionCode = "refund_failed"         // the bank gave a refund back
	AttentionRefundDue         AttentionCode = "refund_due"            // money of an order that will not be fulfilled
	AttentionRefundRequested   AttentionCode = "refund_requested"      // staff are to refund the order or to decline
	AttentionInsufficientStock AttentionCode = "insufficient_stock"    // a paid order cannot be confirmed
	AttentionCourierGaveUp     AttentionCode = "courier_gave_up"       // the last courier that was tried does not deliver
	AttentionNotDispatched     AttentionCode = "not_dispatched"        // no courier has taken the order yet
	AttentionProviderRefusesUs AttentionCode = "provider_refuses_us"   // a provider refuses our credentials
	AttentionOutOfRadius       AttentionCode = "out_of_radius"         // the address lies beyond the store's radius
	AttentionMailNotSent       AttentionCode = "mail_not_sent"         // a mail to the customer is beyond a limit
	AttentionGoodsReturned     AttentionCode = "goods_returned"        // the courier brought the goods back
)

// Reason describes a code.
type Reason struct {
	Code AttentionCode
	// By are the triggers that resolve the reason by themselves. A reason without triggers
	// is resolved by a person, or by the command that records its outcome.
	By []Trigger
}

// Reasons are all codes, the most urgent first.
var Reasons = []Reason{
	{Code: AttentionTwoCouriers},
	{Code: AttentionGoodsWithCourier},
	{Code: AttentionNotCancelled},
	{Code: AttentionGoodsReturning},
	{Code: AttentionDisputed},
	{Code: AttentionSecondPayment},
	{AttentionPaymentMismatch, []Trigger{Cancel, RefundInFull}},
	{Code: AttentionRefundAfterAll},
	{Code: AttentionRefundUnknown},
	{AttentionRefundFailed, []Trigger{RefundInFull}},
	{AttentionRefundDue, []Trigger{RefundInFull}},
	{AttentionRefundRequested, []Trigger{DeclineRefund, Cancel, RefundInFull}},
	{AttentionInsufficientStock, []Trigger{Confirm, Cancel, RefundInFull}},
	{AttentionCourierGaveUp, []Trigger{Cancel, RefundInFull}},
	{AttentionNotDispatched, []Trigger{CourierCreated, Cancel, RefundInFull}},
	{AttentionProviderRefusesUs, []Trigger{CourierCreated, Cancel, RefundInFull}},
	{AttentionOutOfRadius, []Trigger{CourierDelivered, Cancel, RefundInFull}},
	{AttentionMailNotSent, []Trigger{MarkPickedUp, Cancel, RefundInFull}},
	{AttentionGoodsReturned, []Trigger{Cancel, RefundInFull}},
}

// Rank orders codes. A lower rank is more urgent; unknown codes come last.
func (c AttentionCode) Rank() int {
	if i := slices.IndexFunc(Reasons, func(r Reason) bool { return r.Code == c }); i >= 0 {
		return i
	}
	return len(Reasons)
}

// ResolvedBy returns the codes that a trigger resolves.
func ResolvedBy(t Trigger) (codes []AttentionCode) {
	for _, r := range Reasons {
		if slices.Contains(r.By, t) {
			codes = append(codes, r.Code)
		}
	}
	return codes
}

// AboutMoney reports whether the reason is about money, so that only staff with the right to
// refund may resolve it.
func (c AttentionCode) AboutMoney() bool {
	switch c {
	case AttentionDisputed, AttentionSecondPayment, AttentionPaymentMismatch, AttentionRefundAfterAll, AttentionRefundUnknown,
		AttentionRefundFailed, AttentionRefundDue, AttentionRefundRequested:
		return true
	}
	return false
}

// Attention is one reason for the merchant to look at an order. An order has at
// most one row for each code, and keeps it when the reason is resolved.
type Attention struct {
	StoreID, OrderID string
	Code             AttentionCode
	Since            Millis
	Detail           string // for people
	ResolvedOn       Millis // 0: open
	// ResolvedBy is the actor, or OrderItself and the trigger.
	ResolvedBy string
}

// OrderItself begins Attention.ResolvedBy if an event of the order resolved the reason and
// not a person.
const OrderItself = "order:"

// AttentionKey finds a row.
type AttentionKey struct {
	StoreID, OrderID string
	Code             AttentionCode
}

// AttentionKeys are the keys of an order's rows with these codes.
func AttentionKeys(order OrderKey, codes ...AttentionCode) []AttentionKey {
	keys := make([]AttentionKey, len(codes))
	for i, c := range codes {
		keys[i] = AttentionKey{order.StoreID, order.OrderID, c}
	}
	return keys
}

// Key of the row.
func (a Attention) Key() AttentionKey { return AttentionKey{a.StoreID, a.OrderID, a.Code} }

// Open reports whether the reason is raised and not resolved.
func (a Attention) Open() bool { return a.Since != 0 && a.ResolvedOn == 0 }

// Raise opens the reason. If it is open, Raise replaces the detail and keeps Since.
func (a Attention) Raise(detail string, now Millis) Attention {
	if !a.Open() {
		a.Since, a.ResolvedOn, a.ResolvedBy = now, 0, ""
	}
	a.Detail = CleanText(detail, MaxNote)
	return a
}

// Resolve closes the reason if it is open.
func (a Attention) Resolve(by string, now Millis) Attention {
	if a.Open() {
		a.ResolvedOn, a.ResolvedBy = now, by
	}
	return a
}

// Settled reports whether a person resolved the reason.
func (a Attention) Settled() bool {
	return a.ResolvedOn != 0 && !strings.HasPrefix(a.ResolvedBy, OrderItself)
}
