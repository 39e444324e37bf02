package sample

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/devdocs/openapi"
)

const document = `openapi: 3.1.0
paths:
  /v1/orders/{order_id}/refund:
    post:
      operationId: refundOrder
      parameters:
        - {name: order_id, in: path, required: true, schema: {type: string}, example: ord 1}
        - {name: Idempotency-Key, in: header, schema: {type: string}, example: key-1}
      requestBody:
        content: {application/json: {schema: {$ref: '#/components/schemas/RefundRequest'}, example: {amount_cents: 200, reason: "it's late", lines: [{product_id: p, quantity: 2}], since: 5, rate: 1, names: {a: b}, left: null}}}
      responses: {'200': {description: Done.}}
  /v1/products:
    get:
      operationId: listProducts
      parameters:
        - {name: cursor, in: query, schema: {type: string}}
        - {name: store_id, in: query, schema: {type: string}, example: 'a b,c'}
        - {name: limit, in: query, schema: {type: integer}, example: 3}
      responses: {'200': {description: Done.}}
  /v1/orders/{order_id}/tracking/stream:
    get:
      operationId: streamOrderTracking
      parameters: [{name: order_id, in: path, required: true, schema: {type: string}, example: ord_1}]
      responses: {'200': {description: Events., content: {text/event-stream: {schema: {type: string}}}}}
  /v1/other:
    post:
      operationId: otherThing
      requestBody: {content: {application/json: {schema: {type: object}, example: {}}}}
      responses: {'200': {description: Done.}}
components:
  schemas:
    RefundRequest:
      type: object
      required: [lines]
      properties:
        amount_cents: {type: integer}
        reason: {type: string}
        lines: {type: array, items: {$ref: '#/components/schemas/RefundLine'}}
        since: {type: integer, description: Unix milliseconds.}
        rate: {type: number}
        names: {type: object, additionalProperties: {type: [string, 'null']}}
        left: {type: [string, 'null']}
    RefundLine: {type: object, required: [product_id, quantity], properties: {product_id: {type: string}, quantity: {type: integer}}}
`

func calls(t *testing.T) map[string]Call {
	t.Helper()
	d, err := openapi.Read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]Call{}
	for _, o := range d.Operations {
		c := Call{Document: d, Operation: o, Base: "https://shop.example"}
		if o.Body != nil {
			content, _ := o.Body.Content.Of("application/json")
			c.Body = content.Example
		}
		list[o.ID] = c
	}
	return list
}

func TestCurl(t *testing.T) {
	c := calls(t)
	for id, want := range map[string]string{
		"refundOrder": "curl https://shop.example/v1/orders/ord%201/refund \\\n  -H 'x-api-key: sk_test_...' \\\n  -H 'Idempotency-Key: key-1' \\\n  -H 'Content-Type: application/json' \\\n  -d '{\n" +
			`  "amount_cents": 200,` + "\n" + `  "reason": "it'\''s late",` + "\n",
		"listProducts":        "curl 'https://shop.example/v1/products?store_id=a+b,c' \\\n  -H 'x-api-key: sk_test_...'",
		"streamOrderTracking": "curl -N https://shop.example/v1/orders/ord_1/tracking/stream \\\n",
		"otherThing":          "curl -X POST https://shop.example/v1/other \\\n  -H 'x-api-key: sk_test_...'",
	} {
		if got := Curl(c[id]); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s", id, got)
		}
	}
}

func TestGo(t *testing.T) {
	c := calls(t)
	for id, want := range map[string]string{
		"refundOrder": `client.Orders.Refund(ctx, "ord 1", purveyor.RefundRequest{
	AmountCents: purveyor.Ptr[int64](200),
	Reason:      purveyor.Ptr("it's late"),
	Lines:       []purveyor.RefundLine{{ProductID: "p", Quantity: 2}},
	Since:       purveyor.Ptr[purveyor.UnixMillis](5),
	Rate:        purveyor.Ptr[float64](1),
	Names:       map[string]*string{"a": purveyor.Ptr("b")},
	Left:        nil,
}, purveyor.WithIdempotencyKey("key-1"))`,
		"listProducts":        `client.Products.List(ctx, purveyor.ListProductsQuery{StoreID: "a b,c"})`,
		"streamOrderTracking": `for update, err := range client.Orders.Track(ctx, "ord_1", purveyor.Tracking{}) {`,
	} {
		if got := Go(c[id]); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", id, got)
		}
	}
	if Go(c["otherThing"]) != "" || TypeScript(c["otherThing"]) != "" {
		t.Error("an operation without a method in the SDKs has a sample")
	}
}

func TestTypeScript(t *testing.T) {
	c := calls(t)
	for id, want := range map[string]string{
		"refundOrder": `await purveyor.orders.refund("ord 1", {
  amount_cents: 200,
  reason: "it's late",
  lines: [{ product_id: "p", quantity: 2 }],
  since: 5,
  rate: 1,
  names: { a: "b" },
  left: null,
}, { idempotencyKey: "key-1" });`,
		"listProducts":        `await purveyor.products.list({ store_id: "a b,c" });`,
		"streamOrderTracking": `for await (const update of purveyor.orders.track("ord_1")) {`,
	} {
		if got := TypeScript(c[id]); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", id, got)
		}
	}
}

// aMethod matches a method of the SDK for Go, with the operation that it calls.
var aMethod = regexp.MustCompile(`(?m)^func \(s \*(\w+)Service\) (\w+)\(.*\n(?:\t.*\n)*?.*\bcall\(ctx, s\.client, op(\w+),`)

// TestMethods: the table has each operation that needs a key, with the method that the SDK has
// for it.
func TestMethods(t *testing.T) {
	inSDK := map[string]string{}
	paths, err := filepath.Glob("../../../sdk/go/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range aMethod.FindAllStringSubmatch(string(text), -1) {
			inSDK[m[3]] = m[1] + "." + m[2]
		}
	}
	text, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range d.Operations {
		want, got := inSDK[exported(o.ID)], methods[o.ID]
		if !o.Keyless() && want != "" && got != want {
			t.Errorf("methods.go needs the line %q: %q,", o.ID, want)
		}
		if got == "" && !o.Keyless() && want == "" {
			t.Errorf("the SDK for Go has no method for %s, which methods.go would name", o.ID)
		}
	}
}
