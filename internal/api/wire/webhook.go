package wire

import (
	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json/jsontext"
)

// Webhook is an event as webhooks carry it and as GET /v1/events lists it (SPEC,
// Events).
type Webhook struct {
	ID        string               `json:"id"`
	Event     commerce.WebhookKind `json:"event"`
	OrderID   string               `json:"order_id"`
	Timestamp string               `json:"timestamp"`
	TraceID   *string              `json:"trace_id"`
	Data      jsontext.Value       `json:"data"`
}

// WebhookOf returns the shape of an event.
func WebhookOf(e commerce.WebhookEvent) Webhook {
	return Webhook{e.ID, e.Kind, e.OrderID, ISO(e.Timestamp), OrNull(e.TraceID), e.Data}
}

// AppendWebhook appends an event as JSON.
func AppendWebhook(b []byte, e commerce.WebhookEvent) []byte {
	return append(b, Encode(WebhookOf(e))...)
}
