package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The SDKs hold what would be generated now.
func TestCurrent(t *testing.T) {
	made, err := files("../..")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range made {
		if got, err := os.ReadFile(filepath.Join("../..", path)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what openapi.yaml gives: run go run ./sdk/generate (%v)", path, err)
		}
	}
}

// documentOf puts schemas and paths into a document.
func documentOf(schemas, paths string) []byte {
	return []byte("components:\n  schemas:\n" + indent(schemas) + "paths:\n" + indent(paths))
}

func indent(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return "    " + strings.Join(lines, "\n    ") + "\n"
}

func TestTypes(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		golang []string
		script []string
	}{
		"required, optional and null": {`
Thing:
  type: object
  required: [id, note]
  properties:
    id: { type: string }
    note: { type: [string, 'null'] }
    active: { type: boolean }
    name: { type: string, minLength: 1 }
    text: { type: string }
    list: { type: array, items: { type: integer } }
    at: { type: string, format: date-time }`,
			[]string{"ID string `json:\"id\"`", "Note *string `json:\"note\"`", "Active *bool `json:\"active,omitempty\"`", "Name string `json:\"name,omitempty\"`",
				"Text *string `json:\"text,omitempty\"`", "List []int64 `json:\"list,omitzero\"`", "At *time.Time `json:\"at,omitempty\"`"},
			[]string{"id: string;", "note: string | null;", "active?: boolean;", "name?: string;", "list?: number[];"}},
		"references": {`
Thing:
  type: object
  required: [count, other, kind]
  properties:
    count: { $ref: '#/components/schemas/Count' }
    at: { $ref: '#/components/schemas/UnixMillis' }
    other: { anyOf: [{ $ref: '#/components/schemas/Other' }, { type: 'null' }] }
    kind: { $ref: '#/components/schemas/Kind' }
    kinds: { type: array, items: { $ref: '#/components/schemas/Kind' } }
    map: { type: object, additionalProperties: { type: [string, 'null'] } }
    free: { type: object }
Count: { type: integer, description: How many. }
UnixMillis: { type: integer, description: 'Unix milliseconds' }
Other: { type: object, properties: { a: { type: number } } }
Kind: { type: string, x-extensible-enum: [a, b.c] }`,
			[]string{"// How many.\nCount int64", "At *UnixMillis", "Other *Other `json:\"other\"`", "Kind Kind `json:\"kind\"`", "Kinds []Kind `json:\"kinds,omitzero\"`",
				"Map map[string]*string", "Free map[string]json.RawMessage", "type Kind string", `KindBC Kind = "b.c"`},
			[]string{"count: number;", "other: Other | null;", "kinds?: Kind[];", "map?: { [name: string]: string | null };", "free?: { [name: string]: unknown };", `export type Kind = "a" | "b.c" | (string & {});`}},
		"values in place": {`
Thing:
  type: object
  properties:
    reasons: { type: array, items: { type: string, enum: [x, y] } }`,
			[]string{"Reasons []ThingReasons", "type ThingReasons string"}, []string{`reasons?: ("x" | "y")[];`}},
		"union": {`
Event:
  oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }, { $ref: '#/components/schemas/Z' }]
  discriminator: { propertyName: kind, mapping: { a.x: '#/components/schemas/A', b: '#/components/schemas/B' } }
A: { type: object, required: [kind, data], properties: { kind: { type: string, const: a.x }, data: { $ref: '#/components/schemas/Data' } } }
B: { type: object, required: [kind, data], properties: { kind: { type: string, const: b }, data: { $ref: '#/components/schemas/Data' } } }
Z: { type: object, required: [kind, data], properties: { kind: { type: string }, data: { $ref: '#/components/schemas/Free' } } }
Data: { type: object, properties: { n: { type: integer } } }
Free: { type: object, additionalProperties: true }`,
			[]string{"Kind EventKind", "Data EventData", `EventKindAX EventKind = "a.x"`, "type EventData interface", "type Free map[string]json.RawMessage"},
			[]string{"export type Event =\n  | A\n  | B;", `kind: "a.x";`, "export interface Z {"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := read(documentOf(c.schema, "/x: {}"))
			if err != nil {
				t.Fatal(err)
			}
			types, _, err := goTypes(d)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, types, c.golang)
			holds(t, tsTypes(d), c.script)
		})
	}
}

// holds checks that a text has all parts, whatever white space is between words.
func holds(t *testing.T, text []byte, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), strings.Join(strings.Fields(part), " ")) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func TestOperations(t *testing.T) {
	d, err := read(documentOf("Thing: { type: object, properties: { a: { type: string } } }", `
/v1/things/{id}:
  post:
    operationId: makeThing
    parameters:
      - { name: Idempotency-Key, in: header }
      - { name: limit, in: query, schema: { type: integer } }
    requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } }
    responses: { '201': { content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } } }
/text:
  get: { operationId: getText, responses: { '200': { content: { text/plain: { schema: { type: string } } } } } }`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := goOperations(d)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, text, []string{`opMakeThing = operation[MakeThingQuery, Thing, Thing]{"POST", "/v1/things/{id}", true}`, `opGetText = operation[none, none, none]{"GET", "/text", false}`})
	holds(t, tsOperations(d), []string{`makeThing: operation<types.MakeThingQuery, types.Thing, types.Thing>("POST", "/v1/things/{id}", true),`, `getText: operation<void, void, void>("GET", "/text", false),`})
}

// What the types could not express is refused.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ schemas, paths, want string }{
		"an object without a name": {"Thing: { type: object, properties: { a: { type: object, properties: { b: { type: string } } } } }", "/x: {}", "without a name"},
		"no operationId":           {"Thing: { type: string }", "/x: { get: { responses: {} } }", "operationId"},
		"members that differ twice": {`
U: { oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }], discriminator: { propertyName: k, mapping: { a: '#/components/schemas/A' } } }
A: { type: object, properties: { k: { type: string }, d: { $ref: '#/components/schemas/A' }, e: { $ref: '#/components/schemas/A' } } }
B: { type: object, properties: { k: { type: string }, d: { $ref: '#/components/schemas/B' }, e: { $ref: '#/components/schemas/B' } } }`, "/x: {}", "vary"},
	} {
		d, err := read(documentOf(c.schemas, c.paths))
		if err == nil {
			_, _, err = goTypes(d)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
