package api

import (
	"bytes"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Both forms of the description say the same, and have the address of the service.
func TestDescriptionForms(t *testing.T) {
	for address, want := range map[string]string{"": "/", "https://shop.example/purveyor": "https://shop.example/purveyor"} {
		d := newDescription(address)
		inYAML, inJSON := load(t, d.yaml), load(t, d.json())
		if len(inYAML.Servers) != 1 || inYAML.Servers[0].URL != want {
			t.Errorf("%q: the servers are %+v", address, inYAML.Servers)
		}
		if !bytes.Equal(encode(t, inYAML), encode(t, inJSON)) {
			t.Errorf("%q: the JSON is not what the YAML says", address)
		}
	}
	if !bytes.HasPrefix(newDescription("").json(), []byte(`{"openapi":"3.1.0","info":{"title":`)) {
		t.Error("the members have lost their order")
	}
}

// Each route is an operation of the description, by which faults and the log of requests name it.
func TestRoutesAreOperations(t *testing.T) {
	ids := operationIDs()
	for _, r := range Routes {
		if ids[r.Method+" "+r.Path] == "" {
			t.Errorf("%s %s has no operationId", r.Method, r.Path)
		}
	}
}

func load(t *testing.T, text []byte) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func encode(t *testing.T, doc *openapi3.T) []byte {
	t.Helper()
	text, err := doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestYAMLWithoutJSON(t *testing.T) {
	for _, text := range []string{"", "a: !!binary aGk=", "a: .inf", "a: 2026-01-02", "a: 0x1f", "a: [1"} {
		if got, err := yamlToJSON([]byte(text)); err == nil {
			t.Errorf("%q became %s", text, got)
		}
	}
}
