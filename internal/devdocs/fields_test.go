package devdocs

import (
	"slices"
	"strings"
	"testing"
)

const shapes = `openapi: 3.1.0
info: {title: Shop}
paths:
  /things:
    post:
      operationId: makeThing
      requestBody:
        content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}
      responses:
        '201': {description: Made., content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
components:
  schemas:
    Thing:
      type: object
      required: [name]
      properties:
        name: {type: string, minLength: 1, maxLength: 80}
        note: {type: [string, 'null'], maxLength: 1}
        age: {type: integer, minimum: -1000, maximum: 1234567.5}
        tags: {type: array, minItems: 1, items: {type: string}}
        when: {type: string, format: date-time}
        made: {type: integer, description: As Unix milliseconds.}
        size:
          type: string
          enum: [small, large]
          description: |
            How large.

            | size | meaning |
            |---|---|
            | ` + "`small`" + ` | a *small* one |
        parent: {anyOf: [{$ref: '#/components/schemas/Thing'}, {type: 'null'}]}
        place: {description: A text or parts., anyOf: [{type: string}, {$ref: '#/components/schemas/Place'}]}
        colours: {type: object, additionalProperties: {type: string}}
        limit: {type: integer, default: 100}
        ok: {type: boolean, const: true}
        codes: {type: array, items: {type: string, x-extensible-enum: [a, b]}}
    Place: {type: object, properties: {city: {type: string}}}
`

func thing(t *testing.T, part string) map[string]field {
	t.Helper()
	o := options(address)
	o.Document = []byte(shapes)
	s, err := newSite(o)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.view(s.document.Operations[0])
	if err != nil {
		t.Fatal(err)
	}
	body := page.Body
	if part == "answer" {
		body = page.Answers[0].Body
	}
	fields := map[string]field{}
	for _, f := range body.Fields {
		fields[f.Name] = f
	}
	return fields
}

func TestFields(t *testing.T) {
	fields := thing(t, "request")
	for name, want := range map[string]string{
		"name":    "string|1 to 80 characters",
		"note":    "string or null|at most 1 character",
		"age":     "integer|-1,000 to 1,234,567.5",
		"tags":    "array of strings|at least 1 entry",
		"when":    "string, ISO 8601 time|",
		"made":    "integer, Unix ms|",
		"size":    "string|",
		"parent":  "object or null|",
		"place":   "string or object|",
		"colours": "object|",
		"limit":   "integer|default 100",
		"ok":      "boolean|always true",
		"codes":   "array of strings|",
	} {
		if got := fields[name].Type + "|" + strings.Join(fields[name].Facts, "; "); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
	if !fields["name"].Required || fields["name"].Optional || fields["note"].Required || fields["note"].Optional {
		t.Error("what a request must have")
	}
	answer := thing(t, "answer")
	if answer["name"].Required || answer["name"].Optional || !answer["note"].Optional {
		t.Error("what an answer may lack")
	}
	if answer["name"].Anchor == fields["name"].Anchor {
		t.Error("fields of request and answer have one id")
	}
	if len(answer["name"].Facts) != 0 || answer["ok"].Facts[0] != "always true" {
		t.Error("facts of an answer")
	}
	size := fields["size"]
	if len(size.Values) != 2 || size.Values[0].Text != "a <em>small</em> one" || strings.TrimSpace(string(size.Text)) != "<p>How large.</p>" || size.Plain() || size.Open {
		t.Errorf("%+v", size)
	}
	if codes := fields["codes"]; len(codes.Values) != 2 || !codes.Open || !codes.Plain() {
		t.Errorf("%+v", codes)
	}
	if parent := fields["parent"]; len(parent.Fields) != 0 {
		t.Error("a schema inside of itself is shown without end")
	}
	if place := fields["place"]; len(place.Variants) != 2 || place.Variants[0].Name != "string" || place.Variants[1].Name != "place" || len(place.Variants[1].Fields) != 1 {
		t.Errorf("%+v", place)
	}
	if colours := fields["colours"]; len(colours.Fields) != 1 || colours.Fields[0].Name != "any name" {
		t.Errorf("%+v", colours)
	}
}

// TestUnreadable: a document with a reference to nothing has no pages.
func TestUnreadable(t *testing.T) {
	o := options(address)
	o.Document = []byte(strings.Replace(shapes, "schemas/Place'", "schemas/Nowhere'", 1))
	s, err := newSite(o)
	if err == nil {
		_, err = s.view(s.document.Operations[0])
	}
	if err == nil || !strings.Contains(err.Error(), "Nowhere") {
		t.Error(err)
	}
}

func TestRefusalsOf(t *testing.T) {
	list := refusalsOf("Text.\n\n| status | code | meaning |\n|---|---|---|\n| 400 | `a`, `b` | one |\n| 500 | `a` | two |\n", newMarkdown(nil))
	if len(list) != 2 || !slices.Equal(list[0].Codes, []string{"a", "b"}) || !list[0].First("a") || list[1].First("a") {
		t.Fatalf("%+v", list)
	}
	v := viewer{refusals: list}
	if v.meaningOf("a", "500") != "two" || v.meaningOf("a", "409") != "one" || v.meaningOf("c", "400") != "" {
		t.Error("meanings")
	}
	if groups := byStatus(list); len(groups) != 2 || groups[1].Word != "Internal Server Error" {
		t.Errorf("%+v", groups)
	}
}
