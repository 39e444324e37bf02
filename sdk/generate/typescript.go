package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// typescript writes the types and operations of the SDK for TypeScript.
type typescript struct {
	*document
	bytes.Buffer
}

func tsTypes(d *document) []byte {
	t := &typescript{document: d}
	t.WriteString(header)
	for _, s := range d.schemas {
		t.schema(s)
	}
	for _, o := range d.operations {
		if len(o.query) > 0 {
			name := exported(o.id) + "Query"
			t.comment("", "Narrows `"+o.id+"`.")
			t.object(name, o.query)
		}
	}
	return t.Bytes()
}

// schema writes the type of a schema, if it needs one: texts and numbers need none.
func (t *typescript) schema(s named) {
	name := typeName(s.name)
	switch {
	case s.ref != "" || s.kind != "object" && s.values == nil && s.alternatives == nil:
	case s.properties != nil:
		t.comment("", s.description)
		t.object(name, s.properties)
	case s.discriminator != "":
		t.comment("", s.description+"\n\nAn event of a kind that this version of the SDK does not know has the shape of `"+t.otherMember(s)+
			"`, and reaches the `default` of a `switch`, where TypeScript takes it for `never`: assign it to that type.")
		fmt.Fprintf(t, "export type %s =", name)
		for _, m := range s.mapping {
			fmt.Fprintf(t, "\n  | %s", typeName(m.name))
		}
		t.WriteString(";\n\n")
	default:
		rest, _ := table(s.description)
		t.comment("", rest)
		kind := " " + t.typeOf(s.schema)
		if len(kind) > lineLength {
			kind = "\n  | " + strings.ReplaceAll(kind[1:], " | ", "\n  | ")
		}
		fmt.Fprintf(t, "export type %s =%s;\n\n", name, kind)
	}
}

// otherMember returns the member of a union that no value of the discriminator names.
func (t *typescript) otherMember(s named) (name string) {
	known := map[string]bool{}
	for _, m := range s.mapping {
		known[m.name] = true
	}
	for _, a := range s.alternatives {
		if !known[a.ref] {
			name = typeName(a.ref)
		}
	}
	return name
}

func (t *typescript) object(name string, properties []property) {
	fmt.Fprintf(t, "export interface %s {\n", name)
	for _, p := range properties {
		t.comment("  ", describe(t.document, p.schema))
		mark := "?"
		if p.required {
			mark = ""
		}
		fmt.Fprintf(t, "  %s%s: %s;\n", key(p.name), mark, t.typeOf(p.schema))
	}
	t.WriteString("}\n\n")
}

// key quotes a name that is not one of TypeScript.
func key(name string) string {
	if strings.ContainsAny(name, ".-* ") {
		return strconv.Quote(name)
	}
	return name
}

// typeOf returns the type of a schema, with null if it may be.
func (t *typescript) typeOf(s *schema) string {
	text := t.plain(s)
	if _, nullable := t.resolve(s); nullable {
		text += " | null"
	}
	return text
}

func (t *typescript) plain(s *schema) string {
	target, _ := t.resolve(s)
	switch {
	case s.ref != "" && (target.values != nil || target.kind == "object" || target.alternatives != nil):
		if next := t.byName[s.ref]; next.ref != "" {
			return t.plain(next)
		}
		return typeName(s.ref)
	case target.constant != nil:
		return literal(target.constant)
	case target.values != nil:
		return enumeration(target)
	case target.alternatives != nil:
		parts := make([]string, len(target.alternatives))
		for i, a := range target.alternatives {
			parts[i] = t.typeOf(a)
		}
		return strings.Join(parts, " | ")
	case target.kind == "array":
		if text := t.typeOf(target.items); !strings.Contains(text, " ") {
			return text + "[]"
		}
		return "(" + t.typeOf(target.items) + ")[]"
	case target.kind == "object" && target.others != nil && target.others.kind+target.others.ref != "":
		return "{ [name: string]: " + t.typeOf(target.others) + " }"
	case target.kind == "object":
		return "{ [name: string]: unknown }"
	}
	return map[string]string{"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "": "unknown"}[target.kind]
}

// enumeration returns the values of a text. Where more may be added, other texts are allowed,
// in a way that keeps the values that are known for completion in an editor.
func enumeration(s *schema) string {
	values := make([]string, len(s.values))
	for i, value := range s.values {
		values[i] = strconv.Quote(value)
	}
	if s.open {
		values = append(values, "(string & {})")
	}
	return strings.Join(values, " | ")
}

func (t *typescript) comment(indent, text string) {
	lines := wrap(strings.ReplaceAll(text, "*/", "* /"), lineLength)
	switch len(lines) {
	case 0:
	case 1:
		fmt.Fprintf(t, "%s/** %s */\n", indent, lines[0])
	default:
		fmt.Fprintf(t, "%s/**\n", indent)
		for _, line := range lines {
			fmt.Fprintln(t, strings.TrimRight(indent+" * "+line, " "))
		}
		fmt.Fprintf(t, "%s */\n", indent)
	}
}

func tsOperations(d *document) []byte {
	t := &typescript{document: d}
	var body bytes.Buffer
	for _, o := range d.operations {
		kinds := [3]string{"void", "void", "void"}
		if len(o.query) > 0 {
			kinds[0] = "types." + exported(o.id) + "Query"
		}
		for i, s := range []*schema{o.body, o.reply} {
			if s == nil {
				continue
			}
			kinds[i+1] = t.typeOf(s)
			if s.ref != "" {
				kinds[i+1] = "types." + kinds[i+1]
			}
		}
		fmt.Fprintf(&body, "  %s: operation<%s>(%q, %q, %t),\n", o.id, strings.Join(kinds[:], ", "), o.method, o.path, o.keyed)
	}
	t.WriteString(header + "import { operation } from \"./operation.js\";\nimport type * as types from \"./types.js\";\n\nexport const operations = {\n" + body.String() + "};\n")
	return t.Bytes()
}
