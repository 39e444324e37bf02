// Package wire encodes the JSON shapes of SPEC.md, Resources, that several
// answers and the webhooks share: products, orders, deliveries and timeline
// events. Products are appended by hand, because encoding is most of the cost of a
// list of products; a test compares them with the plain encoder.
package wire

import (
	"strconv"

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
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), json.Deterministic(true))

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

// AppendProduct appends the read shape (SPEC, Product).
func AppendProduct(b []byte, p commerce.Item) []byte {
	b = AppendString(append(b, `{"id":`...), p.ID)
	b = AppendString(append(b, `,"name":`...), p.Stock.Name)
	b = appendIfAny(b, `,"description":`, p.Description)
	b = AppendString(append(b, `,"store_id":`...), p.StoreID)
	b = appendIfAny(b, `,"category_id":`, p.Stock.CategoryID)
	b = strconv.AppendInt(append(b, `,"price":`...), int64(p.Stock.PriceCents), 10)
	b = appendIfAny(b, `,"sku":`, p.SKU)
	b = strconv.AppendBool(append(b, `,"active":`...), p.Stock.Active)
	b = strconv.AppendInt(append(b, `,"available_quantity":`...), p.Stock.Quantity, 10)
	b = appendImages(b, p)
	b = strconv.AppendInt(append(b, `,"updated_on":`...), int64(p.Stock.UpdatedOn), 10)
	return append(b, '}')
}

// AppendUpserted appends the upsert response shape (SPEC, Product), whose
// price and sold_amount are in major units.
func AppendUpserted(b []byte, p commerce.Item) []byte {
	b = AppendString(append(b, `{"id":`...), p.ID)
	b = AppendString(append(b, `,"name":`...), p.Stock.Name)
	b = AppendString(append(b, `,"description":`...), p.Description)
	b = AppendString(append(b, `,"store_id":`...), p.StoreID)
	b = AppendString(append(b, `,"category_id":`...), p.Stock.CategoryID)
	b = appendImages(b, p)
	b = strconv.AppendBool(append(b, `,"active":`...), p.Stock.Active)
	b = strconv.AppendBool(append(b, `,"hot":`...), p.Hot)
	b = commerce.AppendMajor(append(b, `,"price":`...), p.Stock.PriceCents)
	b = strconv.AppendInt(append(b, `,"available_quantity":`...), p.Stock.Quantity, 10)
	b = AppendString(append(b, `,"sku":`...), p.SKU)
	b = strconv.AppendInt(append(b, `,"sold_count":`...), p.Stock.SoldCount, 10)
	b = commerce.AppendMajor(append(b, `,"sold_amount":`...), p.Stock.SoldCents)
	b = strconv.AppendInt(append(b, `,"created_on":`...), int64(p.CreatedOn), 10)
	b = strconv.AppendInt(append(b, `,"updated_on":`...), int64(p.Stock.UpdatedOn), 10)
	b = appendOrNull(append(b, `,"source":`...), p.Source)
	return append(b, '}')
}

func appendImages(b []byte, p commerce.Item) []byte {
	b = appendOrNull(append(b, `,"featured_image":`...), p.FeaturedImage)
	b = append(b, `,"images":[`...)
	for i, image := range p.Images {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, image)
	}
	return append(b, ']')
}

// appendIfAny appends a member, unless its text is empty. name has the comma and colon
// around it.
func appendIfAny(b []byte, name, v string) []byte {
	if v == "" {
		return b
	}
	return AppendString(append(b, name...), v)
}

// appendOrNull appends null for an empty string.
func appendOrNull(b []byte, v string) []byte {
	if v == "" {
		return append(b, "null"...)
	}
	return AppendString(b, v)
}
