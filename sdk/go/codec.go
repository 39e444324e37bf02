package purveyor

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Extra holds members of a JSON object that the SDK has no field for, as they came. What is
// put there is sent.
type Extra map[string]json.RawMessage

type set map[string]struct{}

func setOf(names ...string) set {
	s := make(set, len(names))
	for _, name := range names {
		s[name] = struct{}{}
	}
	return s
}

// unmarshal reads an object into plain, and the members that it has no field for into extra.
func unmarshal(text []byte, plain any, extra *Extra, known set) error {
	if err := json.Unmarshal(text, plain); err != nil {
		return err
	}
	*extra = unknown(text, known)
	return nil
}

// marshal writes an object with its extra members.
func marshal(plain any, extra Extra) ([]byte, error) {
	text, err := encode(plain)
	if err != nil || len(extra) == 0 {
		return text, err
	}
	text = text[:len(text)-1] // without the brace
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		key, err := encode(name)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, key...), ':'), extra[name]...)
	}
	return append(text, '}'), nil
}

// encode returns v as JSON, with < and > as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// unknown returns the members of an object that are not in a set. The text is valid JSON.
func unknown(text []byte, known set) (extra Extra) {
	s := scanner{text: text}
	if s.next() != '{' {
		return nil
	}
	for s.at++; s.next() == '"'; {
		key := s.value()
		s.next()
		s.at++ // the colon
		s.next()
		value := s.value()
		if _, ok := known[string(key[1:len(key)-1])]; !ok {
			extra = extra.with(key, value, known)
		}
		if s.next() == ',' {
			s.at++
		}
	}
	return extra
}

// with adds a member, unless its name turns out to be known once it is decoded.
func (e Extra) with(key, value []byte, known set) Extra {
	var name string
	if err := json.Unmarshal(key, &name); err != nil {
		return e
	}
	if _, ok := known[name]; ok {
		return e
	}
	if e == nil {
		e = Extra{}
	}
	e[name] = bytes.Clone(value)
	return e
}

// scanner walks over valid JSON.
type scanner struct {
	text []byte
	at   int
}

// next skips white space, and returns the character behind it.
func (s *scanner) next() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// value returns the value that begins here, and moves behind it.
func (s *scanner) value() []byte {
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.quoted()
			if depth == 0 {
				return s.text[start:s.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return s.text[start:s.at]
			}
			if depth == 0 {
				s.at++
				return s.text[start:s.at]
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return s.text[start:s.at]
			}
		}
		s.at++
	}
	return s.text[start:s.at]
}

// quoted moves behind the text that begins here.
func (s *scanner) quoted() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
}
