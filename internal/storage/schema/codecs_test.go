package schema

import (
	"reflect"
	"testing"
	"unicode/utf8"

	"purveyor/internal/commerce"
)

// column is a row of one JSON column.
type column struct {
	Scanner
	text []byte
	err  error
}

func (c *column) JSON() []byte   { return c.text }
func (c *column) Fail(err error) { c.err = err }

// TestStoredForms: the texts of columns are those that all programs before wrote, byte
// for byte, and come back as what they say.
func TestStoredForms(t *testing.T) {
	eta, price := int64(1_772_463_845_250), commerce.Cents(499)
	order := commerce.Order{CourierDeliveryID: "d1", CourierTrackingURL: "https://c.example", Status: commerce.Shipped}
	delivery := commerce.Delivery{Status: commerce.CourierEnRoute, DropoffETA: commerce.Millis(eta), Imminent: true, Courier: commerce.Courier{Name: "Ünï \"B\"", Phone: "+1",
		Vehicle: "bicycle", ImageURL: "https://c.example/1.png", At: &commerce.Point{Lat: 30.25, Lng: -97.743061}}}
	moves := []commerce.InventoryMove{{ProductID: "prd_1", Delta: -2, Left: 5}}
	event := func(kind commerce.TimelineKind, data commerce.TimelineData) (any, []byte, func(Scanner) any) {
		return data, encodeTimelineData(data), func(s Scanner) any { return decodeTimelineData(s, kind) }
	}
	for want, form := range map[string]func() (any, []byte, func(Scanner) any){
		`[{"product_id":"p","quantity":2,"price":450,"original_price":499},{"product_id":"q","quantity":1,"price":0}]`: func() (any, []byte, func(Scanner) any) {
			lines := []commerce.OrderLine{{ProductID: "p", Quantity: 2, PriceCents: 450, OriginalPriceCents: &price}, {ProductID: "q", Quantity: 1}}
			return lines, encodeLines(lines), func(s Scanner) any { return decodeLines(s) }
		},
		`{"name":"Ann","email":"a@e.example","address":{"line1":"1 A St","line2":"2","city":"Austin","state":"TX","postal_code":"78701","country":"US"}}`: func() (any, []byte, func(Scanner) any) {
			a := &commerce.DeliveryAddress{Name: "Ann", Email: "a@e.example", Address: commerce.Address{Line1: "1 A St", Line2: "2", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}}
			return a, encodeAddress(a), func(s Scanner) any { return decodeAddress(s) }
		},
		`[{"name":"Rye","image":"https://a.example/1.png"},{"name":"Ünï"}]`: func() (any, []byte, func(Scanner) any) {
			titles := []commerce.LineTitle{{Name: "Rye", ImageURL: "https://a.example/1.png"}, {Name: "Ünï"}}
			return titles, encodeTitles(titles), func(s Scanner) any { return decodeTitles(s) }
		},
		`{"code":"c"}`: func() (any, []byte, func(Scanner) any) {
			return event(commerce.TimelineNote, commerce.NoteData{Code: "c"})
		},
		`{"inventory":[{"product_id":"prd_1","delta":-2,"available_quantity":5}]}`: func() (any, []byte, func(Scanner) any) {
			return event(commerce.TimelineProcessed, commerce.StockData{Moves: moves})
		},
		`{"inventory":[]}`: func() (any, []byte, func(Scanner) any) {
			return event(commerce.TimelineCancelled, commerce.StockData{Moves: []commerce.InventoryMove{}})
		},
		`{"amount_cents":5,"payment_id":"pi"}`: func() (any, []byte, func(Scanner) any) {
			return event(commerce.TimelinePaid, commerce.PaymentData{AmountCents: 5, PaymentID: "pi"})
		},
		`{"payments_refund_id":"r","amount_refunded_cents":1,"total_refunded_cents":2}`: func() (any, []byte, func(Scanner) any) {
			return event(commerce.TimelineRefunded, commerce.RefundData{RefundID: "r", AmountCents: 1, TotalCents: 2})
		},
		`{"payments_refund_id":"r","amount_refunded_cents":1,"total_refunded_cents":2,"reason":"cold","inventory":[{"product_id":"prd_1","delta":-2,"available_quantity":5}]}`: func() (any, []byte, func(Scanner) any) {
			return event(commerce.TimelineRefunded, commerce.RefundData{RefundID: "r", AmountCents: 1, TotalCents: 2, Reason: "cold", Moves: moves})
		},
		`{"courier_delivery_id":"d1","courier_tracking_url":"https://c.example","status":"shipped","courier_delivery_status":"en_route_to_dropoff",` +
			`"estimated_delivery_time":"2026-03-02T15:04:05.250Z","courier_imminent":true,"courier":{"name":"Ünï \"B\"","phone_number":"+1",` +
			`"vehicle_type":"bicycle","img_href":"https://c.example/1.png","location":{"lat":30.25,"lng":-97.743061}}}`: func() (any, []byte, func(Scanner) any) {
			return event(commerce.TimelineStatusChanged, commerce.DeliveryDataOf(order, delivery))
		},
		`{"courier_delivery_id":null,"courier_tracking_url":null,"status":"cancelled","courier_delivery_status":null,"estimated_delivery_time":null,` +
			`"courier_imminent":false,"courier":{}}`: func() (any, []byte, func(Scanner) any) {
			return event(commerce.TimelineDeliveryCancelled, commerce.DeliveryData{Status: commerce.Cancelled})
		},
	} {
		value, text, decode := form()
		if string(text) != want {
			t.Errorf("%+v is stored as\n%s, want\n%s", value, text, want)
		}
		c := &column{text: []byte(want)}
		if got := decode(c); c.err != nil || !reflect.DeepEqual(got, value) {
			t.Errorf("%s\nis read as %+v, %v; want %+v", want, got, c.err, value)
		}
	}
	if c := (&column{}); encodeTimelineData(nil) != nil || decodeTimelineData(c, commerce.TimelineCreated) != nil || encodeAddress(nil) != nil || decodeAddress(c) != nil || c.err != nil {
		t.Errorf("nothing is not NULL: %v", c.err)
	}
	for _, text := range []string{`{"estimated_delivery_time":"noon"}`, `[`} {
		if c := (&column{text: []byte(text)}); decodeTimelineData(c, commerce.TimelineShipped) != nil && c.err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

// What is stored comes back as it was.
func FuzzLinesAndAddresses(f *testing.F) {
	f.Add("plain", int64(2), int64(925))
	f.Add("<b>\u2028\"\\\x00 🧀", int64(0), int64(-1))
	f.Fuzz(func(t *testing.T, text string, quantity, price int64) {
		if !utf8.ValidString(text) {
			return // no decoder lets it in
		}
		lines := []commerce.OrderLine{{ProductID: text, Quantity: quantity, PriceCents: commerce.Cents(price)}}
		if got := decodeLines(&column{text: encodeLines(lines)}); !reflect.DeepEqual(got, lines) {
			t.Errorf("%v came back as %v", lines, got)
		}
		address := &commerce.DeliveryAddress{Name: text, Email: text, Address: commerce.Address{Line1: text, Country: text}}
		if got := decodeAddress(&column{text: encodeAddress(address)}); !reflect.DeepEqual(got, address) {
			t.Errorf("%v came back as %v", address, got)
		}
	})
}
