package api

import (
	"testing"

	"purveyor/internal/commerce"
)

// TestAnswers: the bytes of each answer that a job may decide.
func TestAnswers(t *testing.T) {
	delivered := commerce.Order{ID: "ord_1", ExternalID: "A \"1\"", Fulfillment: commerce.ByDelivery, Status: commerce.Shipped, CourierDeliveryID: "d1", CourierTrackingURL: "https://c.example"}
	waiting := commerce.Order{ID: "ord_1", ExternalID: "A-1", Fulfillment: commerce.ByDelivery, Status: commerce.Processed}
	collected := commerce.Order{ID: "ord_1", ExternalID: "A-1", Fulfillment: commerce.ByPickup, Status: commerce.Processed}
	sold := commerce.Order{ID: "ord_1", Restocked: true, Status: commerce.Refunded}
	refund := commerce.Refund{ID: "rfd_1", OrderID: "ord_1", AmountCents: 100, TotalRefundedCents: 250, OrderStatus: commerce.Paid, State: commerce.RefundDone}
	refused := commerce.Refund{ID: "rfd_1", AmountCents: 100, State: commerce.RefundFailed, Error: "no"}
	returned := refund
	returned.State, returned.Error = commerce.RefundFailed, "the bank returned it"
	pending := commerce.Refund{ID: "rfd_1", AmountCents: 100, State: commerce.RefundPending}
	type answer struct {
		status int
		body   []byte
	}
	of := func(status int, body []byte) answer { return answer{status, body} }
	var a Answers
	for _, c := range []struct {
		got    answer
		status int
		want   string
	}{
		{of(a.CheckedOut(collected, commerce.Payment{SessionID: "cs_1", CheckoutURL: "https://pay.example/?a=1&b=2", TraceID: "tr"})), 201,
			`{"ok":true,"order_id":"ord_1","session_id":"cs_1","checkout_url":"https://pay.example/?a=1&b=2","trace_id":"tr"}`},
		{of(a.Reported(delivered, "tr")), 201, `{"ok":true,"order_id":"ord_1","external_order_id":"A \"1\"","status":"processed",` +
			`"delivery":{"created":true,"courier_delivery_id":"d1","courier_tracking_url":"https://c.example"},"trace_id":"tr"}`},
		{of(a.Reported(waiting, "tr")), 201, `{"ok":true,"order_id":"ord_1","external_order_id":"A-1","status":"processed","delivery":{"created":false},"trace_id":"tr"}`},
		{of(a.Reported(collected, "tr")), 201, `{"ok":true,"order_id":"ord_1","external_order_id":"A-1","status":"processed","trace_id":"tr"}`},
		{of(a.Refunded(refund)), 200, `{"ok":true,"order_id":"ord_1","payments_refund_id":"rfd_1","amount_refunded_cents":100,"total_refunded_cents":250,"status":"paid"}`},
		{of(a.Cancelled(commerce.Order{ID: "ord_1"}, commerce.Delivery{}, nil)), 200,
			`{"ok":true,"order_id":"ord_1","status":"cancelled","delivery_cancelled":false,"inventory_restored":false}`},
		{of(a.Cancelled(sold, commerce.Delivery{CalledOff: true}, &refund)), 200, `{"ok":true,"order_id":"ord_1","status":"cancelled","delivery_cancelled":true,` +
			`"inventory_restored":true,"refund":{"payments_refund_id":"rfd_1","amount_refunded_cents":100}}`},
		{of(a.Cancelled(sold, commerce.Delivery{CalledOff: true}, &returned)), 200, `{"ok":true,"order_id":"ord_1","status":"cancelled","delivery_cancelled":true,` +
			`"inventory_restored":true,"refund":{"payments_refund_id":"rfd_1","amount_refunded_cents":100}}`},
		{of(a.Cancelled(sold, commerce.Delivery{}, &refused)), 200, `{"ok":true,"order_id":"ord_1","status":"cancelled","delivery_cancelled":false,` +
			`"inventory_restored":true,"refund":{"payments_refund_id":"rfd_1","amount_refunded_cents":0,"error":"no"}}`},
		{of(a.Cancelled(sold, commerce.Delivery{}, &pending)), 200, `{"ok":true,"order_id":"ord_1","status":"cancelled","delivery_cancelled":false,` +
			`"inventory_restored":true,"refund":{"payments_refund_id":"rfd_1","amount_refunded_cents":0}}`},
	} {
		if c.got.status != c.status || string(c.got.body) != c.want {
			t.Errorf("%d %s\nwant %d %s", c.got.status, c.got.body, c.status, c.want)
		}
	}
}
