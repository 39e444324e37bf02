package sample

import (
	"strconv"
	"strings"
	"unicode"

	"purveyor/internal/devdocs/openapi"
)

// Go returns the call as the body of a function that uses the SDK; empty: the SDK has no
// method for it.
func Go(c Call) string {
	method := methods[c.Operation.ID]
	if method == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("client, err := purveyor.New(" + strconv.Quote(c.Base) + ", os.Getenv(\"PURVEYOR_KEY\"), purveyor.Options{})\n" + orReturn + "\n")
	call := "client." + method + "(" + strings.Join(c.goArguments(), ", ") + ")"
	if c.streams() {
		b.WriteString("for update, err := range " + call + " {\n\tif err != nil {\n\t\treturn err\n\t}\n\tfmt.Println(update.Kind, string(update.Data))\n}\n")
	} else {
		b.WriteString("reply, err := " + call + "\n" + orReturn + "fmt.Printf(\"%+v\\n\", reply)\n")
	}
	return b.String()
}

const orReturn = "if err != nil {\n\treturn err\n}\n"

func (c Call) goArguments() []string {
	args := []string{"ctx"}
	for _, p := range c.in("path") {
		args = append(args, strconv.Quote(value(p)))
	}
	if len(c.in("query")) > 0 && c.Operation.Body == nil { // with a body, each choice in the query is a method of its own
		literal := "purveyor." + exported(c.Operation.ID) + "Query{"
		for _, p := range c.query() {
			literal += exported(p.Name) + ": " + c.goQuery(p)
		}
		args = append(args, literal+"}")
	}
	if c.streams() {
		args = append(args, "purveyor.Tracking{}")
	}
	if schema := c.bodySchema(); schema != nil {
		args = append(args, c.goValue(c.unwrapped(), schema, true, "", ""))
	}
	if key := c.IdempotencyKey(); key != "" {
		args = append(args, "purveyor.WithIdempotencyKey("+strconv.Quote(key)+")")
	}
	return args
}

func (c Call) goQuery(p *openapi.Parameter) string {
	s, err := c.Document.Resolve(p.Schema)
	switch {
	case err == nil && s.Kind() == "boolean":
		return "purveyor.Ptr(" + p.Example.Text() + ")"
	case p.Example.IsText():
		return strconv.Quote(p.Example.Text())
	}
	return p.Example.Text()
}

// bodySchema is the schema of the body that the SDK takes; nil: it takes none, as of an object
// that has no members. Of a union it takes the first.
func (c Call) bodySchema() *openapi.Schema {
	if c.Operation.Body == nil {
		return nil
	}
	content, ok := c.Operation.Body.Content.Of("application/json")
	if !ok {
		return nil
	}
	s, err := c.Document.Resolve(content.Schema)
	if err == nil && len(s.Variants) > 0 {
		s, err = c.Document.Resolve(s.Variants[0])
	}
	if err != nil || s.Kind() == "object" && len(s.Properties) == 0 {
		return nil
	}
	return s
}

// unwrapped is the body without the object around it that the union of the body allows.
func (c Call) unwrapped() openapi.Value {
	s := c.bodySchema()
	if s == nil {
		return openapi.Value{}
	}
	if len(c.Body.Members()) == 1 {
		only := c.Body.Members()[0]
		if _, known := s.Properties.Of(only.Name); !known && only.Value.IsObject() {
			return only.Value
		}
	}
	return c.Body
}

// goValue writes a value of a schema as a literal. One that may be absent or null is a
// pointer, unless its zero value says so by itself: the SDK has the same rule. The type of the
// items of a list goes without saying.
func (c Call) goValue(v openapi.Value, schema *openapi.Schema, required bool, indent, kind string) string {
	s, err := c.Document.Resolve(schema)
	if err != nil || v.Null() {
		return "nil"
	}
	switch {
	case len(s.Variants) > 0:
		return c.goVariant(v, s, indent)
	case s.Kind() == "array":
		return c.goList(v, s, indent)
	case s.Kind() == "object" && len(s.Properties) > 0:
		literal := kind + c.goObject(v, s, indent)
		if kind == "" {
			literal = "purveyor." + typeName(s.Name) + literal
		}
		if !required || s.Nullable {
			return "&" + literal
		}
		return strings.TrimPrefix(literal, itemKind)
	case s.Kind() == "object":
		return c.goMap(v, s)
	}
	return c.goScalar(v, s, required)
}

// itemKind marks an item of a list, of which the type is left out.
const itemKind = "\x00"

func (c Call) goVariant(v openapi.Value, s *openapi.Schema, indent string) string {
	if !v.IsObject() {
		return c.goScalar(v, s, true)
	}
	for _, variant := range s.Variants {
		if r, err := c.Document.Resolve(variant); err == nil && r.Kind() == "object" {
			return c.goValue(v, variant, true, indent, "")
		}
	}
	return "nil"
}

