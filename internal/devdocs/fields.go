package devdocs

import (
	"html/template"
	"regexp"
	"slices"
	"strings"

	"purveyor/internal/devdocs/openapi"
)

// field is a value of a request or an answer, as a page shows it.
type field struct {
	Name, Anchor string
	Type         string
	Required     bool     // in a request
	Optional     bool     // in an answer
	Facts        []string // its bounds
	Text         template.HTML
	Values       []meaning // that it may have
	Open         bool      // more values may be added
	Fields       []field   // of the object, or of each object of the list
	Unfolded     bool      // they are shown at first
	Variants     []variant // of which one holds
}

// meaning is a value with what it stands for.
type meaning struct {
	Value  string
	Text   template.HTML
	Status string // of an error code
}

// variant is one of the shapes that a value may have.
type variant struct {
	Name   string
	Path   string // of its own page; empty: it is shown here
	Text   template.HTML
	Fields []field
}

// deepest bounds how far objects are shown inside of objects.
const deepest = 6

// viewer makes what pages show of the document.
type viewer struct {
	document *openapi.Document
	markdown *markdown
	refusals []refusal
	answers  bool // the fields are those of an answer
	learned  func() examples
}

// refusal is a row of the table of error codes.
type refusal struct {
	Status string
	Codes  []string
	Text   string
	HTML   template.HTML
	first  []string // of Codes, those of which no row before tells
}

// statusCodes are the codes of one status.
type statusCodes struct {
	Status, Word string
	Refusals     []refusal
}

func byStatus(list []refusal) (groups []statusCodes) {
	for _, r := range list {
		if n := len(groups); n == 0 || groups[n-1].Status != r.Status {
			groups = append(groups, statusCodes{Status: r.Status, Word: statusWord(r.Status)})
		}
		last := &groups[len(groups)-1]
		last.Refusals = append(last.Refusals, r)
	}
	return groups
}

// First reports whether no row before tells of a code, so that the row gets the code's id.
func (r refusal) First(code string) bool { return slices.Contains(r.first, code) }

// meaningOf returns what the table says of a code with a status, or with another one.
func (v viewer) meaningOf(code, status string) (text string) {
	for _, r := range v.refusals {
		if slices.Contains(r.Codes, code) && (r.Status == status || text == "") {
			text = r.Text
		}
	}
	return text
}

// refusalsOf reads the table of error codes.
func refusalsOf(description string, m *markdown) (list []refusal) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(description, "\n") {
		found := row.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		r := refusal{Status: found[1], Codes: strings.Split(strings.ReplaceAll(found[2], "`", ""), ", "), Text: found[3], HTML: m.line(found[3])}
		for _, code := range r.Codes {
			if !seen[code] {
				seen[code] = true
				r.first = append(r.first, code)
			}
		}
		list = append(list, r)
	}
	return list
}

// unfold shows the fields of the objects of a body at first, where they are few or all that
// there is.
func unfold(list []field) {
	objects := 0
	for _, f := range list {
		if len(f.Fields) > 0 {
			objects++
		}
	}
	for i, f := range list {
		list[i].Unfolded = len(f.Fields) > 0 && (objects == 1 || len(f.Fields) <= 8)
	}
}

