package wire

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// texts are hard to quote.
var texts = []string{"", "a", `say "hi"`, `back\slash`, "line\nbreak\ttab\r\b\f\x1f\x7f", "ä ö ü ß", "日本", "🧀👨‍👩‍👧", "\u2028\u2029", "<script>&amp;</script>", "\ufeff", "\ufffd", "/"}

// The plain encoder's view of the shapes of SPEC.md, Resources.
type plainProduct struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Description   string          `json:"description,omitempty"`
	StoreID       string          `json:"store_id"`
	CategoryID    string          `json:"category_id,omitempty"`
	Price         int64           `json:"price"`
	SKU           string          `json:"sku,omitempty"`
	Active        bool            `json:"active"`
	Quantity      int64           `json:"available_quantity"`
	FeaturedImage *string         `json:"featured_image"`
	Images        []string        `json:"images"`
	UpdatedOn     commerce.Millis `json:"updated_on"`
}

type plainUpserted struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	StoreID       string          `json:"store_id"`
	CategoryID    string          `json:"category_id"`
	FeaturedImage *string         `json:"featured_image"`
	Images        []string        `json:"images"`
	Active        bool            `json:"active"`
	Hot           bool            `json:"hot"`
	Price         json.Number     `json:"price"`
	Quantity      int64           `json:"available_quantity"`
	SKU           string          `json:"sku"`
	SoldCount     int64           `json:"sold_count"`
	SoldAmount    json.Number     `json:"sold_amount"`
	CreatedOn     commerce.Millis `json:"created_on"`
	UpdatedOn     commerce.Millis `json:"updated_on"`
	Source        *string         `json:"source"`
}

