package commerce

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestMetadata(t *testing.T) {
	long := strings.Repeat("ä", maxMetadataValue)
	full := Metadata{}
	for i := range maxMetadata {
		full[fmt.Sprintf("n%02d", i)] = ""
	}
	heavy := Metadata{} // 8 * 1004 and 160 bytes: full
	for i := range 8 {
		heavy[fmt.Sprintf("h%03d", i)] = long
	}
	heavy["rest"] = strings.Repeat("x", maxMetadataBytes-8*1004-4)
	text := func(s string) *string { return &s }
	type changes = map[string]*string
	for name, c := range map[string]struct {
		before  Metadata
		changes changes
		want    string // the names and values, or the field that is refused
	}{
		"nothing":                       {nil, nil, "map[]"},
		"set":                           {nil, changes{"a": text("1"), "B_.-9": text("")}, "map[B_.-9: a:1]"},
		"merged":                        {Metadata{"a": "1", "b": "2", "c": "3"}, changes{"a": nil, "b": text("4")}, "map[b:4 c:3]"},
		"all removed":                   {Metadata{"a": "1"}, changes{"a": nil}, "map[]"},
		"removed although it is not":    {Metadata{"a": "1"}, changes{"b": nil}, "map[a:1]"},
		"long":                          {nil, changes{strings.Repeat("n", 40): text(long)}, "map[" + strings.Repeat("n", 40) + ":" + long + "]"},
		"name too long":                 {nil, changes{strings.Repeat("n", 41): text("")}, "metadata." + strings.Repeat("n", 41)},
		"name far too long":             {nil, changes{strings.Repeat("ä", 4000): text("")}, "metadata." + strings.Repeat("ä", 40)},
		"no name":                       {nil, changes{"": text("")}, "metadata."},
		"wrong name":                    {nil, changes{"a b": text("")}, "metadata.a b"},
		"wrong name to remove":          {nil, changes{"ä": nil}, "metadata.ä"},
		"value too long":                {nil, changes{"a": text(long + "x"), "b": text(long + "x")}, "metadata.a"},
		"one name too many":             {full, changes{"z": text(""), "n01": text("1")}, "metadata.z"},
		"as many as were before":        {full, changes{"n49": text("x")}, ""},
		"one for another":               {full, changes{"z": text(""), "n49": nil}, ""},
		"one byte too much":             {heavy, changes{"rest": text(heavy["rest"] + "x")}, "metadata.rest"},
		"a name is a byte":              {heavy, changes{"z": text("")}, "metadata.z"},
		"as much as there was":          {heavy, changes{"rest": text(strings.ToUpper(heavy["rest"]))}, ""},
		"the first that is too much":    {heavy, changes{"rest": nil, "a": text(long), "b": text(long)}, "metadata.a"},
		"what is removed makes room":    {heavy, changes{"h000": nil, "a": text(long)}, ""},
		"names at fault in their order": {nil, changes{"b b": nil, "a a": nil, "c c": nil}, "metadata.a a"},
	} {
		before := maps.Clone(c.before)
		got, err := c.before.With(c.changes)
		answer := fmt.Sprint(map[string]string(got))
		if e, ok := err.(*Error); ok {
			answer = e.Field
		}
		if c.want != "" && answer != c.want || c.want == "" && err != nil {
			t.Errorf("%s: %.200s, %v", name, answer, err)
		}
		if !maps.Equal(before, c.before) {
			t.Errorf("%s: the metadata before was changed", name)
		}
		if err == nil && len(got) == 0 && got != nil {
			t.Errorf("%s: an empty map is no metadata", name)
		}
	}
}