// fields returns the members of an object; anchor begins their ids.
func (v viewer) fields(s *openapi.Schema, anchor string, above []string) ([]field, error) {
	var list []field
	for _, p := range s.Properties {
		f, err := v.field(p.Name, anchor+"."+p.Name, p.Value, s.Requires(p.Name), above)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	if s.Others != nil && s.Others.Schema != nil {
		f, err := v.field("any name", anchor+".any", s.Others.Schema, false, above)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

func (v viewer) field(name, anchor string, schema *openapi.Schema, required bool, above []string) (field, error) {
	s, err := v.document.Resolve(schema)
	if err != nil {
		return field{}, err
	}
	text, meanings := meaningsOf(s.Description)
	if len(valuesOf(s)) == 0 {
		text = s.Description
	}
	f := field{Name: name, Anchor: anchor, Required: required && !v.answers, Optional: !required && v.answers, Facts: v.factsOf(s), Text: v.markdown.block(text), Open: s.Known != nil}
	f.Type = v.typeOf(s)
	for _, value := range valuesOf(s) {
		f.Values = append(f.Values, meaning{Value: value, Text: v.markdown.line(meanings[value].text)})
	}
	inner := s
	for inner.Kind() == "array" && inner.Items != nil {
		if inner, err = v.document.Resolve(inner.Items); err != nil {
			return f, err
		}
	}
	if inner != s {
		f.Values = append(f.Values, v.itemValues(inner)...)
		f.Open = f.Open || inner.Known != nil
	}
	if inner.Name != "" && slices.Contains(above, inner.Name) || len(above) >= deepest {
		return f, nil
	}
	above = append(slices.Clone(above), inner.Name)
	if f.Variants, err = v.variants(inner, anchor, above); err == nil {
		f.Fields, err = v.fields(inner, anchor, above)
	}
	return f, err
}

// itemValues returns the values that the items of a list may have.
func (v viewer) itemValues(s *openapi.Schema) (list []meaning) {
	_, meanings := meaningsOf(s.Description)
	for _, value := range valuesOf(s) {
		list = append(list, meaning{Value: value, Text: v.markdown.line(meanings[value].text)})
	}
	return list
}

func (v viewer) variants(s *openapi.Schema, anchor string, above []string) (list []variant, err error) {
	for _, schema := range s.Variants {
		r, err := v.document.Resolve(schema)
		if err != nil {
			return nil, err
		}
		text, _ := meaningsOf(r.Description)
		one := variant{Name: v.typeOf(r), Text: v.markdown.block(text)}
		if r.Name != "" && r.Kind() == "object" {
			one.Name = spaced(r.Name)
		}
		if kind, ok := r.Properties.Of(s.Discriminator.Property); ok && v.markdown.links[kind.Const.Text()] != "" {
			list = append(list, variant{Name: kind.Const.Text(), Path: v.markdown.links[kind.Const.Text()], Text: one.Text})
			continue
		}
		if one.Fields, err = v.fields(r, anchor+"."+strings.ToLower(r.Name), append(slices.Clone(above), r.Name)); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// spaced returns the name of a part of the document in words.
func spaced(name string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "$1 $2"))
}

// Plain reports whether the values need no words, so that they fit on a line.
func (f field) Plain() bool {
	for _, m := range f.Values {
		if m.Text != "" {
			return false
		}
	}
	return len(f.Values) <= 12
}

// typeOf returns the type of a resolved schema in words.
func (v viewer) typeOf(s *openapi.Schema) string {
	word := s.Kind()
	switch {
	case word == "array" && s.Items != nil:
		word = "array"
		if items, err := v.document.Resolve(s.Items); err == nil {
			word = "array of " + plural(v.typeOf(items))
		}
	case len(s.Variants) > 0:
		var names []string
		for _, one := range s.Variants {
			if r, err := v.document.Resolve(one); err == nil && !slices.Contains(names, v.typeOf(r)) {
				names = append(names, v.typeOf(r))
			}
		}
		word = strings.Join(names, " or ")
	case s.Format == "date-time":
		word = "string, ISO 8601 time"
	case s.Format == "uri":
		word = "string, URL"
	case s.Format == "email":
		word = "string, e-mail"
	case word == "integer" && strings.Contains(s.Description, "Unix milliseconds"):
		word = "integer, Unix ms"
	case word == "":
		word = strings.Join(slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }), " or ")
	}
	if word == "" {
		word = "any value"
	}
	if s.Nullable {
		word += " or null"
	}
	return word
}

func plural(word string) string {
	first, rest, found := strings.Cut(word, ",")
	if found {
		return first + "s," + rest
	}
	if head, ok := strings.CutSuffix(word, " or null"); ok {
		return head + "s or nulls"
	}
	if strings.HasPrefix(word, "array of ") {
		return "arrays" + strings.TrimPrefix(word, "array")
	}
	return strings.ReplaceAll(word, " or ", "s or ") + "s"
}

// valuesOf returns the values that a schema names.
func valuesOf(s *openapi.Schema) (list []string) {
	for _, value := range s.Enum {
		if !value.Null() {
			list = append(list, value.Text())
		}
	}
	return append(list, s.Known...)
}

// factsOf returns the bounds of a resolved schema in words. The bounds of an answer matter to
// no reader.
func (v viewer) factsOf(s *openapi.Schema) (facts []string) {
	add := func(fact string) {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	if !s.Const.IsZero() && s.Description == "" {
		add("always " + s.Const.Text())
	}
	if v.answers {
		return facts
	}
	add(between(s.MinLength, s.MaxLength, "character"))
	add(between(s.Minimum, s.Maximum, ""))
	add(between(s.MinItems, s.MaxItems, "entry"))
	if !s.Default.IsZero() {
		add("default " + s.Default.Text())
	}
	if s.Pattern != "" && len(s.Pattern) <= 48 && !strings.Contains(s.Pattern, `\x`) {
		add("matches " + s.Pattern)
	}
	return facts
}

// between returns bounds in words. That a text is not empty goes without saying.
func between(least, most, unit string) string {
	if unit != "" && least == "0" {
		least = ""
	}
	count := func(n string) string {
		switch {
		case unit == "":
			return grouped(n)
		case n == "1":
			return "1 " + unit
		case unit == "entry":
			return grouped(n) + " entries"
		}
		return grouped(n) + " " + unit + "s"
	}
	switch {
	case least == "" && most == "":
		return ""
	case most == "" && unit == "character" && least == "1":
		return ""
	case most == "":
		return "at least " + count(least)
	case least == "":
		return "at most " + count(most)
	case least == most:
		return count(most)
	}
	return grouped(least) + " to " + count(most)
}

// grouped writes a number with commas between its thousands.
func grouped(number string) string {
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	whole, fraction, _ := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// explained is what a table of values in a description says of one.
type explained struct{ text, status string }

// row matches a row of a table of values: in the first or second column stand the values.
var row = regexp.MustCompile("^\\|(?: (\\d{3}) \\|)? ((?:`[^`]+`(?:, )?)+) \\| (.*) \\|$")

// meaningsOf takes the table of values out of a description. A value may stand in several
// rows, one for each status of an answer.
func meaningsOf(description string) (rest string, of map[string]explained) {
	of = map[string]explained{}
	var kept []string
	lines := strings.Split(description, "\n")
	for i, line := range lines {
		if m := row.FindStringSubmatch(line); m != nil {
			for value := range strings.SplitSeq(m[2], ", ") {
				if value = strings.Trim(value, "`"); of[value].text == "" {
					of[value] = explained{m[3], m[1]}
				}
			}
			continue
		}
		heads := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|--")
		if !strings.HasPrefix(line, "|--") && !(heads && strings.HasPrefix(line, "|")) {
			kept = append(kept, line)
		}
	}
	if len(of) == 0 {
		return description, of
	}
	return strings.TrimSpace(strings.Join(kept, "\n")), of
}
