package api

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"purveyor/internal/api/wire"

	"go.yaml.in/yaml/v3"
)

// OpenAPI is the description of the API. Tests keep it true.
//
//go:embed openapi.yaml
var OpenAPI []byte

// description is OpenAPI with the address of the service.
type description struct {
	yaml []byte
	json func() []byte
}

// newDescription puts the address, if there is one, in the place of the relative one.
func newDescription(publicURL string) description {
	d := description{yaml: OpenAPI}
	if publicURL != "" {
		d.yaml = bytes.Replace(OpenAPI, []byte("\n  - url: /\n"), append(wire.AppendString([]byte("\n  - url: "), publicURL), '\n'), 1)
	}
	d.json = sync.OnceValue(func() []byte {
		text, err := yamlToJSON(d.yaml)
		if err != nil {
			panic(err) // the document is part of the program, and tests read it
		}
		return text
	})
	return d
}

func (d description) serveYAML(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(d.yaml) // the caller has gone
}

func (d description) serveJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(d.json())
}

// operationIDs are the operations of the document, by method and path. It reads lines, because to
// parse the whole document would delay each start of the process.
var operationIDs = sync.OnceValue(func() map[string]string {
	list, path, method := map[string]string{}, "", ""
	for line := range bytes.Lines(OpenAPI) {
		text := strings.TrimRight(string(line), "\n")
		switch indent := len(text) - len(strings.TrimLeft(text, " ")); {
		case text == "": // in a description
		case indent == 0:
			path, method = "", ""
		case indent == 2 && strings.HasPrefix(text, "  /"):
			path = strings.TrimSuffix(text[2:], ":")
		case indent == 4:
			method = strings.ToUpper(strings.TrimSuffix(text[4:], ":"))
		case indent == 6 && path != "":
			if id, ok := strings.CutPrefix(text, "      operationId: "); ok {
				list[method+" "+path] = id
			}
		}
	}
	return list
})

// yamlToJSON encodes a YAML document as JSON, with its members in the same order.
func yamlToJSON(text []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	if len(root.Content) != 1 {
		return nil, errors.New("the document is empty")
	}
	return appendNode(nil, root.Content[0])
}

func appendNode(b []byte, n *yaml.Node) ([]byte, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return appendNode(b, n.Alias)
	case yaml.MappingNode:
		return appendNodes(append(b, '{'), n.Content, 2, '}')
	case yaml.SequenceNode:
		return appendNodes(append(b, '['), n.Content, 1, ']')
	}
	return appendScalar(b, n)
}

// appendNodes appends the elements of a list, or the names and values of a mapping, which
// take two nodes each.
func appendNodes(b []byte, nodes []*yaml.Node, each int, end byte) (_ []byte, err error) {
	for i, n := range nodes {
		if i > 0 && i%each == 0 {
			b = append(b, ',')
		}
		if each == 2 && i%2 == 0 {
			b = append(wire.AppendString(b, n.Value), ':')
		} else if b, err = appendNode(b, n); err != nil {
			return nil, err
		}
	}
	return append(b, end), nil
}

func appendScalar(b []byte, n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!str":
		return wire.AppendString(b, n.Value), nil
	case "!!null":
		return append(b, "null"...), nil
	case "!!bool", "!!int", "!!float":
		if _, err := strconv.ParseFloat(n.Value, 64); err == nil || n.Value == "true" || n.Value == "false" {
			return append(b, n.Value...), nil
		}
	}
	return nil, fmt.Errorf("line %d: %s %q has no place in JSON", n.Line, n.ShortTag(), n.Value)
}
