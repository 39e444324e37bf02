package wire

import (
	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json"
)

// Answers that are decided by a job, long after the request: whoever records
// its outcome writes them (SPEC, Checkout and orders, Cancel and refund).

// The statuses of these answers.
const (
	StatusOK      = 200
	StatusCreated = 201
)

// CheckoutAnswer is what POST /v1/checkout/session answers.
type CheckoutAnswer struct {
	OK          bool   `json:"ok"`
	OrderID     string `json:"order_id"`
	SessionID   string `json:"session_id"`
	CheckoutURL string `json:"checkout_url"`
	TraceID     string `json:"trace_id"`
}

// ReportAnswer is what POST /v1/orders/report answers.
type ReportAnswer struct {
	OK              bool            `json:"ok"`
	OrderID         string          `json:"order_id"`
	ExternalOrderID string          `json:"external_order_id"`
	Status          string          `json:"status"`
	Delivery        *DeliveryAnswer `json:"delivery,omitempty"`
	TraceID         string          `json:"trace_id"`
}

// DeliveryAnswer tells whether a courier's delivery was made for an order.
type DeliveryAnswer struct {
	Created            bool   `json:"created"`
	CourierDeliveryID  string `json:"courier_delivery_id,omitempty"`
	CourierTrackingURL string `json:"courier_tracking_url,omitempty"`
}

// DeliveryOf is the delivery of an order, as answers tell of it; nil for an
// order that the customer collects.
func DeliveryOf(v commerce.Order) *DeliveryAnswer {
	if v.Fulfillment != commerce.ByDelivery {
		return nil
	}
	return &DeliveryAnswer{v.CourierDeliveryID != "", v.CourierDeliveryID, v.CourierTrackingURL}
}

// RefundAnswer is what POST /v1/orders/{order_id}/refund answers.
type RefundAnswer struct {
	OK                  bool                 `json:"ok"`
	OrderID             string               `json:"order_id"`
	PaymentsRefundID    string               `json:"payments_refund_id"`
	AmountRefundedCents commerce.Cents       `json:"amount_refunded_cents"`
	TotalRefundedCents  commerce.Cents       `json:"total_refunded_cents"`
	Status              commerce.OrderStatus `json:"status"`
}

// CancelAnswer is what POST /v1/orders/{order_id}/cancel answers.
type CancelAnswer struct {
	OK                bool                 `json:"ok"`
	OrderID           string               `json:"order_id"`
	Status            commerce.OrderStatus `json:"status"`
	DeliveryCancelled bool                 `json:"delivery_cancelled"`
	InventoryRestored bool                 `json:"inventory_restored"`
	Refund            *CancelRefund        `json:"refund,omitempty"`
}

// CancelRefund is the refund that was asked for with the call that cancels.
// While it is on its way, and when it was refused, nothing is refunded.
type CancelRefund struct {
	PaymentsRefundID    string         `json:"payments_refund_id"`
	AmountRefundedCents commerce.Cents `json:"amount_refunded_cents"`
	Error               string         `json:"error,omitempty"` // why it was refused
}

// Encode is an answer as it is sent. What is passed here always encodes.
func Encode(v any) []byte { return appendJSON(nil, v) }

// ParseReportAnswer reads what Encode wrote.
func ParseReportAnswer(body []byte) (a ReportAnswer, err error) {
	err = json.Unmarshal(body, &a)
	return a, err
}

// ParseCancelAnswer reads what Encode wrote.
func ParseCancelAnswer(body []byte) (a CancelAnswer, err error) {
	err = json.Unmarshal(body, &a)
	return a, err
}
