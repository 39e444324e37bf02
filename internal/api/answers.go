package api

import (
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
)

// Answers encodes the answers that a job may decide long after the request (SPEC, Checkout
// and orders, Cancel and refund). Each is made from stored rows, so that it can be made
// again from newer ones.
type Answers struct{}

// CheckedOut answers POST /v1/checkout/session with the open session.
func (Answers) CheckedOut(o commerce.Order, p commerce.Payment) (status int, body []byte) {
	return http.StatusCreated, wire.Encode(struct {
		OK          bool   `json:"ok"`
		OrderID     string `json:"order_id"`
		SessionID   string `json:"session_id"`
		CheckoutURL string `json:"checkout_url"`
		TraceID     string `json:"trace_id"`
	}{true, o.ID, p.SessionID, p.CheckoutURL, p.TraceID})
}

// Reported answers POST /v1/orders/report. traceID is the trace id of the report.
func (Answers) Reported(o commerce.Order, traceID string) (status int, body []byte) {
	return http.StatusCreated, wire.Encode(struct {
		OK              bool            `json:"ok"`
		OrderID         string          `json:"order_id"`
		ExternalOrderID string          `json:"external_order_id"`
		Status          string          `json:"status"`
		Delivery        *deliveryAnswer `json:"delivery,omitempty"`
		TraceID         string          `json:"trace_id"`
	}{true, o.ID, o.ExternalID, string(commerce.Processed), deliveryOf(o), traceID})
}

// deliveryAnswer shows whether a provider has created the delivery of an order.
type deliveryAnswer struct {
	Created            bool   `json:"created"`
	CourierDeliveryID  string `json:"courier_delivery_id,omitempty"`
	CourierTrackingURL string `json:"courier_tracking_url,omitempty"`
}

// deliveryOf returns the delivery as answers show it, or nil for a pickup order.
func deliveryOf(o commerce.Order) *deliveryAnswer {
	if o.Fulfillment != commerce.ByDelivery {
		return nil
	}
	return &deliveryAnswer{o.CourierDeliveryID != "", o.CourierDeliveryID, o.CourierTrackingURL}
}

// Refunded answers POST /v1/orders/{order_id}/refund with a refund that was made.
func (Answers) Refunded(r commerce.Refund) (status int, body []byte) {
	return http.StatusOK, wire.Encode(struct {
		OK                  bool                 `json:"ok"`
		OrderID             string               `json:"order_id"`
		PaymentsRefundID    string               `json:"payments_refund_id"`
		AmountRefundedCents commerce.Cents       `json:"amount_refunded_cents"`
		TotalRefundedCents  commerce.Cents       `json:"total_refunded_cents"`
		Status              commerce.OrderStatus `json:"status"`
	}{true, r.OrderID, r.ID, r.AmountCents, r.TotalRefundedCents, r.OrderStatus})
}

// Cancelled answers POST /v1/orders/{order_id}/cancel, also while the outcome of the
// courier's cancellation or of the refund is unknown. refund is the refund that the call
// asked for, or nil.
func (Answers) Cancelled(o commerce.Order, d commerce.Delivery, refund *commerce.Refund) (status int, body []byte) {
	return http.StatusOK, wire.Encode(struct {
		OK                bool                 `json:"ok"`
		OrderID           string               `json:"order_id"`
		Status            commerce.OrderStatus `json:"status"`
		DeliveryCancelled bool                 `json:"delivery_cancelled"`
		InventoryRestored bool                 `json:"inventory_restored"`
		Refund            *cancelRefund        `json:"refund,omitempty"`
	}{true, o.ID, commerce.Cancelled, d.CalledOff, o.Restocked, cancelRefundOf(refund)})
}

// cancelRefund is the refund in the answer to a cancellation. While its outcome is
// unknown, and after a refusal, the refunded amount is 0.
type cancelRefund struct {
	PaymentsRefundID    string         `json:"payments_refund_id"`
	AmountRefundedCents commerce.Cents `json:"amount_refunded_cents"`
	Error               string         `json:"error,omitempty"` // why it was refused
}

func cancelRefundOf(r *commerce.Refund) *cancelRefund {
	if r == nil {
		return nil
	}
	answer := &cancelRefund{PaymentsRefundID: r.ID, Error: r.Error}
	if r.State == commerce.RefundDone {
		answer.AmountRefundedCents = r.AmountCents
	}
	return answer
}