func (c Call) goScalar(v openapi.Value, s *openapi.Schema, required bool) string {
	literal := v.Text()
	if v.IsText() {
		literal = strconv.Quote(v.Text())
	}
	text := s.Kind() == "string" && s.Format != "date-time"
	saysItself := !s.Nullable && text && (s.MinLength != "" && s.MinLength != "0" || len(valuesOf(s)) > 0 || !s.Const.IsZero())
	if required && !s.Nullable || saysItself || len(s.Variants) > 0 {
		return literal
	}
	kind := ""
	switch {
	case s.Kind() == "integer" && strings.Contains(s.Description, "Unix milliseconds"):
		kind = "[purveyor.UnixMillis]"
	case s.Kind() == "integer":
		kind = "[int64]"
	case s.Kind() == "number":
		kind = "[float64]"
	case len(valuesOf(s)) > 0:
		kind = "[purveyor." + typeName(s.Name) + "]"
	}
	return "purveyor.Ptr" + kind + "(" + literal + ")"
}

func valuesOf(s *openapi.Schema) []string {
	list := s.Known
	for _, v := range s.Enum {
		list = append(list, v.Text())
	}
	return list
}

// line is a line of a literal: a name and its value.
type line struct{ name, value string }

func (c Call) goObject(v openapi.Value, s *openapi.Schema, indent string) string {
	var lines []line
	for _, m := range v.Members() {
		p, known := s.Properties.Of(m.Name)
		if !known {
			continue
		}
		lines = append(lines, line{exported(m.Name) + ":", c.goValue(m.Value, p, s.Requires(m.Name), indent+"\t", "")})
	}
	one := make([]string, len(lines))
	size, broken := len(indent), false
	for i, l := range lines {
		one[i] = l.name + " " + l.value
		size += len(one[i])
		broken = broken || strings.Contains(l.value, "\n")
	}
	if !broken && size <= 64 && len(lines) <= 4 {
		return "{" + strings.Join(one, ", ") + "}"
	}
	return "{\n" + aligned(lines, indent+"\t") + indent + "}"
}

// aligned writes lines as gofmt does: values of neighbouring lines begin in one column.
func aligned(lines []line, indent string) string {
	var b strings.Builder
	for i := 0; i < len(lines); {
		end, width := i, 0
		for end < len(lines) {
			width = max(width, len(lines[end].name))
			end++
			if strings.Contains(lines[end-1].value, "\n") {
				break
			}
		}
		if end-i > 1 && strings.Contains(lines[end-1].value, "\n") { // it stands alone
			end--
			width = 0
			for _, l := range lines[i:end] {
				width = max(width, len(l.name))
			}
		}
		for _, l := range lines[i:end] {
			b.WriteString(indent + l.name + strings.Repeat(" ", width-len(l.name)+1) + l.value + ",\n")
		}
		i = end
	}
	return b.String()
}

func (c Call) goList(v openapi.Value, s *openapi.Schema, indent string) string {
	items, err := c.Document.Resolve(s.Items)
	if err != nil {
		return "nil"
	}
	kind := "string"
	switch {
	case items.Kind() == "object" || items.Name != "" && len(valuesOf(items)) > 0:
		kind = "purveyor." + typeName(items.Name)
	case items.Kind() == "integer":
		kind = "int64"
	}
	var values []string
	size, broken := len(indent), false
	for _, item := range v.Items() {
		literal := c.goValue(item, s.Items, true, indent+"\t", itemKind)
		values = append(values, literal)
		size += len(literal)
		broken = broken || strings.Contains(literal, "\n")
	}
	if !broken && size <= 48 || len(values) == 0 {
		return "[]" + kind + "{" + strings.Join(values, ", ") + "}"
	}
	return "[]" + kind + "{\n" + indent + "\t" + strings.Join(values, ",\n"+indent+"\t") + ",\n" + indent + "}"
}

func (c Call) goMap(v openapi.Value, s *openapi.Schema) string {
	kind, pointers := "json.RawMessage", false
	if s.Others != nil && s.Others.Schema != nil {
		if r, err := c.Document.Resolve(s.Others.Schema); err == nil && r.Kind() == "string" {
			kind, pointers = "string", r.Nullable
		}
	}
	if pointers {
		kind = "*" + kind
	}
	var list []string
	for _, m := range v.Members() {
		literal := "nil"
		if !m.Value.Null() {
			literal = strconv.Quote(m.Value.Text())
			if pointers {
				literal = "purveyor.Ptr(" + literal + ")"
			}
		}
		list = append(list, strconv.Quote(m.Name)+": "+literal)
	}
	return "map[string]" + kind + "{" + strings.Join(list, ", ") + "}"
}

// renamed are types whose own name would say something else in an SDK.
var renamed = map[string]string{"Error": "ErrorBody", "WebhookEventKind": "EventKind", "WebhookEventData": "EventData"}

func typeName(name string) string {
	name = exported(name)
	if other, ok := renamed[name]; ok {
		return other
	}
	return name
}

// initialisms are written in capitals in names of Go.
var initialisms = map[string]string{"id": "ID", "ids": "IDs", "url": "URL", "urls": "URLs", "sku": "SKU", "eta": "ETA", "ok": "OK", "api": "API", "json": "JSON"}

// exported returns a name of the document as an exported name of Go.
func exported(name string) string {
	var b strings.Builder
	for _, word := range wordsOf(name) {
		if all, ok := initialisms[strings.ToLower(word)]; ok {
			b.WriteString(all)
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// wordsOf splits a name at other characters than letters and digits, and before capitals.
func wordsOf(name string) []string {
	var b strings.Builder
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			b.WriteByte(' ')
			continue
		case unicode.IsUpper(c):
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.Fields(b.String())
}