// same compares by meaning: member order and escapes may differ.
func same(t *testing.T, appended []byte, plain any) {
	t.Helper()
	want, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(appended, &a); err != nil {
		t.Fatalf("%v in %s", err, appended)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("\nappended %s\nplain    %s", appended, want)
	}
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func dollars(c commerce.Cents) json.Number {
	return json.Number(strconv.FormatFloat(float64(c)/100, 'f', 2, 64))
}

func TestAppendProduct(t *testing.T) {
	for i, text := range texts {
		images := []string{}
		if i%2 == 0 {
			images = []string{text, "x"}
		}
		n := int64(i) * 12_345
		item := commerce.Item{
			Product: commerce.Product{StoreID: "s", ID: "id" + text, Description: text, SKU: text, Hot: i%3 == 0,
				FeaturedImage: text, Images: images, Source: text, CreatedOn: commerce.Millis(n)},
			Stock: commerce.Stock{Name: text, PriceCents: commerce.Cents(n), CategoryID: text, Active: i%2 == 0, Quantity: n, SoldCount: n, SoldCents: commerce.Cents(n + 1), UpdatedOn: commerce.Millis(n + 2)}}
		same(t, AppendProduct(nil, item), plainProduct{item.ID, text, text, "s", text, n, text, item.Stock.Active, n, orNil(text), images, commerce.Millis(n + 2)})
		same(t, AppendUpserted([]byte{}, item), plainUpserted{item.ID, text, text, "s", text, orNil(text), images, item.Stock.Active, item.Hot,
			dollars(item.Stock.PriceCents), n, text, n, dollars(item.Stock.SoldCents), commerce.Millis(n), commerce.Millis(n + 2), orNil(text)})
	}
	same(t, AppendProduct(nil, commerce.Item{}), plainProduct{Images: []string{}})
}

// event is the data of an event of the kind.
func event(kind commerce.WebhookKind, about commerce.EventData) []byte {
	return Encoder{}.EventData(commerce.WebhookEvent{Kind: kind, About: &about})
}

// An order says everything that is known of it, and leaves out what is not.
func TestOrder(t *testing.T) {
	original := commerce.Cents(150)
	full := commerce.Order{StoreID: "s", ID: "o", PartnerID: "ptn", Mode: commerce.Test, Source: "partner", ExternalID: "x\u2028\"", CustomerID: "cus",
		CustomerEmail: "a@b.example", Status: commerce.Paid, Fulfillment: commerce.ByDelivery, SubtotalCents: 1, TaxCents: 2, DeliveryFeeCents: 3,
		TotalCents: 4, RefundedCents: 5, PickupInstructions: "<b>", DropoffInstructions: "🧀", ExternalPaymentID: "pay", CourierQuoteID: "quo",
		CourierDeliveryID: "del", CourierTrackingURL: "https://t.example", ReadyForPickupAt: 6, PickedUpAt: 7, CreatedOn: 8, UpdatedOn: 9, Metadata: commerce.Metadata{"b": "\u2028\"", "a": "1"},
		Lines: []commerce.OrderLine{{ProductID: "p", Quantity: 2, PriceCents: 10}, {ProductID: "q", OriginalPriceCents: &original}},
		Address: &commerce.DeliveryAddress{Name: "Ann", Email: "e", Phone: "+1",
			Address: commerce.Address{Line1: "1", Line2: "2", City: "3", State: "4", PostalCode: "5", Country: "6"}}}
	want := `{"id":"o","store_id":"s","created_on":8,"updated_on":9,"customer_id":"cus",` +
		`"items":[{"product_id":"p","quantity":2,"price":10},{"product_id":"q","quantity":0,"price":0,"original_price":150}],` +
		`"source":"partner","partner_client_id":"ptn","external_order_id":"x\u2028\"","fulfillment_type":"delivery",` +
		`"delivery_address":{"name":"Ann","email":"e","phone":"+1","address":{"line1":"1","line2":"2","city":"3","state":"4","postal_code":"5","country":"6"}},` +
		`"delivery_fee":3,"subtotal":1,"tax_amount":2,"total":4,"refunded_total":5,"status":"paid","courier_delivery_id":"del",` +
		`"courier_tracking_url":"https://t.example","courier_quote_id":"quo","ready_for_pickup_at":6,"picked_up_at":7,"dev":true,` +
		`"pickup_instructions":"<b>","dropoff_instructions":"🧀","external_payment_id":"pay","customer_email":"a@b.example","metadata":{"a":"1","b":"\u2028\""}}`
	least := `{"id":"","store_id":"","created_on":0,"updated_on":0,"customer_id":"","items":[],"fulfillment_type":"pickup","delivery_address":null,` +
		`"delivery_fee":0,"subtotal":0,"tax_amount":0,"total":0,"refunded_total":0,"status":"paid","dev":false,"metadata":{}}`
	empty := commerce.Order{Mode: commerce.Live, Status: commerce.Paid, Fulfillment: commerce.ByPickup}
	pages := commerce.TrackingPages{URL: "https://s.example", Secret: []byte("secret")}
	for _, c := range []struct{ got, want []byte }{
		{Encode(Encoder{}.Order(full)), []byte(want)},
		{Encode(Encoder{pages}.Order(full)), []byte(strings.Replace(want, `"courier_quote_id"`, `"tracking_page_url":"`+pages.PageOf("o")+`","courier_quote_id"`, 1))},
		{Encode(Encoder{}.Order(empty)), []byte(least)},
		{event(commerce.WebhookPaid, commerce.EventData{Order: full, Previous: commerce.PendingPayment}), []byte(`{"order":` + want + `,"previous_status":"pending_payment"}`)},
		{event(commerce.WebhookAccepted, commerce.EventData{Order: empty}), []byte(`{"order":` + least + `,"previous_status":null}`)},
		{event(commerce.WebhookTest, commerce.EventData{}), []byte(`{}`)},
		{event(commerce.WebhookRefunded, commerce.EventData{Order: empty, Previous: commerce.Paid, Refund: commerce.Refund{ID: "r", AmountCents: 1, Reason: "cold"}}), []byte(`{"order":` + least +
			`,"previous_status":"paid","payments_refund_id":"r","amount_refunded_cents":1,"total_refunded_cents":0,"reason":"cold","status":"paid"}`)},
		{event(commerce.WebhookRefundFailed, commerce.EventData{Order: empty, Previous: commerce.Paid, Refund: commerce.Refund{ID: "r", AmountCents: 1, Error: "no"}}), []byte(`{"order":` + least +
			`,"previous_status":"paid","payments_refund_id":"r","amount_cents":1,"total_refunded_cents":0,"status":"paid","error":"no"}`)},
		{timelineData(commerce.RefundData{RefundID: "r", AmountCents: 1, TotalCents: 2}), []byte(`{"payments_refund_id":"r","amount_refunded_cents":1,"total_refunded_cents":2}`)},
		{timelineData(commerce.RefundData{RefundID: "r", TotalCents: 2, Moves: []commerce.InventoryMove{{ProductID: "p", Delta: 1, Left: 3}}}), []byte(`{"payments_refund_id":"r","amount_refunded_cents":0,` +
			`"total_refunded_cents":2,"inventory":[{"product_id":"p","delta":1,"available_quantity":3}]}`)},
		{timelineData(commerce.PaymentData{AmountCents: 5, PaymentID: "pi"}), []byte(`{"amount_cents":5,"payment_id":"pi"}`)},
	} {
		same(t, c.got, json.RawMessage(c.want))
	}
}

func TestTimeline(t *testing.T) {
	events := []commerce.TimelineEvent{
		{OrderID: "ord_1_x", Seq: 3, Kind: commerce.TimelineNote, Status: commerce.Paid, CourierStatus: commerce.CourierDone, Message: "m", Data: commerce.NoteData{Code: "c"}, CreatedOn: 4},
		{OrderID: "ord_1_x", Kind: commerce.TimelineCreated}}
	same(t, Encode(TimelineOf(events)), []map[string]any{
		{"id": commerce.TimelineEventID("ord_1_x", 3), "order_id": "ord_1_x", "event": "order.note", "status": "paid",
			"courier_delivery_status": string(commerce.CourierDone), "message": "m", "data": map[string]string{"code": "c"}, "created_on": 4},
		{"id": commerce.TimelineEventID("ord_1_x", 0), "order_id": "ord_1_x", "event": "order.created", "status": nil,
			"courier_delivery_status": nil, "message": nil, "data": nil, "created_on": 0}})
	same(t, timelineData(commerce.StockData{Moves: []commerce.InventoryMove{{ProductID: "p", Delta: -2, Left: 5}}}), map[string]any{"inventory": []map[string]any{{"product_id": "p", "delta": -2, "available_quantity": 5}}})
	if got := string(Encode(TimelineOf(nil))); got != "[]" {
		t.Error(got)
	}
}

func TestISO(t *testing.T) {
	for ms, want := range map[int64]string{0: "1970-01-01T00:00:00.000Z", 1772463845250: "2026-03-02T15:04:05.250Z", 253402300799999: "9999-12-31T23:59:59.999Z"} {
		if got := ISO(commerce.Millis(ms)); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}

func TestAppendWebhook(t *testing.T) {
	e := commerce.WebhookEvent{PartnerID: "ptn_1", ID: "evt_1", Kind: commerce.WebhookPaid, StoreID: "sto_1", OrderID: "ord_1",
		TraceID: `tr"1`, Data: []byte(`{"order":{}}`), Timestamp: 1_772_463_845_250}
	want := `{"id":"evt_1","event":"order.paid","order_id":"ord_1","timestamp":"2026-03-02T15:04:05.250Z","trace_id":"tr\"1","data":{"order":{}}}`
	if got := string(AppendWebhook([]byte("["), e)); got != "["+want {
		t.Errorf("%s\nwant [%s", got, want)
	}
	e.TraceID = ""
	if got := string(AppendWebhook(nil, e)); !strings.Contains(got, `"trace_id":null,`) {
		t.Errorf("%s", got)
	}
}
