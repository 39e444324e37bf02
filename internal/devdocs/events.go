package devdocs

import (
	"slices"

	"purveyor/internal/devdocs/openapi"
)

// vague are names of members that stand for different things in different objects.
var vague = []string{"id", "name", "code", "reason"}

// stories are the statuses that an event leads to, and from which.
var stories = map[string][2]string{
	"order.accepted":         {"processed", ""},
	"order.paid":             {"paid", "pending_payment"},
	"order.processed":        {"processed", "paid"},
	"order.shipped":          {"shipped", "processed"},
	"order.out_for_delivery": {"out_for_delivery", "shipped"},
	"order.delivered":        {"delivered", "out_for_delivery"},
	"order.ready_for_pickup": {"ready_for_pickup", "processed"},
	"order.picked_up":        {"picked_up", "ready_for_pickup"},
	"order.cancelled":        {"cancelled", "processed"},
	"order.refunded":         {"refunded", "delivered"},
	"order.refund_failed":    {"delivered", "refunded"},
}

// event returns the content of the page of a kind of events, which has a place among all.
func (s *site) event(o *openapi.Operation, all []link, place int) (*operation, error) {
	v := s.viewer
	v.answers = true
	page, err := v.view(o)
	if err != nil {
		return nil, err
	}
	page.near = nearTo(all, place)
	if body, ok := s.eventExample(o); ok {
		page.Samples = []shown{{Code: snippet{"json", body.JSON()}.HTML()}}
	}
	return page, nil
}

// eventExample makes the body of an event.
func (v viewer) eventExample(o *openapi.Operation) (openapi.Value, bool) {
	content, ok := o.Body.Content.Of("application/json")
	if !ok || content.Schema == nil {
		return openapi.Value{}, false
	}
	if given := content.Named(); len(given) > 0 {
		return given[0].Value, true
	}
	body := v.example(content.Schema, 0)
	if story, ok := stories[o.Path]; ok {
		body = put(body, story)
	}
	return body, true
}

// put sets the statuses of an example.
func put(v openapi.Value, story [2]string) openapi.Value {
	members := v.Members()
	for i, m := range members {
		switch {
		case m.Name == "status":
			members[i].Value = openapi.Text(story[0])
		case m.Name == "previous_status" && story[1] == "":
			members[i].Value = openapi.Scalar("null")
		case m.Name == "previous_status":
			members[i].Value = openapi.Text(story[1])
		case m.Value.IsObject() && m.Name != "courier":
			members[i].Value = put(m.Value, story)
		}
	}
	if !v.IsObject() {
		return v
	}
	return openapi.Object(members)
}

// example makes a body of a schema: the parts come from the examples of the whole document,
// the rest from what the schema says.
func (v viewer) example(schema *openapi.Schema, depth int) openapi.Value {
	s, err := v.document.Resolve(schema)
	if err != nil || depth > deepest {
		return openapi.Scalar("null")
	}
	known, found := v.learned().schemas[s.Name]
	switch {
	case !s.Const.IsZero():
		return s.Const
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Name != "" && found:
		return known
	case s.Nullable:
		return openapi.Scalar("null")
	case len(s.Variants) > 0:
		return v.example(s.Variants[0], depth+1)
	case s.Kind() == "object":
		var members []openapi.Entry[openapi.Value]
		for _, p := range s.Properties {
			if s.Requires(p.Name) {
				members = append(members, openapi.Entry[openapi.Value]{Name: p.Name, Value: v.named(p.Name, p.Value, depth)})
			}
		}
		return openapi.Object(members)
	case s.Kind() == "array":
		return openapi.Array(v.example(s.Items, depth+1))
	}
	return scalarOf(s)
}

// named returns the example of a member: one that the document has under its name, or one of
// its schema.
func (v viewer) named(name string, schema *openapi.Schema, depth int) openapi.Value {
	s, err := v.document.Resolve(schema)
	if err == nil && s.Const.IsZero() && s.Kind() != "object" && s.Kind() != "array" && len(valuesOf(s)) == 0 && !slices.Contains(vague, name) {
		if value, ok := v.learned().members[name]; ok && (!value.Null() || s.Nullable) {
			return value
		}
	}
	return v.example(schema, depth+1)
}

func scalarOf(s *openapi.Schema) openapi.Value {
	if values := valuesOf(s); len(values) > 0 {
		return openapi.Text(values[0])
	}
	switch s.Kind() {
	case "integer", "number":
		return openapi.Scalar("1")
	case "boolean":
		return openapi.Scalar("false")
	}
	if s.Format == "date-time" {
		return openapi.Text("2026-03-02T15:04:05.250Z")
	}
	return openapi.Text("...")
}

// examples are those of the document, by the names of their schemas and of members.
type examples struct{ schemas, members map[string]openapi.Value }

func (v viewer) learn() examples {
	e := examples{map[string]openapi.Value{}, map[string]openapi.Value{}}
	learn := func(contents []openapi.Entry[*openapi.Content]) {
		for _, c := range contents {
			for _, one := range c.Value.Named() {
				if c.Value.Schema != nil {
					e.note(v.document, one.Value, c.Value.Schema)
				}
			}
		}
	}
	for _, o := range slices.Concat(v.document.Operations, v.document.Events) {
		if o.Body != nil {
			learn(o.Body.Content)
		}
		for _, a := range o.Answers {
			learn(a.Value.Content)
		}
	}
	return e
}

// note remembers an example and the examples in it. Of objects the largest is kept, of other
// values the first.
func (e examples) note(d *openapi.Document, value openapi.Value, schema *openapi.Schema) {
	s, err := d.Resolve(schema)
	if err != nil {
		return
	}
	if old, ok := e.schemas[s.Name]; s.Name != "" && !value.Null() && len(s.Variants) == 0 && (!ok || len(old.Members()) < len(value.Members())) {
		e.schemas[s.Name] = value
	}
	for _, m := range value.Members() {
		if old, ok := e.members[m.Name]; !ok || old.Null() {
			e.members[m.Name] = m.Value
		}
		if p, ok := s.Properties.Of(m.Name); ok {
			e.note(d, m.Value, p)
		}
	}
	for _, item := range value.Items() {
		if s.Items != nil {
			e.note(d, item, s.Items)
		}
	}
}
