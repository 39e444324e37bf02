package devdocs

import (
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/devdocs/openapi"
	"purveyor/internal/devdocs/sample"
)

// operation is the content of the page of an operation or an event.
type operation struct {
	*openapi.Operation
	near
	Group    *group // nil: of an event
	Text     template.HTML
	Inputs   []section // by the place where they stand: path, query, headers
	Body     *section  // nil: there is none
	Answers  []answer
	Refusals []answer
	Samples  []shown
	Replies  []shown
	Try      *try // nil: it cannot be tried from a page
}

// section is a list of fields.
type section struct {
	Title    string
	Text     template.HTML
	Required bool
	Fields   []field
	Variants []variant
}

// answer is what comes with a status.
type answer struct {
	Status  string
	Word    string // of the status
	Text    template.HTML
	Headers []field
	Body    *section // nil: there is none
	Codes   []meaning
}

// shown is an example, with a title if there are several.
type shown struct {
	Title string
	Code  template.HTML
}

// try is what a form needs to make the call.
type try struct {
	Path, Query []input
	Key         bool // it takes an idempotency key
	Body        string
}

// Rows is the height of the field of the body.
func (t *try) Rows() int { return min(strings.Count(t.Body, "\n")+3, 20) }

// input is a parameter that a form asks for.
type input struct {
	Name, Value string
	Required    bool
}

