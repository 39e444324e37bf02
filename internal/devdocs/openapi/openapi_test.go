package openapi

import (
	"strings"
	"testing"
)

const small = `openapi: 3.1.0
info: {title: Shop, version: 1.2.3, summary: Sells things., description: All of it.}
tags: [{name: Orders, description: About orders.}]
paths:
  /orders/{id}:
    summary: not an operation
    get:
      operationId: getOrder
      tags: [Orders]
      summary: Read an order
      x-required-scopes: [read_orders]
      parameters: &all
        - $ref: '#/components/parameters/Id'
        - {name: fresh, in: query, schema: {type: boolean, default: true}}
      responses:
        '200':
          description: The order.
          headers: {x-trace-id: {$ref: '#/components/headers/Trace'}}
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Order'}
              examples: {one: {$ref: '#/components/examples/One'}}
        '404': {$ref: '#/components/responses/Missing'}
    post:
      operationId: changeOrder
      security: []
      parameters: *all
      requestBody: {required: true, content: {application/json: {schema: {type: object}, example: {b: 1, a: [2, null]}}}}
      responses: {'204': {description: Done.}}
webhooks:
  order.made: {post: {operationId: onOrderMade, responses: {2XX: {description: Taken.}}}}
components:
  parameters: {Id: {name: id, in: path, required: true, schema: {type: string}, example: ord_1}}
  headers: {Trace: {description: The id., schema: {type: string}}}
  examples: {One: {summary: An order, value: {id: ord_1}}}
  responses: {Missing: {description: There is none.}}
  schemas:
    Base: {type: object, required: [id], properties: {id: {type: string, description: The id.}}}
    Order:
      description: An order.
      allOf:
        - $ref: '#/components/schemas/Base'
        - {required: [total], properties: {total: {type: integer}, id: {type: integer}}}
    MaybeOrder: {anyOf: [{$ref: '#/components/schemas/Order'}, {type: 'null'}]}
    Described: {$ref: '#/components/schemas/Order', description: Described here.}
    Either: {anyOf: [{type: string}, {type: object, anyOf: [{required: [a]}, {required: [b]}], properties: {a: {type: string}}}]}
    Round: {$ref: '#/components/schemas/RoundAgain'}
    RoundAgain: {$ref: '#/components/schemas/Round'}
    Open: {type: [string, 'null'], x-extensible-enum: [a, b]}
    Map: {type: object, additionalProperties: {type: string}}
    Any: {type: object, additionalProperties: true}
`

func read(t *testing.T) *Document {
	t.Helper()
	d, err := Read([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRead: operations and events come in order, with what they refer to.
func TestRead(t *testing.T) {
	d := read(t)
	if d.Title != "Shop" || d.Version != "1.2.3" || len(d.Tags) != 1 || d.Tags[0].Description != "About orders." {
		t.Errorf("%+v", d)
	}
	if len(d.Operations) != 2 || len(d.Events) != 1 || d.Events[0].Path != "order.made" {
		t.Fatalf("%d operations, %d events", len(d.Operations), len(d.Events))
	}
	o := d.Operations[0]
	if o.ID != "getOrder" || o.Method != "GET" || o.Path != "/orders/{id}" || o.Scopes[0] != "read_orders" || o.Keyless() {
		t.Errorf("%+v", o)
	}
	if o.Parameters[0].Name != "id" || o.Parameters[0].Example.Text() != "ord_1" || o.Parameters[1].Schema.Default.Text() != "true" {
		t.Errorf("%+v", o.Parameters)
	}
	found, _ := o.Answers.Of("200")
	content, _ := found.Content.Of("application/json")
	if h, _ := found.Headers.Of("x-trace-id"); h.Description != "The id." {
		t.Errorf("%+v", h)
	}
	if e := content.Named(); len(e) != 1 || e[0].Summary != "An order" || e[0].Value.Member("id").Text() != "ord_1" {
		t.Errorf("%+v", e)
	}
	if missing, _ := o.Answers.Of("404"); missing.Description != "There is none." {
		t.Errorf("%+v", missing)
	}
	second := d.Operations[1]
	body, _ := second.Body.Content.Of("application/json")
	if !second.Keyless() || second.Parameters[0].Name != "id" || body.Named()[0].Value.Line() != `{"b": 1, "a": [2, null]}` {
		t.Errorf("%+v", second)
	}
}

// TestReadRefuses: a document with a reference to nothing is refused.
func TestReadRefuses(t *testing.T) {
	for _, part := range []string{"parameters/Id'", "headers/Trace'", "examples/One'", "responses/Missing'"} {
		broken := strings.Replace(small, part, "nowhere/Else'", 1)
		if _, err := Read([]byte(broken)); err == nil || !strings.Contains(err.Error(), "Else") {
			t.Errorf("%s: %v", part, err)
		}
	}
	if _, err := Read([]byte("paths: []")); err == nil {
		t.Error("a list of paths is taken")
	}
}

func TestResolve(t *testing.T) {
	d := read(t)
	order := d.Schema("Order")
	if order.Name != "Order" || order.Kind() != "object" || !order.Requires("id") || !order.Requires("total") || len(order.Properties) != 2 || order.Description != "An order." {
		t.Errorf("%+v", order)
	}
	if id, _ := order.Properties.Of("id"); id.Kind() != "string" {
		t.Errorf("of two parts the first counts: %+v", id)
	}
	if maybe := d.Schema("MaybeOrder"); maybe.Name != "Order" || !maybe.Nullable || len(maybe.Variants) != 0 {
		t.Errorf("%+v", maybe)
	}
	if described := d.Schema("Described"); described.Description != "Described here." || len(described.Properties) != 2 {
		t.Errorf("%+v", described)
	}
	if d.Schema("Order").Description != "An order." {
		t.Error("a description beside a reference has changed the part itself")
	}
	either := d.Schema("Either")
	if len(either.Variants) != 2 {
		t.Fatalf("%+v", either)
	}
	if object, err := d.Resolve(either.Variants[1]); err != nil || len(object.Variants) != 0 || len(object.Properties) != 1 {
		t.Errorf("%+v, %v", object, err)
	}
	if _, err := d.Resolve(&Schema{Ref: "#/components/schemas/Round"}); err == nil {
		t.Error("a circle is resolved")
	}
	if _, err := d.Resolve(&Schema{Ref: "#/components/schemas/Nothing"}); err == nil {
		t.Error("a reference to nothing is resolved")
	}
	if open := d.Schema("Open"); !open.Nullable || open.Kind() != "string" || len(open.Known) != 2 {
		t.Errorf("%+v", open)
	}
	if d.Schema("Map").Others.Schema.Kind() != "string" || !d.Schema("Any").Others.Allowed || d.Schema("Any").Others.Schema != nil {
		t.Error("members without names")
	}
}

func TestJSON(t *testing.T) {
	long := Text(strings.Repeat("x", 70))
	for _, c := range []struct {
		value Value
		want  string
	}{
		{Text("<a> & \"b\"\n"), `"<a> & \"b\"\n"`},
		{Object(nil), "{}"},
		{Array(), "[]"},
		{Array(Scalar("1"), Scalar("null"), Text("a")), `[1, null, "a"]`},
		{Object([]Entry[Value]{{"a", long}}), "{\n  \"a\": " + long.Line() + "\n}"},
		{Object([]Entry[Value]{{"a", Array(Object([]Entry[Value]{{"b", Scalar("true")}}))}}), "{\n  \"a\": [\n    {\"b\": true}\n  ]\n}"},
	} {
		if got := c.value.JSON(); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}
