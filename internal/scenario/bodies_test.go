package scenario

import (
	"bytes"
	"fmt"
	"mime"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bodies checks JSON bodies against the document. kin-openapi compiles a schema for
// each value that it checks, which took a third of the time of all scenarios; bodies
// compiles each once.
type bodies struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by their places in the document
}

const documentURL = "mem:///openapi.json"

func newBodies(doc *openapi3.T) (*bodies, error) {
	text, err := doc.MarshalJSON()
	if err != nil {
		return nil, err
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	closeEnums(tree)
	b := &bodies{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	b.compiler.DefaultDraft(jsonschema.Draft2020)
	b.compiler.AssertFormat()
	return b, b.compiler.AddResource(documentURL, tree)
}

// closeEnums makes each open list of known values an enum: a value that partners may meet
// has to be in the document.
func closeEnums(tree any) {
	switch node := tree.(type) {
	case map[string]any:
		if known, open := node["x-extensible-enum"]; open {
			node["enum"] = known
		}
		for _, child := range node {
			closeEnums(child)
		}
	case []any:
		for _, child := range node {
			closeEnums(child)
		}
	}
}

// request checks the body of a request that the service accepted.
func (b *bodies) request(route *routers.Route, contentType string, body []byte) error {
	ref := route.Operation.RequestBody
	if ref == nil {
		return nil
	}
	if len(body) == 0 {
		if ref.Value.Required {
			return fmt.Errorf("the request has no body")
		}
		return nil
	}
	return b.check(ref.Ref, operationPlace(route)+"/requestBody", ref.Value.Content, contentType, body)
}

// response checks the headers and the body of an answer.
func (b *bodies) response(route *routers.Route, a *answer) error {
	ref := route.Operation.Responses.Status(a.status)
	if ref == nil {
		return fmt.Errorf("the status %d is not in the document", a.status)
	}
	for name, h := range ref.Value.Headers {
		if err := b.header(h, a.header.Values(name)); err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
	}
	if len(ref.Value.Content) == 0 {
		if len(a.body) > 0 {
			return fmt.Errorf("the answer has a body, and should have none")
		}
		return nil
	}
	return b.check(ref.Ref, operationPlace(route)+"/responses/"+strconv.Itoa(a.status), ref.Value.Content, a.header.Get("Content-Type"), a.body)
}

// header checks a header, which is one of the document's components.
func (b *bodies) header(h *openapi3.HeaderRef, values []string) error {
	switch {
	case len(values) == 0 && !h.Value.Required:
		return nil
	case len(values) != 1:
		return fmt.Errorf("it is there %d times", len(values))
	}
	schema, err := b.schema(h.Ref + "/schema")
	if err != nil {
		return err
	}
	if !h.Value.Schema.Value.Type.Is(openapi3.TypeInteger) {
		return schema.Validate(values[0])
	}
	n, err := strconv.Atoi(values[0])
	if err != nil {
		return err
	}
	return schema.Validate(n)
}

// check checks a body against the content at a place, which may be a reference.
func (b *bodies) check(ref, place string, content openapi3.Content, contentType string, body []byte) error {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return fmt.Errorf("the content type %q cannot be parsed: %w", contentType, err)
	}
	if content[kind] == nil {
		return fmt.Errorf("the content type %q is not in the document", contentType)
	}
	if content[kind].Schema == nil || kind != "application/json" {
		return nil
	}
	if ref != "" {
		place = ref
	}
	schema, err := b.schema(place + "/content/" + escape(kind) + "/schema")
	if err != nil {
		return err
	}
	var value any // faster than encoding/json, which reads a body several times
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return schema.Validate(value)
}

func (b *bodies) schema(place string) (*jsonschema.Schema, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.schemas[place]; s != nil {
		return s, nil
	}
	s, err := b.compiler.Compile(documentURL + place)
	if err != nil {
		return nil, err
	}
	b.schemas[place] = s
	return s, nil
}

func operationPlace(route *routers.Route) string {
	return "#/paths/" + escape(route.Path) + "/" + strings.ToLower(route.Method)
}

// escape writes a name as a part of a JSON pointer in a URL.
func escape(name string) string {
	name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(name)
}