// everywhere are headers of all requests or answers. They are described once, not on each page.
var everywhere = []string{"x-trace-id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}

// operation returns the content of the page of an operation, which has a place among all.
func (s *site) operation(o *openapi.Operation, g *group, all []link, place int) (*operation, error) {
	page, err := s.view(o)
	if err != nil {
		return nil, err
	}
	page.Group, page.near = g, nearTo(all, place)
	page.examples(s.document, s.PublicURL)
	return page, nil
}

// view returns what the pages of an operation and of an event have in common. What an event
// brings is for its reader an answer.
func (v viewer) view(o *openapi.Operation) (*operation, error) {
	page := &operation{Operation: o, Text: v.markdown.block(o.Description)}
	err := v.inputs(page)
	if err == nil && o.Body != nil {
		page.Body, err = v.body(o.Body.Content, "body")
	}
	if err != nil {
		return nil, err
	}
	if page.Body != nil {
		page.Body.Required = o.Body.Required
	}
	for _, a := range o.Answers {
		one, err := v.answer(a.Name, a.Value)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(a.Name, "2") {
			page.Answers = append(page.Answers, one)
		} else {
			page.Refusals = append(page.Refusals, one)
		}
	}
	return page, nil
}

// inputs adds the parameters by the place where they stand.
func (v viewer) inputs(page *operation) error {
	for _, place := range []struct{ in, title string }{{"path", "Path"}, {"query", "Query"}, {"header", "Headers"}} {
		s := section{Title: place.title}
		for _, p := range page.Parameters {
			if p.In != place.in || slices.Contains(everywhere, p.Name) {
				continue
			}
			f, err := v.parameter(p, place.in)
			if err != nil {
				return err
			}
			s.Fields = append(s.Fields, f)
		}
		if len(s.Fields) > 0 {
			page.Inputs = append(page.Inputs, s)
		}
	}
	return nil
}

func (v viewer) parameter(p *openapi.Parameter, in string) (field, error) {
	f, err := v.field(p.Name, in+"."+p.Name, p.Schema, p.Required, nil)
	if p.Description != "" {
		f.Text = v.markdown.block(p.Description)
	}
	return f, err
}

// body returns the fields of a body; nil if it has no JSON.
func (v viewer) body(contents []openapi.Entry[*openapi.Content], anchor string) (*section, error) {
	for _, c := range contents {
		if c.Name != "application/json" || c.Value.Schema == nil {
			continue
		}
		f, err := v.field("", anchor, c.Value.Schema, true, nil)
		if err != nil {
			return nil, err
		}
		s := &section{Fields: f.Fields, Variants: f.Variants}
		unfold(s.Fields)
		if len(f.Variants) > 0 {
			s.Text = f.Text
		}
		return s, nil
	}
	return nil, nil
}

func (v viewer) answer(status string, a *openapi.Answer) (answer, error) {
	one := answer{Status: status, Word: statusWord(status), Text: v.markdown.line(a.Description)}
	v.answers = true
	for _, h := range a.Headers {
		if slices.Contains(everywhere, h.Name) {
			continue
		}
		h.Value.Name = h.Name
		f, err := v.parameter(h.Value, "header."+status)
		if err != nil {
			return one, err
		}
		one.Headers = append(one.Headers, f)
	}
	if !strings.HasPrefix(status, "2") {
		one.Codes = v.codes(status, a)
		return one, nil
	}
	var err error
	one.Body, err = v.body(a.Content, "answer")
	return one, err
}

// codes returns the error codes of the examples of an answer.
func (v viewer) codes(status string, a *openapi.Answer) (list []meaning) {
	for _, c := range a.Content {
		for _, e := range c.Value.Named() {
			code := e.Value.Member("code").Text()
			if code == "" || slices.ContainsFunc(list, func(m meaning) bool { return m.Value == code }) {
				continue
			}
			text := v.meaningOf(code, status)
			list = append(list, meaning{Value: code, Text: v.markdown.line(text), Status: status})
		}
	}
	return list
}

// examples adds the samples of the call and of its answers. base is the URL of the service.
func (page *operation) examples(d *openapi.Document, base string) {
	o := page.Operation
	bodies := []openapi.Example{{}}
	if o.Body != nil {
		if content, ok := o.Body.Content.Of("application/json"); ok && len(content.Named()) > 0 {
			bodies = content.Named()
		}
	}
	for _, e := range bodies {
		call := sample.Call{Document: d, Operation: o, Base: base, Body: e.Value}
		list := snippets{{"sh", sample.Curl(call)}}
		if code := sample.Go(call); code != "" {
			list = append(list, snippet{"go", code})
		}
		if code := sample.TypeScript(call); code != "" {
			list = append(list, snippet{"ts", code})
		}
		page.Samples = append(page.Samples, shown{e.Summary, list.HTML()})
	}
	for _, a := range o.Answers {
		if !strings.HasPrefix(a.Name, "2") {
			continue
		}
		for _, c := range a.Value.Content {
			for _, e := range c.Value.Named() {
				page.Replies = append(page.Replies, reply(a.Name, c.Name, e))
			}
		}
	}
	page.Try = tryOf(o, bodies[0].Value)
}

func reply(status, media string, e openapi.Example) shown {
	title := strings.TrimSuffix(status+" "+e.Summary, " ")
	if media == "application/json" {
		return shown{title, snippet{"json", e.Value.JSON()}.HTML()}
	}
	return shown{title, snippet{"text", e.Value.Text()}.HTML()}
}

// tryOf returns what the form needs; nil if the call needs no key, as those of operators, or
// if its answer is a stream.
func tryOf(o *openapi.Operation, body openapi.Value) *try {
	if o.Keyless() {
		return nil
	}
	for _, a := range o.Answers {
		if _, ok := a.Value.Content.Of("text/event-stream"); ok {
			return nil
		}
	}
	t := &try{}
	for _, p := range o.Parameters {
		in := input{Name: p.Name, Required: p.Required}
		switch {
		case p.In == "path":
			in.Value = p.Example.Text()
			t.Path = append(t.Path, in)
		case p.In == "query":
			t.Query = append(t.Query, in)
		case strings.EqualFold(p.Name, "Idempotency-Key"):
			t.Key = true
		}
	}
	if !body.IsZero() {
		t.Body = body.JSON()
	} else if o.Body != nil {
		t.Body = "{}"
	}
	return t
}

// statusWord is the name of a status; empty if it stands for several.
func statusWord(status string) string {
	code, err := strconv.Atoi(status)
	if err != nil {
		return ""
	}
	return http.StatusText(code)
}
