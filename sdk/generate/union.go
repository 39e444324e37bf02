package main

import (
	"fmt"
	"slices"
	"strings"
)

// union is a union with a discriminator whose members are alike but for one property.
// In Go it is one struct, in which that property is an interface.
type union struct {
	named
	name   string
	shared []property
	varies string
	kinds  []kindsOf
	other  string // the type of the property in members with a value that is not known
}

// kindsOf is a type of the property that varies, and the discriminator's values that have it.
type kindsOf struct {
	kind   string
	values []string
}

func (g *golang) unionOf(s named) (union, error) {
	u := union{named: s, name: typeName(s.name)}
	known := map[string][]string{}
	for _, m := range s.mapping {
		known[m.name] = append(known[m.name], m.value)
	}
	first := g.byName[s.alternatives[0].ref]
	u.shared = first.properties
	for _, a := range s.alternatives {
		member := g.byName[a.ref]
		if len(member.properties) != len(first.properties) {
			return u, fmt.Errorf("%s: %s has other properties than %s", s.name, a.ref, s.alternatives[0].ref)
		}
		for i, p := range member.properties {
			if p.name != first.properties[i].name {
				return u, fmt.Errorf("%s: %s has the property %s in place of %s", s.name, a.ref, p.name, first.properties[i].name)
			}
			if p.ref != first.properties[i].ref && p.name != s.discriminator {
				if u.varies != "" && u.varies != p.name {
					return u, fmt.Errorf("%s: both %s and %s vary", s.name, u.varies, p.name)
				}
				u.varies = p.name
			}
		}
	}
	for _, a := range s.alternatives {
		for _, p := range g.byName[a.ref].properties {
			if p.name == u.varies {
				u.add(g.typeOf(p.schema, u.name+exported(p.name)), known[a.ref])
			}
		}
	}
	if u.varies == "" || u.other == "" {
		return u, fmt.Errorf("%s has no member for values that are added later", s.name)
	}
	return u, nil
}

func (u *union) add(kind string, values []string) {
	if values == nil {
		u.other = kind
		return
	}
	for i := range u.kinds {
		if u.kinds[i].kind == kind {
			u.kinds[i].values = append(u.kinds[i].values, values...)
			return
		}
	}
	u.kinds = append(u.kinds, kindsOf{kind, values})
}

// union writes a union with a discriminator.
func (g *golang) union(s named) {
	u, err := g.unionOf(s)
	if err != nil {
		g.err = err
		return
	}
	kind, data, varies := typeName(u.name+"Kind"), typeName(u.name+exported(u.varies)), exported(u.varies)
	g.enumeration(named{u.name + "Kind", &schema{description: "the value of `" + s.discriminator + "` of a " + u.name + ".", values: valuesOf(s.mapping), open: true}})
	g.comment(u.name, s.description)
	fmt.Fprintf(g, "//\n// The type of %s depends on %s:\n//\n", varies, exported(s.discriminator))
	for _, k := range u.kinds {
		for i, line := range wrap(strings.Join(k.values, ", "), lineLength-20) {
			fmt.Fprintf(g, "//\t%-20s%s\n", map[bool]string{true: "*" + k.kind}[i == 0], line)
		}
	}
	fmt.Fprintf(g, "//\t%-20severything else\ntype %s struct {\n", "*"+u.other, u.name)
	for _, p := range u.shared {
		switch p.name {
		case s.discriminator:
			fmt.Fprintf(g, "\t%s %s `json:%q`\n", exported(p.name), kind, p.name)
		case u.varies:
			fmt.Fprintf(g, "\t%s %s `json:%q`\n", varies, data, p.name)
		default:
			g.property(u.name, p)
		}
	}
	fmt.Fprint(g, "\n\t// Extra holds the members that this version of the SDK does not know.\n\tExtra Extra `json:\"-\"`\n}\n\n")
	g.members(s.name, u.shared)
	g.decodeUnion(u, kind, data, varies)
	g.marshal(u.name)
	fmt.Fprintf(g, "// %s is the %s of a %s.\ntype %[1]s interface{ is%[1]s() }\n\n", data, u.varies, u.name)
	for _, k := range append(u.kinds, kindsOf{kind: u.other}) {
		fmt.Fprintf(&g.codec, "func (*%s) is%s() {}\n\n", k.kind, data)
	}
}

func (g *golang) decodeUnion(u union, kind, data, varies string) {
	fmt.Fprintf(&g.codec, `// UnmarshalJSON keeps members without a field in Extra.
func (v *%[1]s) UnmarshalJSON(text []byte) error {
	type plain %[1]s
	shape := struct {
		*plain
		Varies json.RawMessage %[2]s
	}{plain: (*plain)(v)}
	if err := unmarshal(text, &shape, &v.Extra, membersOf%[1]s); err != nil {
		return err
	}
	switch v.%[3]s {
`, u.name, "`json:\""+u.varies+"\"`", exported(u.discriminator))
	for _, k := range u.kinds {
		names := make([]string, len(k.values))
		for i, value := range k.values {
			names[i] = kind + exported(value)
		}
		fmt.Fprintf(&g.codec, "\tcase %s:\n\t\tv.%s = new(%s)\n", strings.Join(names, ",\n\t\t"), varies, k.kind)
	}
	fmt.Fprintf(&g.codec, "\tdefault:\n\t\tv.%[1]s = new(%[2]s)\n\t}\n\tif len(shape.Varies) == 0 {\n\t\tv.%[1]s = nil\n\t\treturn nil\n\t}\n\treturn json.Unmarshal(shape.Varies, v.%[1]s)\n}\n\n", varies, u.other)
}

func valuesOf(mapping []mapped) (values []string) {
	for _, m := range mapping {
		if !slices.Contains(values, m.value) {
			values = append(values, m.value)
		}
	}
	return values
}
