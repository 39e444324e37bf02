package openapi

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Value is a JSON value of the document, such as an example. The zero Value is none.
type Value struct{ node *yaml.Node }

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *Value) UnmarshalYAML(node *yaml.Node) error {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	v.node = node
	return nil
}

// Text returns the Value of a text.
func Text(s string) Value {
	return Value{&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}}
}

// IsZero reports whether there is no value.
func (v Value) IsZero() bool { return v.node == nil }

// Null reports whether the value is null.
func (v Value) Null() bool { return v.node != nil && v.node.ShortTag() == "!!null" }

// IsText reports whether the value is a text.
func (v Value) IsText() bool {
	return v.node != nil && v.node.Kind == yaml.ScalarNode && v.node.ShortTag() == "!!str"
}

// Text returns a text without quotes, and another scalar as JSON writes it.
func (v Value) Text() string {
	if v.node == nil {
		return ""
	}
	if v.Null() {
		return "null"
	}
	return v.node.Value
}

// Members returns the members of an object.
func (v Value) Members() (list []Entry[Value]) {
	if v.node == nil || v.node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(v.node.Content); i += 2 {
		var member Value
		_ = member.UnmarshalYAML(v.node.Content[i+1]) // never fails
		list = append(list, Entry[Value]{v.node.Content[i].Value, member})
	}
	return list
}

// Member returns a member of an object.
func (v Value) Member(name string) Value {
	for _, m := range v.Members() {
		if m.Name == name {
			return m.Value
		}
	}
	return Value{}
}

// Items returns the items of an array.
func (v Value) Items() (list []Value) {
	if !v.IsArray() {
		return nil
	}
	for _, n := range v.node.Content {
		var item Value
		_ = item.UnmarshalYAML(n) // never fails
		list = append(list, item)
	}
	return list
}

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.node != nil && v.node.Kind == yaml.MappingNode }

// IsArray reports whether the value is an array.
func (v Value) IsArray() bool { return v.node != nil && v.node.Kind == yaml.SequenceNode }

// Object makes an object.
func Object(members []Entry[Value]) Value {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, m := range members {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: m.Name}, m.Value.node)
	}
	return Value{n}
}

// Array makes an array.
func Array(items ...Value) Value {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, item := range items {
		n.Content = append(n.Content, item.node)
	}
	return Value{n}
}

// Scalar makes a number, a boolean or null from what JSON writes.
func Scalar(text string) Value {
	return Value{&yaml.Node{Kind: yaml.ScalarNode, Value: text}}
}

// lineWidth is the width up to which an object or array of scalars stays on one line.
const lineWidth = 64

// JSON writes a value in lines.
func (v Value) JSON() string {
	var b strings.Builder
	v.write(&b, "", 0)
	return b.String()
}

// Line writes a value in one line.
func (v Value) Line() string {
	var b strings.Builder
	v.writeLine(&b)
	return b.String()
}

func (v Value) write(b *strings.Builder, indent string, before int) {
	children := v.children()
	if len(children) == 0 {
		v.writeLine(b)
		return
	}
	if v.flat() {
		if line := v.Line(); len(indent)+before+len(line) <= lineWidth {
			b.WriteString(line)
			return
		}
	}
	inner := indent + "  "
	b.WriteString(v.brackets()[:1] + "\n")
	for i, c := range children {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(inner)
		label := ""
		if v.IsObject() {
			label = quote(c.Name) + ": "
		}
		b.WriteString(label)
		c.Value.write(b, inner, len(label))
	}
	b.WriteString("\n" + indent + v.brackets()[1:])
}

func (v Value) writeLine(b *strings.Builder) {
	switch {
	case v.IsText():
		b.WriteString(quote(v.node.Value))
		return
	case !v.IsObject() && !v.IsArray():
		b.WriteString(v.Text())
		return
	}
	b.WriteString(v.brackets()[:1])
	for i, c := range v.children() {
		if i > 0 {
			b.WriteString(", ")
		}
		if v.IsObject() {
			b.WriteString(quote(c.Name) + ": ")
		}
		c.Value.writeLine(b)
	}
	b.WriteString(v.brackets()[1:])
}

func (v Value) brackets() string {
	if v.IsObject() {
		return "{}"
	}
	return "[]"
}

func (v Value) children() []Entry[Value] {
	if v.IsObject() {
		return v.Members()
	}
	var list []Entry[Value]
	for _, item := range v.Items() {
		list = append(list, Entry[Value]{Value: item})
	}
	return list
}

// flat reports whether a value contains scalars only.
func (v Value) flat() bool {
	for _, c := range v.children() {
		if len(c.Value.children()) > 0 {
			return false
		}
	}
	return true
}

// quote writes a text as JSON does, without the escapes that only HTML needs.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text has an encoding
	return strings.TrimSuffix(b.String(), "\n")
}
