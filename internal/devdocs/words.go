package devdocs

import (
	"html/template"
	"strconv"
	"strings"
)

// words are the functions of the templates.
var words = template.FuncMap{
	"file":   files.Path,
	"lower":  strings.ToLower,
	"findAt": func() string { return findPath },
	"count": func(n int, one, more string) string {
		if n == 1 {
			return "1 " + one
		}
		return strconv.Itoa(n) + " " + more
	},
}

// home returns the content of the first page.
func (s *site) home() homePage {
	var groups []*group
	for _, g := range s.groups {
		if len(g.Operations) > 0 {
			groups = append(groups, g)
		}
	}
	first := "curl " + s.PublicURL + "/v1/health \\\n  -H 'x-api-key: sk_test_...'"
	return homePage{Guides: s.guides, Groups: groups, First: snippet{"sh", first}.HTML()}
}

// homePage is the content of the first page.
type homePage struct {
	Guides []*guide
	Groups []*group
	First  template.HTML
}

// Line returns a text of a guide for a page.
func (s *site) Line(text string) template.HTML { return s.markdown.line(text) }
