package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// node is a JSON value that keeps the order of its members and the text of its
// numbers, so that 9.5 differs from 9.50.
type node struct {
	scalar  string // JSON text; empty for objects and arrays
	object  bool
	names   []string // of an object
	members []*node  // of an object or an array
}

func parseJSON(data []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	n, err := parseNode(dec)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, data)
	}
	if dec.More() {
		return nil, fmt.Errorf("there is something behind the JSON value: %s", data)
	}
	return n, nil
}

func parseNode(dec *json.Decoder) (*node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, compound := token.(json.Delim)
	if !compound {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(token); err != nil {
			return nil, err
		}
		return &node{scalar: strings.TrimSpace(text.String())}, nil
	}
	n := &node{object: delim == '{'}
	for dec.More() {
		if n.object {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			if n.member(name.(string)) != nil {
				return nil, fmt.Errorf("%q is there twice", name)
			}
			n.names = append(n.names, name.(string))
		}
		m, err := parseNode(dec)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, m)
	}
	_, err = dec.Token()
	return n, err
}

func (n *node) member(name string) *node {
	for i, v := range n.names {
		if v == name {
			return n.members[i]
		}
	}
	return nil
}

func (n *node) isScalar() bool { return n.scalar != "" }

// text returns the value of a string, or otherwise the JSON text.
func (n *node) text() string {
	var s string
	if json.Unmarshal([]byte(n.scalar), &s) == nil {
		return s
	}
	return n.scalar
}

// String formats the value for people: on one line if it fits, and otherwise one line
// per member.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b, "")
	return b.String()
}

const widest = 110

func (n *node) write(b *strings.Builder, indent string) {
	if line := n.line(); n.isScalar() || len(indent)+len(line) <= widest {
		b.WriteString(line)
		return
	}
	left, right := n.brackets()
	b.WriteString(left)
	for i, m := range n.members {
		b.WriteString("\n" + indent + "  ")
		if n.object {
			fmt.Fprintf(b, "%q: ", n.names[i])
		}
		m.write(b, indent+"  ")
		if i < len(n.members)-1 {
			b.WriteString(",")
		}
	}
	b.WriteString("\n" + indent + right)
}

func (n *node) line() string {
	if n.isScalar() {
		return n.scalar
	}
	left, right := n.brackets()
	parts := make([]string, len(n.members))
	for i, m := range n.members {
		parts[i] = m.line()
		if n.object {
			parts[i] = fmt.Sprintf("%q: %s", n.names[i], parts[i])
		}
	}
	return left + strings.Join(parts, ", ") + right
}

func (n *node) brackets() (left, right string) {
	if n.object {
		return "{", "}"
	}
	return "[", "]"
}
