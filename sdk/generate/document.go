package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is what the SDKs need of an OpenAPI document, in its order.
type document struct {
	schemas    []named
	byName     map[string]*schema
	operations []operation
}

type named struct {
	name string
	*schema
}

// schema is a schema of a document. One that refers to another has a ref, and its
// own description if it has one.
type schema struct {
	ref           string
	kind          string // the type: object, array, string, integer, number, boolean; empty: a ref or a union
	nullable      bool
	format        string
	description   string
	nonEmpty      bool // a string of at least one character
	values        []string
	open          bool // more values may be added
	constant      *yaml.Node
	properties    []property
	items         *schema
	others        *schema // of members that have no name in the document; nil: none is promised
	alternatives  []*schema
	discriminator string
	mapping       []mapped
}

type property struct {
	name     string
	required bool
	*schema
}

// mapped is a value of a discriminator, and the name of its schema.
type mapped struct{ value, name string }

// operation is an operation of the API.
type operation struct {
	id, method, path, summary string
	keyed                     bool // it takes an Idempotency-Key
	query                     []property
	body, reply               *schema // nil: there is none, or it is not JSON
}

// read reads an OpenAPI document.
func read(text []byte) (*document, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	r := reader{root: root.Content[0]}
	d := &document{byName: map[string]*schema{}}
	for name, node := range members(at(r.root, "components", "schemas")) {
		s, err := r.schema(node)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		d.schemas = append(d.schemas, named{name, s})
		d.byName[name] = s
	}
	for path, item := range members(at(r.root, "paths")) {
		for method, node := range members(item) {
			o, err := r.operation(path, method, node)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			d.operations = append(d.operations, o)
		}
	}
	return d, nil
}

// resolve follows references to other schemas, and adds up whether one of them takes null.
func (d *document) resolve(s *schema) (target *schema, nullable bool) {
	for nullable = s.nullable; s.ref != ""; nullable = nullable || s.nullable {
		s = d.byName[s.ref]
	}
	return s, nullable
}

type reader struct{ root *yaml.Node }

// schema reads a schema.
func (r reader) schema(node *yaml.Node) (*schema, error) {
	s := &schema{description: text(node, "description"), format: text(node, "format"), constant: at(node, "const"),
		nonEmpty: text(node, "minLength") != "" && text(node, "minLength") != "0"}
	if ref := text(node, "$ref"); ref != "" {
		s.ref = last(ref)
		return s, nil
	}
	for _, kind := range list(at(node, "type")) {
		if kind == "null" {
			s.nullable = true
		} else {
			s.kind = kind
		}
	}
	s.values = slices.DeleteFunc(list(at(node, "enum")), func(v string) bool { return v == "null" })
	if values := list(at(node, "x-extensible-enum")); values != nil {
		s.values, s.open = values, true
	}
	required := list(at(node, "required"))
	for name, member := range members(at(node, "properties")) {
		p, err := r.schema(member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.properties = append(s.properties, property{name, slices.Contains(required, name), p})
	}
	if err := r.parts(node, s); err != nil {
		return nil, err
	}
	return s, r.alternatives(node, s)
}

// parts reads the schemas of items and of members without names.
func (r reader) parts(node *yaml.Node, s *schema) (err error) {
	if items := at(node, "items"); items != nil {
		if s.items, err = r.schema(items); err != nil {
			return err
		}
	}
	switch others := at(node, "additionalProperties"); {
	case others != nil && others.Kind == yaml.MappingNode:
		s.others, err = r.schema(others)
	case others != nil && others.Value == "true":
		s.others = &schema{}
	}
	return err
}

// alternatives reads a union. A union of a schema and null is that schema, nullable.
func (r reader) alternatives(node *yaml.Node, s *schema) error {
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		list := at(node, word)
		if list == nil {
			continue
		}
		for _, member := range list.Content {
			if text(member, "type") == "null" {
				s.nullable = true
				continue
			}
			a, err := r.schema(member)
			if err != nil {
				return err
			}
			s.alternatives = append(s.alternatives, a)
		}
	}
	for value, ref := range members(at(node, "discriminator", "mapping")) {
		s.mapping = append(s.mapping, mapped{value, last(ref.Value)})
	}
	s.discriminator = text(at(node, "discriminator"), "propertyName")
	if len(s.alternatives) == 1 {
		only := *s.alternatives[0]
		only.nullable = only.nullable || s.nullable
		if s.description != "" {
			only.description = s.description
		}
		*s = only
	}
	return nil
}

// operation reads an operation.
func (r reader) operation(path, method string, node *yaml.Node) (operation, error) {
	o := operation{id: text(node, "operationId"), method: strings.ToUpper(method), path: path, summary: text(node, "summary")}
	if o.id == "" {
		return o, fmt.Errorf("it has no operationId")
	}
	for _, parameter := range contents(at(node, "parameters")) {
		parameter = r.follow(parameter)
		switch in, name := text(parameter, "in"), text(parameter, "name"); {
		case in == "header" && strings.EqualFold(name, "Idempotency-Key"):
			o.keyed = true
		case in == "query":
			s, err := r.schema(at(parameter, "schema"))
			if err != nil {
				return o, err
			}
			s.description = text(parameter, "description")
			o.query = append(o.query, property{name, false, s})
		}
	}
	var err error
	if body := r.follow(at(node, "requestBody")); body != nil {
		if o.body, err = r.json(body); err != nil {
			return o, err
		}
	}
	for status, response := range members(at(node, "responses")) {
		if strings.HasPrefix(status, "2") {
			if o.reply, err = r.json(r.follow(response)); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// json returns the schema of a JSON body, nil if it has none.
func (r reader) json(body *yaml.Node) (*schema, error) {
	node := at(body, "content", "application/json", "schema")
	if node == nil {
		return nil, nil
	}
	return r.schema(node)
}

// follow returns what a node refers to, or the node.
func (r reader) follow(node *yaml.Node) *yaml.Node {
	for text(node, "$ref") != "" {
		node = at(r.root, strings.Split(strings.TrimPrefix(text(node, "$ref"), "#/"), "/")...)
	}
	return node
}

// at returns the node at a path of names, nil if there is none.
func at(node *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		var found *yaml.Node
		for key, value := range members(node) {
			if key == name {
				found = value
			}
		}
		node = found
	}
	return node
}

// text returns a member that is a text, empty if there is none.
func text(node *yaml.Node, name string) string {
	if member := at(node, name); member != nil && member.Kind == yaml.ScalarNode {
		return strings.TrimSpace(member.Value)
	}
	return ""
}

// list returns the texts of a list, or the one text that stands in place of it.
func list(node *yaml.Node) (values []string) {
	if node != nil && node.Kind == yaml.ScalarNode {
		return []string{node.Value}
	}
	for _, item := range contents(node) {
		values = append(values, item.Value)
	}
	return values
}

func contents(node *yaml.Node) []*yaml.Node {
	if node == nil {
		return nil
	}
	return node.Content
}

// members ranges over the members of a mapping, in order.
func members(node *yaml.Node) func(func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i < len(node.Content); i += 2 {
			if !yield(node.Content[i].Value, node.Content[i+1]) {
				return
			}
		}
	}
}

// last returns the name at the end of a reference.
func last(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// literal returns a constant as both languages write it.
func literal(node *yaml.Node) string {
	if node.Tag == "!!str" {
		return strconv.Quote(node.Value)
	}
	return node.Value
}
