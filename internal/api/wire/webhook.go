package wire

import (
	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendWebhook appends an event as webhooks carry it and as GET /v1/events lists it
// (SPEC, Events).
func AppendWebhook(b []byte, e commerce.WebhookEvent) []byte {
	return appendJSON(b, struct {
		ID        string               `json:"id"`
		Event     commerce.WebhookKind `json:"event"`
		OrderID   string               `json:"order_id"`
		Timestamp string               `json:"timestamp"`
		TraceID   *string              `json:"trace_id"`
		Data      jsontext.Value       `json:"data"`
	}{e.ID, e.Kind, e.OrderID, ISO(e.Timestamp), orNull(e.TraceID), e.Data})
}
