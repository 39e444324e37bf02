package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// node is an object of the description.
type node = map[string]any

// described is the description as a tree.
func described(t *testing.T) node {
	t.Helper()
	var tree node
	if err := json.Unmarshal(newDescription("").json(), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// at returns the value at a path of names, as T. It is the zero value if there is none.
func at[T any](tree node, path ...string) T {
	var v any = tree
	for _, name := range path {
		object, _ := v.(node)
		v = object[name]
	}
	found, _ := v.(T)
	return found
}

// walk calls visit for each object of the description, with its path.
func walk(v any, path string, visit func(path string, n node)) {
	switch v := v.(type) {
	case node:
		visit(path, v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "example" && name != "examples" && name != "value" {
				walk(v[name], path+"/"+name, visit)
			}
		}
	case []any:
		for i, element := range v {
			walk(element, fmt.Sprintf("%s/%d", path, i), visit)
		}
	}
}

// Code generators name types after schemas. A part without a name becomes a type that a
// program cannot name.
func TestEachPartHasAName(t *testing.T) {
	tree := described(t)
	walk(tree, "", func(path string, n node) {
		if schema, ok := n["schema"].(node); ok && strings.HasSuffix(path, "/content/application~1json") && schema["$ref"] == nil {
			t.Errorf("%s: the schema of a body has no name", path)
		}
	})
	for name, schema := range at[node](tree, "components", "schemas") {
		walk(schema, name, func(path string, n node) {
			if path != name && !strings.HasSuffix(path, "/properties") && anonymous(n) {
				t.Errorf("%s: give this part a schema of its own", path)
			}
		})
	}
}

// anonymous reports whether a schema inside another one is an object, an enum, or a choice
// of something else than a value or null.
func anonymous(schema node) bool {
	if schema["properties"] != nil || schema["type"] == "object" || schema["enum"] != nil && schema["type"] != nil || schema["allOf"] != nil || schema["oneOf"] != nil {
		return true
	}
	choices, ok := schema["anyOf"].([]any)
	return ok && (len(choices) != 2 || choices[0].(node)["$ref"] == nil || choices[1].(node)["type"] != "null")
}

// Some generators put all names into one package.
func TestNamesAreUniqueAndUsed(t *testing.T) {
	tree := described(t)
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for section, named := range at[node](tree, "components") {
		if section == "securitySchemes" {
			continue
		}
		for name := range named.(node) {
			if !bytes.Contains(text, []byte(`"#/components/`+section+"/"+name+`"`)) {
				t.Errorf("%s in %s is not used", name, section)
			}
			if section == "examples" {
				continue
			}
			if other := seen[name]; other != "" {
				t.Errorf("%s is in %s and in %s", name, other, section)
			}
			seen[name] = section
		}
	}
}

// Without a format a number becomes a float32 in Go, and a price of 262144.01 is rounded.
func TestNumbersHaveFormats(t *testing.T) {
	formats := map[string][]string{"number": {"double"}, "integer": {"int32", "int64"}}
	walk(described(t), "", func(path string, n node) {
		if strings.HasSuffix(path, "/properties") {
			return
		}
		for _, kind := range typesOf(n) {
			format, _ := n["format"].(string)
			if allowed := formats[kind]; allowed != nil && !slices.Contains(allowed, format) {
				t.Errorf("%s: a %s needs a format of %v", path, kind, allowed)
			}
		}
		if slices.Contains(textsOf(n["enum"]), "<nil>") {
			t.Errorf("%s: generators cannot name null in an enum; use anyOf", path)
		}
	})
}

func typesOf(schema node) []string {
	if kind, ok := schema["type"].(string); ok {
		return []string{kind}
	}
	return textsOf(schema["type"])
}

func textsOf(v any) (texts []string) {
	list, _ := v.([]any)
	for _, element := range list {
		texts = append(texts, fmt.Sprint(element))
	}
	return texts
}

// What a request may have is bounded. A default in a body makes the field required in some
// generators' types. A time in an example of a request is soon too old.
func TestRequests(t *testing.T) {
	tree := described(t)
	inRequests(tree, func(path string, schema node) {
		walk(schema, path, func(path string, n node) {
			if strings.HasSuffix(path, "/properties") {
				return
			}
			if n["default"] != nil {
				t.Errorf("%s: tell the default in words", path)
			}
			kinds := typesOf(n)
			if slices.Contains(kinds, "string") && n["maxLength"] == nil && n["enum"] == nil && n["const"] == nil && n["x-extensible-enum"] == nil {
				t.Errorf("%s: the longest text is not told", path)
			}
			if slices.Contains(kinds, "array") && n["maxItems"] == nil {
				t.Errorf("%s: the longest list is not told", path)
			}
			if slices.Contains(kinds, "integer") && n["minimum"] == nil {
				t.Errorf("%s: the least number is not told", path)
			}
		})
	})
	moment := regexp.MustCompile(`:1[0-9]{12}\b`)
	walk(tree["paths"], "", func(path string, n node) {
		for _, name := range []string{"example", "examples"} {
			text, err := json.Marshal(n[name])
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(path, "/requestBody/") && moment.Match(text) {
				t.Errorf("%s: leave the time out of the example", path)
			}
		}
	})
}

// inRequests visits each schema that the body of a request refers to, once.
func inRequests(tree node, visit func(path string, schema node)) {
	schemas, seen := at[node](tree, "components", "schemas"), map[string]bool{}
	var follow func(v any)
	follow = func(v any) {
		walk(v, "", func(_ string, n node) {
			ref, _ := n["$ref"].(string)
			name, is := strings.CutPrefix(ref, "#/components/schemas/")
			if is && !seen[name] {
				seen[name] = true
				visit(name, schemas[name].(node))
				follow(schemas[name])
			}
		})
	}
	walk(tree["paths"], "", func(path string, n node) {
		if strings.HasSuffix(path, "/requestBody") {
			follow(n)
		}
	})
}

// Generators copy descriptions into each file and each use.
func TestDescriptionsAreShort(t *testing.T) {
	tree := described(t)
	const screen = 2_500
	if text := at[string](tree, "info", "description"); len(text) > screen {
		t.Errorf("the description of the API has %d characters; tags tell the rest", len(text))
	}
	tags := map[string]bool{}
	for _, tag := range tree["tags"].([]any) {
		tags[tag.(node)["name"].(string)] = true
	}
	walk(tree, "", func(path string, n node) {
		text, _ := n["description"].(string)
		if prose := withoutTables(text); len(prose) > 3_500 {
			t.Errorf("%s: the description has %d characters", path, len(prose))
		}
		if summary, _ := n["summary"].(string); len(summary) > 80 && path != "/info" {
			t.Errorf("%s: the summary has %d characters", path, len(summary))
		}
		if n["operationId"] == nil {
			return
		}
		if n["summary"] == nil || text == "" || len(textsOf(n["tags"])) != 1 || !tags[textsOf(n["tags"])[0]] {
			t.Errorf("%s: an operation has a summary, a description and one tag that is described", path)
		}
	})
}

func withoutTables(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "|") }), "\n")
}

