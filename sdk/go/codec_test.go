package purveyor

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzUnknown compares the members that are found to be unknown with those that encoding/json
// finds.
func FuzzUnknown(f *testing.F) {
	for _, text := range []string{`null`, `{}`, ` { "id" : 1 , "b" : [ {"c":"}"} , "\"," ] } `, `{"a":"\\","b":{"c":[1,{"d":null}]},"id":true}`,
		`{"a\"b":1,"aé":2,"\u0069d":3}`, `{"a":1e5,"b":-0.1,"c":"é☕","d":[[],{}]}`, "{\n\t\"a\":\t1\r}", `{"x":{"id":1}}`, `[1]`, `"text"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil {
			if json.Valid([]byte(text)) {
				_ = unknown([]byte(text), setOf("id")) // it is no object; nothing may break
			}
			return
		}
		delete(want, "id")
		got := map[string]json.RawMessage(unknown([]byte(text), setOf("id")))
		if len(want) != len(got) {
			t.Fatalf("%s: %s, want %s", text, got, want)
		}
		for name, value := range want {
			if !bytes.Equal(bytes.TrimSpace(got[name]), bytes.TrimSpace(value)) {
				t.Errorf("%s: %s is %q, want %q", text, name, got[name], value)
			}
		}
	})
}

// What is read is written again, with what has no field. Only null in place of an optional
// member is left out.
func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		text string
		into any
	}{
		{`{"id":"p1","name":"<b>&","store_id":"s1","price":925,"active":true,"available_quantity":20,"images":[],"updated_on":1772463845250,"robot":{"a":[1,2.50,"}"]},"zz":9007199254740993}`, new(Product)},
		{`{"id":"evt_1","event":"order.refund_failed","order_id":"o","timestamp":"2026-03-02T15:04:05.25Z","trace_id":null,"data":{"order":{"id":"o","store_id":"s","created_on":1,"updated_on":2,"customer_id":"c","items":[{"product_id":"p","quantity":1,"price":2,"later":[null]}],"fulfillment_type":"drone","delivery_fee":0,"subtotal":2,"tax_amount":0,"total":2,"status":"teleported","dev":true,"refunded_total":0,"metadata":{"lane":"4"}},"previous_status":"paid","payments_refund_id":"r","amount_cents":1,"total_refunded_cents":0,"status":"paid","error":"no","more":1},"version":2}`, new(WebhookEvent)},
		{`{"id":"evt_1","event":"of.later","order_id":"","timestamp":"2026-03-02T15:04:05Z","trace_id":"t","data":{"a":{"b":1e2}}}`, new(WebhookEvent)},
		{`{"order_id":"o","status":"delivered","courier_delivery_status":null,"courier_delivery_id":null,"courier_tracking_url":null}`, new(TrackingStatus)},
	} {
		if err := json.Unmarshal([]byte(c.text), c.into); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		text, err := encode(c.into)
		if err != nil {
			t.Error(err)
		}
		var got, want any
		for _, pair := range []struct {
			text []byte
			into *any
		}{{text, &got}, {[]byte(c.text), &want}} {
			decoder := json.NewDecoder(bytes.NewReader(pair.text))
			decoder.UseNumber()
			if err := decoder.Decode(pair.into); err != nil {
				t.Error(err)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %s\nwant %s", text, c.text)
		}
	}
}

// Data has the type of its kind.
func TestEventData(t *testing.T) {
	for kind, want := range map[EventKind]EventData{EventKindOrderPaid: &OrderChange{}, EventKindDeliveryCreated: &DeliveryChange{}, EventKindWebhookTest: &EmptyData{}, "of.later": &OtherData{}} {
		var event WebhookEvent
		if err := json.Unmarshal([]byte(`{"event":"`+string(kind)+`","data":{}}`), &event); err != nil || reflect.TypeOf(event.Data) != reflect.TypeOf(want) {
			t.Errorf("%s: %T, %v", kind, event.Data, err)
		}
	}
	var event WebhookEvent
	if err := json.Unmarshal([]byte(`{"event":"order.paid"}`), &event); err != nil || event.Data != nil {
		t.Errorf("without data: %v, %v", event.Data, err)
	}
}
