package importfile

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// fields are the fields of an element, as a pointer to a T.
type fields[T any] interface {
	*T
	check(c *jsonin.Check)
	key() string // the id
}

// entry is one element of a list.
type entry struct {
	*parser
	path  func() string // products[12]
	at    int           // its offset
	known []string      // the names of its fields
}

// decode reads an element without problems in one step. If that fails, it reads each
// member alone, and so finds all problems.
func decode[T any, F fields[T]](e entry, value jsontext.Value) (F, bool) {
	v := F(new(T))
	if err := jsonin.Decode(value, v, json.RejectUnknownMembers(!e.AllowUnknown)); err == nil {
		var c jsonin.Check
		if v.check(&c); c.Err == nil {
			return v, true
		}
	}
	if value.Kind() != '{' {
		e.problem(e.at, "", "must be a JSON object")
		return nil, false
	}
	v = F(new(T))
	before, places, refused := e.problems(), map[string]int{}, map[string]bool{}
	for m := range membersOf(value) {
		places[m.name] = e.at + m.at
		if field, reason := e.member(m, v); reason != "" {
			refused[m.name] = true
			e.problem(e.at+m.at, field, reason)
		}
	}
	v.check(&jsonin.Check{Tell: func(field, reason string) {
		name, _, _ := strings.Cut(field, "[")
		if refused[name] {
			return
		}
		at, given := places[name]
		if !given {
			at = e.at
		}
		e.problem(at, field, reason)
	}})
	return v, e.problems() == before
}

// longestName bounds how much of a name that is not known is shown.
const longestName = 100

// member reads one member. It returns the field and the reason of a problem.
func (e entry) member(m member, into any) (field, reason string) {
	if !slices.Contains(e.known, m.name) {
		if e.AllowUnknown {
			return "", ""
		}
		name := m.name
		if len(name) > longestName {
			name = strings.ToValidUTF8(name[:longestName], "") + "..."
		}
		return name, unknown(name, e.known)
	}
	alone := slices.Concat([]byte(`{"`+m.name+`":`), m.value, []byte("}")) // a known name needs no escapes
	refusal, ok := errors.AsType[*commerce.Error](jsonin.Decode(alone, into))
	switch {
	case !ok:
		return "", ""
	case refusal.Field == "body":
		return m.name, "holds a NUL character"
	}
	return refusal.Field, strings.TrimPrefix(refusal.Message, refusal.Field+" ")
}

func (e entry) problem(at int, field, reason string) {
	path := e.path()
	if field != "" {
		path += "." + field
	}
	e.parser.problem(at, path, reason)
}

// problems counts the problems so far.
func (p *parser) problems() int { return len(p.file.Problems) + p.file.More }

// member is a member of a JSON object.
type member struct {
	name  string
	value jsontext.Value
	at    int // the offset of the end of its name
}

// membersOf are the members of a valid JSON object; of any other value there are none.
func membersOf(value jsontext.Value) iter.Seq[member] {
	return func(yield func(member) bool) {
		dec := jsontext.NewDecoder(bytes.NewReader(value))
		if start, err := dec.ReadToken(); err != nil || start.Kind() != '{' {
			return
		}
		for dec.PeekKind() == '"' {
			name, err := dec.ReadToken()
			if err != nil {
				return
			}
			m := member{name: name.String(), at: int(dec.InputOffset())}
			if m.value, err = dec.ReadValue(); err != nil || !yield(m) {
				return
			}
		}
	}
}
