package importfile

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"purveyor/docs"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is docs/import.schema.json: as a document, and compiled.
func schema(t *testing.T) (map[string]any, *jsonschema.Schema) {
	t.Helper()
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(docs.ImportSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("import.schema.json", tree); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("import.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return tree.(map[string]any), compiled
}

func properties(of any) map[string]any { return of.(map[string]any)["properties"].(map[string]any) }

// valid reports whether a document fits the schema.
func valid(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.Validate(document)
}

// listed has the fields of an element of each list, and an element without problems.
var listed = []struct {
	list, definition string
	fields           reflect.Type
	good             map[string]string
}{
	{"categories", "category", reflect.TypeFor[categoryFields](), map[string]string{"id": `"c"`, "name": `"n"`}},
	{"stores", "store", reflect.TypeFor[storeFields](), map[string]string{"id": `"s"`, "name": `"n"`, "lat": "1", "lng": "2"}},
	{"products", "product", reflect.TypeFor[productFields](), map[string]string{"id": `"p"`, "name": `"n"`, "store_id": `"s"`}},
}

// The schema has each field that is read, and no other, and each has a type or a meaning.
func TestSchemaHasTheFields(t *testing.T) {
	tree, _ := schema(t)
	if got, want := slices.Sorted(maps.Keys(properties(tree))), []string{"$schema", "categories", "products", "stores"}; !slices.Equal(got, want) {
		t.Errorf("the file has %v, want %v", got, want)
	}
	for _, l := range listed {
		got := slices.Sorted(maps.Keys(properties(tree["$defs"].(map[string]any)[l.definition])))
		want := names(l.fields)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s have the fields %v in the schema, and %v are read", l.list, got, want)
		}
	}
}

// values are samples for each field: all kinds, and the numbers and lengths around the bounds.
func values() (list []string) {
	list = []string{`null`, `true`, `{}`, `[]`, `["a"]`, `["a", 5]`, `[" "]`, `[null]`, `""`, `" "`, `"x"`, `"a\nb"`, `"a\u0000"`, `"é"`, `1.5`, `-0.5`, `1e2`}
	for _, n := range []int64{0, 1, 4, 5, 60, 61, 90, 91, 180, 181, 240, 241, 1000, 1001, 10_000, 10_001, 1e9, 1e9 + 1, 9_999_999_999, 10_000_000_000} {
		list = append(list, fmt.Sprint(n), fmt.Sprint(-n))
	}
	for _, n := range []int{255, 256, 500, 501, 2000, 2001, 5000, 5001} {
		long := `"` + strings.Repeat("é", n) + `"`
		list = append(list, long, "["+long+"]")
	}
	for _, n := range []int{50, 51} {
		list = append(list, `["a"`+strings.Repeat(`,"a"`, n-1)+`]`)
	}
	return list
}

// notInSchema reports whether only the program can see what is wrong: names of time zones, and that
// a price has a decimal point.
func notInSchema(field, value string) bool {
	return field == "time_zone" && value[0] == '"' || field == "price" && value == "1e2"
}

// Whatever a field is given, the program and the schema agree about it.
func TestSchemaIsTheDecoder(t *testing.T) {
	_, s := schema(t)
	for _, l := range listed {
		for _, field := range append(names(l.fields), "colour") {
			for _, value := range values() {
				element := maps.Clone(l.good)
				element[field] = value
				var members []string
				for name, v := range element {
					members = append(members, fmt.Sprintf("%q: %s", name, v))
				}
				text := fmt.Sprintf(`{%q: [{%s}]}`, l.list, strings.Join(members, ", "))
				file, err := Parse([]byte(text)), valid(t, s, text)
				if bad := len(file.Problems) > 0; bad != (err != nil) && !(bad && notInSchema(field, value)) {
					t.Errorf("%.200s\nthe program: %v\nthe schema: %v", text, file.Problems, err)
				}
			}
		}
		for field := range l.good { // one after another is missing
			element := maps.Clone(l.good)
			delete(element, field)
			var members []string
			for name, v := range element {
				members = append(members, fmt.Sprintf("%q: %s", name, v))
			}
			text := fmt.Sprintf(`{%q: [{%s}]}`, l.list, strings.Join(members, ", "))
			if file, err := Parse([]byte(text)), valid(t, s, text); len(file.Problems) == 0 || err == nil {
				t.Errorf("%s\nthe program: %v\nthe schema: %v", text, file.Problems, err)
			}
		}
	}
	for text, good := range map[string]bool{`{}`: false, `[]`: false, `{"stores": null}`: false, `{"stores": null, "products": []}`: true, `{"stores": {}}`: false,
		`{"$schema": 5, "stores": []}`: false, `{"$schema": "x", "stores": []}`: true, `{"stores": [5]}`: false, `{"stores": [], "shops": []}`: false} {
		if file, err := Parse([]byte(text)), valid(t, s, text); (len(file.Problems) == 0) != good || (err == nil) != good {
			t.Errorf("%s\nthe program: %v\nthe schema: %v", text, file.Problems, err)
		}
	}
}

// The files that the documents and the demo show fit the schema, and the program reads them.
func TestExamples(t *testing.T) {
	_, s := schema(t)
	demo, err := os.ReadFile(filepath.Join("..", "demo", "catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]string{"demo": string(demo), "whole": whole}
	block := regexp.MustCompile(`(?s)cat > \S+\.json <<'EOF'\n(.*?)\n *EOF`)
	for _, name := range []string{"README.md", "docs/OPERATING.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range block.FindAllStringSubmatch(string(text), -1) {
			examples[fmt.Sprint(name, " ", i)] = m[1]
		}
	}
	if len(examples) < 3 {
		t.Error("no document has an example")
	}
	for name, text := range examples {
		if err := valid(t, s, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if file := Parse([]byte(text)); len(file.Problems) > 0 {
			t.Errorf("%s: %v", name, file.Problems)
		}
	}
}
