package openapi

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Schema says which values something may have. One that refers to another has a Ref, and its
// own description if it has one; Resolve follows it.
type Schema struct {
	Ref           string `yaml:"$ref"`
	Name          string `yaml:"-"` // of a part of the document
	Types         texts  `yaml:"type"`
	Format        string
	Description   string
	Pattern       string
	Enum          []Value
	Known         []string `yaml:"x-extensible-enum"` // more may be added
	Const         Value
	Default       Value
	Examples      []Value
	MinLength     string `yaml:"minLength"`
	MaxLength     string `yaml:"maxLength"`
	Minimum       string
	Maximum       string
	MinItems      string `yaml:"minItems"`
	MaxItems      string `yaml:"maxItems"`
	Required      []string
	Properties    ordered[*Schema]
	Items         *Schema
	Others        *others   `yaml:"additionalProperties"`
	AllOf         []*Schema `yaml:"allOf"`
	AnyOf         []*Schema `yaml:"anyOf"`
	OneOf         []*Schema `yaml:"oneOf"`
	Discriminator struct {
		Property string `yaml:"propertyName"`
		Mapping  ordered[string]
	}

	// What Resolve finds out.
	Nullable bool      `yaml:"-"`
	Variants []*Schema `yaml:"-"` // of a union; at least two
}

// others are the members of an object that have no name in the document.
type others struct {
	Allowed bool
	Schema  *Schema // nil: of any kind
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *others) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&o.Allowed)
	}
	o.Allowed = true
	return node.Decode(&o.Schema)
}

// texts is a list of texts, or one text in place of it.
type texts []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *texts) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = texts{node.Value}
		return nil
	}
	return node.Decode((*[]string)(t))
}

// Kind is the type of a resolved schema other than null; empty: it has none, or several.
func (s *Schema) Kind() string {
	kind := ""
	for _, t := range s.Types {
		switch {
		case t == "null":
		case kind != "":
			return ""
		default:
			kind = t
		}
	}
	return kind
}

// Requires reports whether an object must have a property.
func (s *Schema) Requires(name string) bool { return slices.Contains(s.Required, name) }

// Resolve returns a schema in which references are followed and parts are put together. A
// description beside a reference goes before the one that is referred to. A union of one
// schema and null is that schema, nullable.
func (d *Document) Resolve(s *Schema) (*Schema, error) { return d.resolve(s, nil) }

func (d *Document) resolve(s *Schema, below []string) (*Schema, error) {
	if s.Ref != "" {
		name := lastOf(s.Ref)
		if slices.Contains(below, name) {
			return nil, fmt.Errorf("schema %s refers to itself", name)
		}
		found, ok := d.schemas[name]
		if !ok {
			return nil, fmt.Errorf("schema %s is not there", s.Ref)
		}
		r, err := d.resolve(found, append(below, name))
		if err == nil {
			r.describe(s)
		}
		return r, err
	}
	r := *s
	r.Nullable = slices.Contains(s.Types, "null")
	for _, part := range s.AllOf {
		p, err := d.resolve(part, below)
		if err != nil {
			return nil, err
		}
		r.add(p)
	}
	return d.union(&r, below)
}

// union resolves the alternatives of a schema.
func (d *Document) union(r *Schema, below []string) (*Schema, error) {
	for _, variant := range slices.Concat(r.AnyOf, r.OneOf) {
		switch {
		case len(variant.Types) == 1 && variant.Types[0] == "null":
			r.Nullable = true
		case variant.Ref != "" || len(variant.Types) > 0 || len(variant.AllOf) > 0:
			r.Variants = append(r.Variants, variant)
		} // others only say which members must be there together
	}
	if len(r.Variants) != 1 {
		return r, nil
	}
	only, err := d.resolve(r.Variants[0], below)
	if err != nil {
		return nil, err
	}
	only.Nullable = only.Nullable || r.Nullable
	only.describe(r)
	return only, nil
}

// describe takes over what stands beside a reference.
func (s *Schema) describe(beside *Schema) {
	if beside.Description != "" {
		s.Description = beside.Description
	}
	if !beside.Default.IsZero() {
		s.Default = beside.Default
	}
	if len(beside.Examples) > 0 {
		s.Examples = beside.Examples
	}
}

// add puts a part of an allOf into a schema.
func (s *Schema) add(part *Schema) {
	if len(s.Types) == 0 {
		s.Types = part.Types
	}
	if s.Description == "" {
		s.Description = part.Description
	}
	s.Nullable = s.Nullable || part.Nullable
	s.Required = append(slices.Clone(s.Required), part.Required...)
	for _, p := range part.Properties {
		if _, there := s.Properties.Of(p.Name); !there {
			s.Properties = append(slices.Clone(s.Properties), p)
		}
	}
	if s.Others == nil {
		s.Others = part.Others
	}
	if len(part.Properties) == 0 && s.Enum == nil && s.Known == nil {
		s.Enum, s.Known, s.Const, s.Format, s.Pattern = part.Enum, part.Known, part.Const, part.Format, part.Pattern
		s.MinLength, s.MaxLength, s.Minimum, s.Maximum, s.Items = part.MinLength, part.MaxLength, part.Minimum, part.Maximum, part.Items
	}
}

// Schema returns the part of a name, resolved; nil if there is none.
func (d *Document) Schema(name string) *Schema {
	if d.schemas[name] == nil {
		return nil
	}
	s, err := d.Resolve(d.schemas[name])
	if err != nil {
		return nil
	}
	return s
}
