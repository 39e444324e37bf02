package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// describe writes an answer in the form that a transcript expects, for -update: bound
// values, and values whose form the member's name implies, become placeholders. Read
// the result: it describes what is, not what should be.
func (m *memory) describe(n *node) *node { return m.describeAs("", n) }

func (m *memory) describeAs(name string, n *node) *node {
	if !n.isScalar() {
		out := &node{object: n.object, names: n.names}
		for i, member := range n.members {
			as := name
			if n.object {
				as = n.names[i]
			}
			out.members = append(out.members, m.describeAs(as, member))
		}
		return out
	}
	if at, ok := m.instantOf(name, n); ok {
		return &node{scalar: at}
	}
	kind := kindOf(name, n)
	if kind == "" || m.fits(kind, n) != nil {
		return &node{scalar: m.mention(n.scalar)}
	}
	return &node{scalar: strconv.Quote("<" + m.named(kind, n.text()) + ">")}
}

// instantOf writes the times at which couriers are expected, which follow from the
// clock.
func (m *memory) instantOf(name string, n *node) (string, bool) {
	at, err := time.Parse(isoMillis, n.text())
	if err != nil || name == "timestamp" {
		return "", false
	}
	return fmt.Sprintf(`"<iso%+gs>"`, at.Sub(m.clock.Now()).Seconds()), true
}

// mention replaces the ids of orders, sessions and refunds inside a text.
func (m *memory) mention(text string) string {
	for key, bound := range m.values {
		switch kind, _, _ := strings.Cut(key, ":"); kind {
		case "order_id", "session_id", "refund_id", "delivery_id":
			text = strings.ReplaceAll(text, bound, "<"+key+">")
		}
	}
	return text
}

// kindOf guesses by the name of the member.
func kindOf(name string, n *node) string {
	switch {
	case name == "trace_id":
		return "trace_id"
	case name == "next_cursor":
		return "cursor"
	case strings.HasSuffix(name, "_on"), strings.HasSuffix(name, "_at"):
		return "time"
	case name == "timestamp":
		return "iso"
	case name == "lat", name == "lng":
		return "degrees"
	case name == "vehicle_type":
		return "vehicle"
	}
	for _, kind := range []string{"order_id", "product_id", "customer_id", "event_id", "webhook_id", "refund_id", "session_id", "payment_id",
		"delivery_id", "quote_id", "tracking", "courier", "phone", "picture"} {
		if forms[kind].MatchString(n.text()) {
			return kind
		}
	}
	return ""
}

// named finds the name of a bound value, or makes one for an id that later requests
// will need.
func (m *memory) named(kind, value string) string {
	for key, bound := range m.values {
		if bound == value && strings.HasPrefix(key, kind+":") {
			return key
		}
	}
	if !slices.Contains([]string{"order_id", "product_id", "cursor", "webhook_id", "refund_id", "session_id", "delivery_id", "quote_id"}, kind) {
		return kind
	}
	for letter := 'a'; ; letter++ {
		key := kind + ":" + string(letter)
		if _, taken := m.values[key]; !taken {
			m.values[key] = value
			return key
		}
	}
}
