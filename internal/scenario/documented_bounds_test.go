package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/api"
)

// The document tells the bounds that are enforced: for each part of each good body, the
// service takes the last value that is allowed, and refuses the first that is not.
func TestDocumentedBounds(t *testing.T) {
	doc := documentTree(t)
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for i, route := range api.Routes {
			if sampleOf(route) == "" {
				continue
			}
			t.Run(route.Path, func(t *testing.T) {
				c := w.good(t, route, "busy", fmt.Sprint("d", i))
				for n, e := range edgesOf(t, doc, route, c.body) {
					c.body, c.idem = e.body, fmt.Sprint("edge ", i, " ", n)
					if e.allowed {
						w.doesNotMind(t, c, e)
					} else {
						w.refusesEdge(t, c, e)
					}
				}
			})
		}
	})
}

// edge is a body with one part at a bound, or just beyond it.
type edge struct {
	body, field string
	allowed     bool
	what        string
}

// aboutShape matches what the service says of values that are out of bounds. It may refuse
// others for what they mean.
var aboutShape = regexp.MustCompile(`is longer than|must be from|must have at (most|least)|must be (an integer|a number|a string|above)|holds control|is missing`)

func (w *world) doesNotMind(t *testing.T, c call, e edge) {
	t.Helper()
	a := w.do(t, c)
	if status, refusal := refusalOf(a); status == http.StatusBadRequest && refusal.Field == e.field && aboutShape.MatchString(refusal.Error) {
		t.Errorf("the document allows %s as %s: %s", e.what, e.field, a.body)
	}
}

func (w *world) refusesEdge(t *testing.T, c call, e edge) {
	t.Helper()
	a := w.do(t, c)
	status, refusal := refusalOf(a)
	if status != http.StatusBadRequest || refusal.Code != "invalid_body" || !strings.HasPrefix(refusal.Field, e.field) {
		t.Errorf("the document does not allow %s as %s: %d %.300s", e.what, e.field, a.status, a.body)
	}
}

func documentTree(t *testing.T) map[string]any {
	t.Helper()
	text, err := theContract().doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// edgesOf makes the edges of each part of a good body.
func edgesOf(t *testing.T, doc map[string]any, route api.Route, good string) (list []edge) {
	t.Helper()
	var whole any
	if err := json.Unmarshal([]byte(good), &whole); err != nil {
		t.Fatal(err)
	}
	schema := member(doc, "paths", route.Path, strings.ToLower(route.Method), "requestBody", "content", "application/json", "schema")
	visit("", whole, func(field string, value any, replace func(any)) {
		add := func(other any, allowed bool, what string) {
			replace(other)
			body, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, edge{string(body), field, allowed, what})
		}
		for _, s := range schemasAt(doc, schema, field) {
			switch value := value.(type) {
			case string:
				textEdges(s, value, add)
			case float64:
				numberEdges(s, add)
			case []any:
				listEdges(s, value, add)
			}
		}
		replace(value)
	})
	slices.SortStableFunc(list, func(a, b edge) int { return strings.Compare(a.field, b.field) })
	return list
}

func textEdges(schema map[string]any, good string, add func(value any, allowed bool, what string)) {
	if most, ok := schema["maxLength"].(float64); ok {
		padded := func(n int) string { return good + strings.Repeat("x", n-len(good)) }
		add(padded(int(most)), true, fmt.Sprintf("%v characters", most))
		add(padded(int(most)+1), false, fmt.Sprintf("%v characters", most+1))
	}
	if least, ok := schema["minLength"].(float64); ok && least > 0 {
		add("", false, "empty text")
	}
	if schema["enum"] != nil {
		add("no such value", false, "another value")
	}
}

func numberEdges(schema map[string]any, add func(value any, allowed bool, what string)) {
	for bound, beyond := range map[string]float64{"maximum": 1, "minimum": -1} {
		if v, ok := schema[bound].(float64); ok {
			add(v, true, fmt.Sprint(v))
			add(v+beyond, false, fmt.Sprint(v+beyond))
		}
	}
	if v, ok := schema["exclusiveMinimum"].(float64); ok {
		add(v, false, fmt.Sprint(v))
	}
}

func listEdges(schema map[string]any, good []any, add func(value any, allowed bool, what string)) {
	if most, ok := schema["maxItems"].(float64); ok {
		add(slices.Repeat(good[:1], int(most)), true, fmt.Sprintf("%v elements", most))
		add(slices.Repeat(good[:1], int(most)+1), false, fmt.Sprintf("%v elements", most+1))
	}
	if least, ok := schema["minItems"].(float64); ok && least > 0 {
		add([]any{}, false, "an empty list")
	}
}

// schemasAt are the alternatives for a part of a body.
func schemasAt(doc map[string]any, schema any, field string) []map[string]any {
	here := alternatives(doc, schema)
	for _, name := range strings.FieldsFunc(field, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		var next []map[string]any
		for _, s := range here {
			part := member(s, "properties", name)
			switch {
			case name[0] <= '9':
				part = s["items"]
			case part == nil:
				part = s["additionalProperties"]
			}
			next = append(next, alternatives(doc, part)...)
		}
		here = next
	}
	return here
}

// alternatives follows references and choices to schemas with a type.
func alternatives(doc map[string]any, schema any) (list []map[string]any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		return alternatives(doc, member(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
	}
	for _, choice := range []string{"anyOf", "oneOf"} {
		members, _ := s[choice].([]any)
		for _, m := range members {
			list = append(list, alternatives(doc, m)...)
		}
	}
	if s["type"] != nil {
		list = append(list, s)
	}
	return list
}

func member(tree any, path ...string) any {
	for _, name := range path {
		object, _ := tree.(map[string]any)
		tree = object[name]
	}
	return tree
}
