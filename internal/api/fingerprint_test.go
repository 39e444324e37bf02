package api

import (
	"testing"

	"purveyor/internal/jsonin"

	"github.com/go-json-experiment/json"
)

// A stored reply keeps the fingerprint of its request for 72 hours. A newer program must make
// the same one of the same request, so a field that was added is not encoded where it is absent.
func TestFingerprintsOfOlderPrograms(t *testing.T) {
	encoded := func(in any) string {
		text, err := json.Marshal(in, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var adjust adjustIn
	if err := jsonin.Decode([]byte(`{"adjustments": [{"product_id": "p", "delta": 1}]}`), &adjust); err != nil {
		t.Fatal(err)
	}
	var upsert upsertIn
	if err := upsert.decode([]byte(`{"product": {"store_id": "s", "name": "n", "price": 1.5}}`)); err != nil {
		t.Fatal(err)
	}
	var report reportIn
	if err := jsonin.Decode([]byte(`{"external_order_id": "x", "dev": true}`), &report); err != nil {
		t.Fatal(err)
	}
	for want, in := range map[string]any{
		`{"adjustments":[{"product_id":"p","delta":1,"reason":null,"external_reference":null}]}`: adjust,
		`{"id":null,"store_id":"s","category_id":null,"name":"n","description":null,"featured_image":null,"images":null,"active":null,` +
			`"hot":null,"price":150,"available_quantity":null,"sku":null,"sold_count":null,"sold_amount":null,"created_on":null}`: upsert,
		`{"external_order_id":"x","store_id":null,"items":[],"fulfillment_type":null,"total":null,"subtotal":null,"tax_amount":null,"tax_rate":null,` +
			`"delivery_fee":null,"delivery_address":null,"pickup_instructions":null,"dropoff_instructions":null,"external_payment_id":null,"dev":true}`: report,
	} {
		if got := encoded(in); got != want {
			t.Errorf("the fingerprint is that of\n%s, and was that of\n%s", got, want)
		}
	}
}
