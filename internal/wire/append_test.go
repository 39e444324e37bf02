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
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Description   string   `json:"description,omitempty"`
	StoreID       string   `json:"store_id"`
	CategoryID    string   `json:"category_id,omitempty"`
	Price         int64    `json:"price"`
	SKU           string   `json:"sku,omitempty"`
	Active        bool     `json:"active"`
	Quantity      int64    `json:"available_quantity"`
	FeaturedImage *string  `json:"featured_image"`
	Images        []string `json:"images"`
	UpdatedOn     int64    `json:"updated_on"`
}

type plainUpserted struct {
	ID            string      `json:"id"`
	Name          string      `json:"name"`
	Description   string      `json:"description"`
	StoreID       string      `json:"store_id"`
	CategoryID    string      `json:"category_id"`
	FeaturedImage *string     `json:"featured_image"`
	Images        []string    `json:"images"`
	Active        bool        `json:"active"`
	Hot           bool        `json:"hot"`
	Price         json.Number `json:"price"`
	Quantity      int64       `json:"available_quantity"`
	SKU           string      `json:"sku"`
	SoldCount     int64       `json:"sold_count"`
	SoldAmount    json.Number `json:"sold_amount"`
	CreatedOn     int64       `json:"created_on"`
	UpdatedOn     int64       `json:"updated_on"`
	Source        *string     `json:"source"`
}

type plainLine struct {
	ProductID     string `json:"product_id"`
	Quantity      int64  `json:"quantity"`
	Price         int64  `json:"price"`
	OriginalPrice *int64 `json:"original_price,omitempty"`
}

type plainAddress struct {
	Name    string `json:"name"`
	Email   string `json:"email,omitempty"`
	Phone   string `json:"phone,omitempty"`
	Address struct {
		Line1      string `json:"line1"`
		Line2      string `json:"line2,omitempty"`
		City       string `json:"city"`
		State      string `json:"state"`
		PostalCode string `json:"postal_code"`
		Country    string `json:"country"`
	} `json:"address"`
}

type plainOrder struct {
	ID                  string        `json:"id"`
	StoreID             string        `json:"store_id"`
	CreatedOn           int64         `json:"created_on"`
	UpdatedOn           int64         `json:"updated_on"`
	CustomerID          string        `json:"customer_id"`
	Items               []plainLine   `json:"items"`
	Source              string        `json:"source,omitempty"`
	PartnerID           string        `json:"partner_client_id,omitempty"`
	ExternalID          string        `json:"external_order_id,omitempty"`
	Fulfillment         string        `json:"fulfillment_type"`
	Address             *plainAddress `json:"delivery_address"`
	DeliveryFee         int64         `json:"delivery_fee"`
	Subtotal            int64         `json:"subtotal"`
	Tax                 int64         `json:"tax_amount"`
	Total               int64         `json:"total"`
	Refunded            int64         `json:"refunded_total"`
	Status              string        `json:"status"`
	CourierDeliveryID   string        `json:"courier_delivery_id,omitempty"`
	CourierTrackingURL  string        `json:"courier_tracking_url,omitempty"`
	CourierQuoteID      string        `json:"courier_quote_id,omitempty"`
	ReadyForPickupAt    int64         `json:"ready_for_pickup_at,omitempty"`
	PickedUpAt          int64         `json:"picked_up_at,omitempty"`
	Dev                 bool          `json:"dev"`
	PickupInstructions  string        `json:"pickup_instructions,omitempty"`
	DropoffInstructions string        `json:"dropoff_instructions,omitempty"`
	ExternalPaymentID   string        `json:"external_payment_id,omitempty"`
	CustomerEmail       string        `json:"customer_email,omitempty"`
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
				FeaturedImage: text, Images: images, Source: text, CreatedOn: n},
			Stock: commerce.Stock{Name: text, PriceCents: commerce.Cents(n), CategoryID: text, Active: i%2 == 0, Quantity: n, SoldCount: n, SoldCents: commerce.Cents(n + 1), UpdatedOn: n + 2}}
		same(t, AppendProduct(nil, item), plainProduct{item.ID, text, text, "s", text, n, text, item.Stock.Active, n, orNil(text), images, n + 2})
		same(t, AppendUpserted([]byte{}, item), plainUpserted{item.ID, text, text, "s", text, orNil(text), images, item.Stock.Active, item.Hot,
			dollars(item.Stock.PriceCents), n, text, n, dollars(item.Stock.SoldCents), n, n + 2, orNil(text)})
	}
	same(t, AppendProduct(nil, commerce.Item{}), plainProduct{Images: []string{}})
}