// Each operation with a key can be refused in these ways.
func TestOperationsNameTheirRefusals(t *testing.T) {
	walk(described(t)["paths"], "", func(path string, n node) {
		if n["operationId"] == nil || n["security"] != nil {
			return
		}
		statuses := []string{"401", "429", "500"}
		if n["requestBody"] != nil {
			statuses = append(statuses, "400")
		}
		if len(textsOf(n["x-required-scopes"])) > 0 {
			statuses = append(statuses, "403")
		}
		for _, status := range statuses {
			if at[node](n, "responses", status) == nil {
				t.Errorf("%s: %s is not described", path, status)
			}
		}
	})
}

// Each kind of event has an entry of webhooks and a schema, and no other kind has.
func TestEventsAreDescribed(t *testing.T) {
	tree := described(t)
	want := make([]string, len(commerce.WebhookKinds))
	for i, kind := range commerce.WebhookKinds {
		want[i] = string(kind)
	}
	slices.Sort(want)
	schemas := at[node](tree, "components", "schemas")
	mapping := at[node](schemas, "WebhookEvent", "discriminator", "mapping")
	for place, have := range map[string][]string{
		"webhooks":     slices.Sorted(maps.Keys(tree["webhooks"].(node))),
		"WebhookEvent": slices.Sorted(maps.Keys(mapping)),
		"OtherEvent":   slices.Sorted(slices.Values(textsOf(at[any](schemas, "OtherEvent", "properties", "event", "not", "enum")))),
	} {
		if !slices.Equal(have, want) {
			t.Errorf("%s has the kinds\n%v, want\n%v", place, have, want)
		}
	}
	members := len(at[[]any](schemas, "WebhookEvent", "oneOf"))
	if members != len(want)+1 {
		t.Errorf("WebhookEvent has %d members, want one for each kind and OtherEvent", members)
	}
	for kind, ref := range mapping {
		name := strings.TrimPrefix(ref.(string), "#/components/schemas/")
		if got := at[string](schemas, name, "properties", "event", "const"); got != kind {
			t.Errorf("the schema of %s, %s, is of %q", kind, name, got)
		}
		if got := at[string](tree, "webhooks", kind, "post", "requestBody", "content", "application/json", "schema", "$ref"); got != ref {
			t.Errorf("the entry %s of webhooks has the schema %q", kind, got)
		}
	}
}

// The lists of codes and kinds have each that the program has, and no other, and their
// descriptions tell what each means.
func TestListsAreComplete(t *testing.T) {
	text, front := source(t, ".."), source(t, ".", "../web", "../commit") // commands have codes for others than partners, too
	schemas := at[node](described(t), "components", "schemas")
	for name, inCode := range map[string][]string{
		"TimelineEventKind": matches(text, `TimelineKind += "([a-z_.]+)"`),
		"NoteCode":          append(matches(text, `addNote\("([a-z_]+)"`), matches(text, `AttentionCode += "([a-z_]+)"`)...),
		"ErrorCode":         append(matches(front, `Code: +"([a-z_]+)"`), matches(front, `Conflict\("([a-z_]+)"`)...),
	} {
		listed := textsOf(at[any](schemas, name, "x-extensible-enum"))
		for _, value := range inCode {
			if !slices.Contains(listed, value) && value != string(commerce.AttentionRefundRequested) { // it has an event of its own and no note
				t.Errorf("%s lacks %s", name, value)
			}
		}
		for _, value := range listed {
			if !strings.Contains(text, `"`+strings.TrimSuffix(value, "_not_configured")+`"`) {
				t.Errorf("%s has %s, which the program does not know", name, value)
			}
		}
	}
	for name, schema := range schemas {
		for _, value := range textsOf(schema.(node)["x-extensible-enum"]) {
			if !strings.Contains(schema.(node)["description"].(string), "`"+value+"`") {
				t.Errorf("the description of %s does not tell what %s means", name, value)
			}
		}
	}
}

// matches returns the first group of each match.
func matches(text, pattern string) (values []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		values = append(values, m[1])
	}
	return values
}

// source is the text of all Go files below these folders, except for tests.
func source(t *testing.T, folders ...string) string {
	t.Helper()
	var text strings.Builder
	read := func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := os.ReadFile(path)
		text.Write(file)
		return err
	}
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, read); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}
