// Package sample writes calls of the API as developers type them: with curl, and with the SDKs
// for Go and TypeScript.
package sample

import (
	"cmp"
	"net/url"
	"strings"

	"purveyor/internal/devdocs/openapi"
)

// Key stands in samples for the caller's own key.
const Key = "sk_test_..."

// Call is a call of an operation with the values of an example.
type Call struct {
	Document  *openapi.Document
	Operation *openapi.Operation
	Base      string        // URL of the service
	Body      openapi.Value // the zero value: none
}

// Path is the path of the operation with the values of its examples.
func (c Call) Path() string {
	path := c.Operation.Path
	for _, p := range c.in("path") {
		path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(value(p)), 1)
	}
	return path
}

// Query is the query with the first parameter that has an example, or with none.
func (c Call) Query() string {
	for _, p := range c.query() {
		return "?" + p.Name + "=" + strings.ReplaceAll(url.QueryEscape(value(p)), "%2C", ",")
	}
	return ""
}

// query returns the parameters that samples send.
func (c Call) query() []*openapi.Parameter {
	for _, p := range c.in("query") {
		if !p.Example.IsZero() {
			return []*openapi.Parameter{p}
		}
	}
	return nil
}

func (c Call) in(place string) (list []*openapi.Parameter) {
	for _, p := range c.Operation.Parameters {
		if p.In == place {
			list = append(list, p)
		}
	}
	return list
}

// value is the example of a parameter, or its name if it has none.
func value(p *openapi.Parameter) string { return cmp.Or(p.Example.Text(), p.Name) }

// IdempotencyKey is the key that samples send; empty: the operation takes none.
func (c Call) IdempotencyKey() string {
	for _, p := range c.in("header") {
		if strings.EqualFold(p.Name, "Idempotency-Key") {
			return value(p)
		}
	}
	return ""
}

// streams reports whether the answer is a stream of events.
func (c Call) streams() bool {
	for _, answer := range c.Operation.Answers {
		if _, ok := answer.Value.Content.Of("text/event-stream"); ok {
			return true
		}
	}
	return false
}

// Curl returns the call as a line of the shell.
func Curl(c Call) string {
	if c.Body.IsObject() && len(c.Body.Members()) == 0 && !c.Operation.Body.Required {
		c.Body = openapi.Value{}
	}
	command := "curl"
	if c.streams() {
		command += " -N"
	}
	if c.Operation.Method != "GET" && c.Body.IsZero() {
		command += " -X " + c.Operation.Method
	}
	lines := []string{command + " " + shell(c.Base+c.Path()+c.Query())}
	if !c.Operation.Keyless() {
		lines = append(lines, "-H 'x-api-key: "+Key+"'")
	}
	if key := c.IdempotencyKey(); key != "" {
		lines = append(lines, "-H "+quoted("Idempotency-Key: "+key))
	}
	if !c.Body.IsZero() {
		lines = append(lines, "-H 'Content-Type: application/json'", "-d "+quoted(c.Body.JSON()))
	}
	return strings.Join(lines, " \\\n  ")
}

// shell quotes a word where the shell would see more in it than text.
func shell(word string) string {
	if strings.ContainsAny(word, "?&*'\"$ ;()<>|\\`") {
		return quoted(word)
	}
	return word
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