func TestAppendOrder(t *testing.T) {
	original := commerce.Cents(150)
	for i, text := range texts {
		n := int64(i)
		o := commerce.Order{StoreID: "s" + text, ID: "o", PartnerID: text, Mode: commerce.Live, Source: text, ExternalID: text, CustomerID: text,
			CustomerEmail: text, Status: commerce.Paid, Fulfillment: commerce.ByPickup, SubtotalCents: commerce.Cents(n), TaxCents: 2, DeliveryFeeCents: 3,
			TotalCents: 4, RefundedCents: 5, PickupInstructions: text, DropoffInstructions: text, ExternalPaymentID: text, CourierQuoteID: text,
			CourierDeliveryID: text, CourierTrackingURL: text, ReadyForPickupAt: n, PickedUpAt: n, CreatedOn: n, UpdatedOn: n}
		plain := plainOrder{ID: "o", StoreID: "s" + text, CreatedOn: n, UpdatedOn: n, CustomerID: text, Items: []plainLine{}, Source: text, PartnerID: text,
			ExternalID: text, Fulfillment: "pickup", DeliveryFee: 3, Subtotal: n, Tax: 2, Total: 4, Refunded: 5, Status: "paid", CourierDeliveryID: text,
			CourierTrackingURL: text, CourierQuoteID: text, ReadyForPickupAt: n, PickedUpAt: n, PickupInstructions: text, DropoffInstructions: text,
			ExternalPaymentID: text, CustomerEmail: text}
		if i%2 == 1 {
			o.Mode, plain.Dev = commerce.Test, true
			o.Lines = []commerce.OrderLine{{ProductID: text, Quantity: n, PriceCents: 1}, {ProductID: "p", OriginalPriceCents: &original}}
			cents := int64(original)
			plain.Items = []plainLine{{ProductID: text, Quantity: n, Price: 1}, {ProductID: "p", OriginalPrice: &cents}}
			o.Address = &commerce.DeliveryAddress{Name: text, Email: text, Phone: text,
				Address: commerce.Address{Line1: text, Line2: text, City: text, State: text, PostalCode: text, Country: text}}
			plain.Address = &plainAddress{Name: text, Email: text, Phone: text}
			a := &plain.Address.Address
			a.Line1, a.Line2, a.City, a.State, a.PostalCode, a.Country = text, text, text, text, text, text
		}
		same(t, AppendOrder(nil, o), plain)
		same(t, OrderEventData(o, commerce.OrderStatus(text)), map[string]any{"order": plain, "previous_status": orNil(text)})
	}
}

func TestAppendTimelineEvent(t *testing.T) {
	for i, text := range texts {
		e := commerce.TimelineEvent{OrderID: "ord_1_x", Seq: int64(i), Kind: commerce.TimelineNote, Status: commerce.OrderStatus(text),
			CourierStatus: commerce.CourierStatus(text), Message: text, Data: NoteData(text), CreatedOn: int64(i)}
		same(t, AppendTimelineEvent(nil, e), map[string]any{"id": commerce.TimelineEventID("ord_1_x", int64(i)), "order_id": "ord_1_x", "event": "order.note",
			"status": orNil(text), "courier_delivery_status": orNil(text), "message": orNil(text), "data": map[string]string{"code": text}, "created_on": i})
		same(t, InventoryData([]InventoryMove{{text, -2, 5}, {"p", 1, 0}}), map[string]any{"inventory": []map[string]any{
			{"product_id": text, "delta": -2, "available_quantity": 5}, {"product_id": "p", "delta": 1, "available_quantity": 0}}})
	}
	same(t, AppendTimelineEvent(nil, commerce.TimelineEvent{OrderID: "ord_1_x", Kind: "order.created"}), map[string]any{
		"id": commerce.TimelineEventID("ord_1_x", 0), "order_id": "ord_1_x", "event": "order.created", "status": nil,
		"courier_delivery_status": nil, "message": nil, "data": nil, "created_on": 0})
}

// Appending keeps what stands before.
func TestAppendKeepsWhatIsThere(t *testing.T) {
	if got := string(AppendLines([]byte("before"), nil)); got != "before[]" {
		t.Error(got)
	}
	if got := string(AppendDeliveryAddress([]byte("before"), nil)); got != "beforenull" {
		t.Error(got)
	}
}

// What storage keeps comes back as it was.
func FuzzLinesAndAddresses(f *testing.F) {
	for _, text := range texts {
		f.Add(text, int64(2), int64(925))
	}
	f.Fuzz(func(t *testing.T, text string, quantity, price int64) {
		lines := []commerce.OrderLine{{ProductID: valid(text), Quantity: quantity, PriceCents: commerce.Cents(price)}}
		if got, err := ParseLines(AppendLines(nil, lines)); err != nil || !reflect.DeepEqual(got, lines) {
			t.Errorf("%v came back as %v (%v)", lines, got, err)
		}
		address := &commerce.DeliveryAddress{Name: valid(text), Email: valid(text), Address: commerce.Address{Line1: valid(text), Country: valid(text)}}
		if got, err := ParseDeliveryAddress(AppendDeliveryAddress(nil, address)); err != nil || !reflect.DeepEqual(got, address) {
			t.Errorf("%v came back as %v (%v)", address, got, err)
		}
	})
}

// valid is what a decoder would have let in.
func valid(s string) string {
	b := AppendString(nil, s)
	var out string
	_ = json.Unmarshal(b, &out) // what AppendString writes is JSON
	return out
}

func TestISO(t *testing.T) {
	for ms, want := range map[int64]string{0: "1970-01-01T00:00:00.000Z", 1772463845250: "2026-03-02T15:04:05.250Z", 253402300799999: "9999-12-31T23:59:59.999Z"} {
		if got := ISO(ms); got != want {
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
