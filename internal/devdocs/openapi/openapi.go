// Package openapi reads an OpenAPI document of version 3.1, with everything in the order in
// which the document has it.
package openapi

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is an OpenAPI document. References to parameters, headers, examples and responses
// are followed; those to schemas are left for Resolve.
type Document struct {
	Title, Version, Summary, Description string
	Tags                                 []Tag
	Operations                           []*Operation
	Events                               []*Operation // of the section webhooks; their paths are the kinds
	schemas                              map[string]*Schema
}

// Tag is a subject that operations belong to, or a text that all operations share.
type Tag struct {
	Name        string
	Description string
}

// Operation is a call of the API, or an event that it posts.
type Operation struct {
	ID           string `yaml:"operationId"`
	Method, Path string `yaml:"-"`
	Tags         []string
	Summary      string
	Description  string
	Scopes       []string `yaml:"x-required-scopes"`
	Security     *[]any   // empty: no key is needed; nil: as in the whole document
	Parameters   []*Parameter
	Body         *Body            `yaml:"requestBody"` // nil: there is none
	Answers      ordered[*Answer] `yaml:"responses"`
}

// Parameter is a value in the path, the query or a header.
type Parameter struct {
	Ref         string `yaml:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      *Schema
	Example     Value
}

// Body is what a request or an answer carries.
type Body struct {
	Required bool
	Content  ordered[*Content]
}

// Content is a body in one media type.
type Content struct {
	Schema   *Schema
	Example  Value
	Examples ordered[*Example]
}

// Example is a body that a request or an answer may have.
type Example struct {
	Ref     string `yaml:"$ref"`
	Summary string
	Value   Value
}

// Answer is what an operation answers with a status.
type Answer struct {
	Ref         string `yaml:"$ref"`
	Description string
	Headers     ordered[*Parameter]
	Content     ordered[*Content]
}

// file is the document as it is written.
type file struct {
	Info struct {
		Title, Version, Summary, Description string
	}
	Tags            []Tag
	Paths, Webhooks ordered[ordered[yaml.Node]]
	Components      struct {
		Parameters map[string]*Parameter
		Headers    map[string]*Parameter
		Examples   map[string]*Example
		Responses  map[string]*Answer
		Schemas    map[string]*Schema
	}
}

// methods are the members of a path that are operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// Read reads a document.
func Read(text []byte) (*Document, error) {
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	d := &Document{Title: f.Info.Title, Version: f.Info.Version, Summary: f.Info.Summary, Description: f.Info.Description,
		Tags: f.Tags, schemas: f.Components.Schemas}
	for name, s := range d.schemas {
		s.Name = name
	}
	var err error
	if d.Operations, err = f.operations(f.Paths); err == nil {
		d.Events, err = f.operations(f.Webhooks)
	}
	return d, err
}

func (f *file) operations(paths ordered[ordered[yaml.Node]]) (list []*Operation, err error) {
	for _, path := range paths {
		for _, member := range path.Value {
			if !slices.Contains(methods, member.Name) {
				continue
			}
			o := &Operation{Method: strings.ToUpper(member.Name), Path: path.Name}
			if err = member.Value.Decode(o); err == nil {
				err = f.follow(o)
			}
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", o.Method, o.Path, err)
			}
			list = append(list, o)
		}
	}
	return list, nil
}

// follow puts what an operation refers to in the place of its references.
func (f *file) follow(o *Operation) (err error) {
	for i := range o.Parameters {
		if o.Parameters[i], err = target(o.Parameters[i], o.Parameters[i].Ref, f.Components.Parameters); err != nil {
			return err
		}
	}
	if o.Body != nil {
		if err = f.followExamples(o.Body.Content); err != nil {
			return err
		}
	}
	for i := range o.Answers {
		if o.Answers[i].Value, err = target(o.Answers[i].Value, o.Answers[i].Value.Ref, f.Components.Responses); err != nil {
			return err
		}
		answer := o.Answers[i].Value
		for j := range answer.Headers {
			if answer.Headers[j].Value, err = target(answer.Headers[j].Value, answer.Headers[j].Value.Ref, f.Components.Headers); err != nil {
				return err
			}
		}
		if err = f.followExamples(answer.Content); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) followExamples(contents ordered[*Content]) (err error) {
	for _, content := range contents {
		for i, example := range content.Value.Examples {
			if content.Value.Examples[i].Value, err = target(example.Value, example.Value.Ref, f.Components.Examples); err != nil {
				return err
			}
		}
	}
	return nil
}

// target returns the part that a reference names, or the part itself if it is none.
func target[T any](part T, ref string, parts map[string]T) (T, error) {
	if ref == "" {
		return part, nil
	}
	found, ok := parts[lastOf(ref)]
	if !ok {
		return part, fmt.Errorf("%s is not there", ref)
	}
	return found, nil
}

// lastOf returns the name at the end of a reference.
func lastOf(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// Keyless reports whether an operation needs no key.
func (o *Operation) Keyless() bool { return o.Security != nil && len(*o.Security) == 0 }

// Named returns the examples of a body. The only one may have no name.
func (c *Content) Named() []Example {
	if !c.Example.IsZero() {
		return []Example{{Value: c.Example}}
	}
	var list []Example
	for _, e := range c.Examples {
		list = append(list, *e.Value)
	}
	return list
}

// ordered is a mapping that keeps its order.
type ordered[T any] []Entry[T]

// Entry is a member of a mapping.
type Entry[T any] struct {
	Name  string
	Value T
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *ordered[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: this is no mapping", node.Line)
	}
	for i := 0; i < len(node.Content); i += 2 {
		e := Entry[T]{Name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&e.Value); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		*o = append(*o, e)
	}
	return nil
}

// Of returns the member of a name.
func (o ordered[T]) Of(name string) (value T, ok bool) {
	for _, e := range o {
		if e.Name == name {
			return e.Value, true
		}
	}
	return value, false
}
