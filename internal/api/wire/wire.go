// Package wire encodes the JSON shapes of SPEC.md, Resources, that several
// answers and the webhooks share: products, orders, deliveries and timeline
// events. Products are appended by hand, because encoding is most of the cost of a
// list of products; a test compares them with the plain encoder.
package wire

import (
	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends v as a JSON string. Every stored text is valid UTF-8,
// because decoders refuse any other.
func AppendString(b []byte, v string) []byte {
	b, err := jsontext.AppendQuote(b, v)
	if err != nil {
		return b // v was appended, with U+FFFD for bytes that are not UTF-8
	}
	return b
}

// OrNull returns nil, which is encoded as null, for an empty text.
func OrNull[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

// lenient encodes every stored text: bytes that are not UTF-8 become U+FFFD.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Encode returns v as JSON. It panics if v cannot be encoded, which is a bug.
func Encode(v any) []byte {
	text, err := json.Marshal(v, lenient)
	if err != nil {
		panic(err)
	}
	return text
}

// ISO formats a time as ISO 8601 in UTC, to the millisecond.
func ISO(t commerce.Millis) string { return t.Time().UTC().Format("2006-01-02T15:04:05.000Z") }

// ISOOrNull is ISO, with null for no time.
func ISOOrNull(t commerce.Millis) *string {
	if t == 0 {
		return nil
	}
	text := ISO(t)
	return &text
}

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
