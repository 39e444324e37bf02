package wire

import "purveyor/internal/commerce"

// AppendWebhook appends an event as it is pushed, and as GET /v1/events gives
// it (SPEC, Events).
func AppendWebhook(b []byte, e commerce.WebhookEvent) []byte {
	o := open(b)
	o.str("id", e.ID)
	o.str("event", string(e.Kind))
	o.str("order_id", e.OrderID)
	o.str("timestamp", ISO(e.Timestamp))
	o.nullStr("trace_id", e.TraceID)
	o.raw("data", e.Data)
	return o.close()
}
