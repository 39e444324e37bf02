package requestlog

import (
	"context"
	"net/http"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// none is a store that keeps nothing.
type none struct{ Store }

func (none) Write(context.Context, Day, []Chunk, []Count) error { return nil }

// BenchmarkAdd is what a read of one product costs the goroutine of its request.
func BenchmarkAdd(b *testing.B) {
	l := New(env.Env{}, none{}, Options{})
	call := readCall()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		l.Add(&call)
		if n%10_000 == 0 {
			if err := l.Flush(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func readCall() Call {
	return Call{Key: &commerce.APIKey{ID: "key_06eay4zfgb8ebbxq4t0h3rkcr8", PartnerID: "ptn_06eay4zfgb8ebbxq4t0h3rkcr8", Mode: commerce.Live},
		At: time.Now(), Took: time.Millisecond, Method: "GET", Target: "/v1/products/prd_06eay4zfgb8ebbxq4t0h3rkcr8", Operation: "getProduct", Status: 200,
		StoreID: "store-7", Address: "192.0.2.77", TraceID: "0f8a4c2e91d34b7f0f8a4c2e91d34b7f", ResponseBytes: 712,
		RequestHeaders: http.Header{"X-Api-Key": {"x"}, "User-Agent": {"partner-client/1.0"}, "Accept": {"*/*"}},
		ResponseHeaders: http.Header{"Content-Type": {"application/json"}, "Etag": {`W/"XqjVhpTAYLX3Hhv9d1hqJg"`}, "Cache-Control": {"private, no-cache"}, "Ratelimit-Limit": {"100000000"}, "Ratelimit-Remaining": {"99999999"}, "Ratelimit-Reset": {"33"},
			"X-Trace-Id": {"0f8a4c2e91d34b7f0f8a4c2e91d34b7f"}}}
}

var report = []byte(`{"external_order_id":"ext-000123","store_id":"store-7","fulfillment_type":"pickup","items":[{"product_id":"prd_06eay4zfgb8ebbxq4t0h3rkcr8","quantity":2,"price":999},` +
	`{"product_id":"prd_06eay4zfgb8ebbxq4t0h3rkcr9","quantity":1,"price":1250}],"delivery_address":{"name":"Jo Doe","email":"jo@shop.example","phone":"+1 555 0100","address":{"line1":"1 Main St","city":"San Francisco","state":"CA","postal_code":"94103","country":"US"}}}`)

// BenchmarkBody is what the redaction of a report costs.
func BenchmarkBody(b *testing.B) {
	b.SetBytes(int64(len(report)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		_, dst = AppendBody(dst[:0], report, true)
	}
}
