package devdocs

import (
	"fmt"
	"strings"
)

// llms returns the list of pages for language models: guides, and one line for each operation.
func (s *site) llms() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n> %s\n\nBase URL: %s. Every call needs the header x-api-key.\n\n## Guides\n\n", s.document.Title, s.document.Summary, s.PublicURL)
	for _, g := range s.guides {
		fmt.Fprintf(&b, "- [%s](%s%s.md): %s\n", g.Title, s.PublicURL, g.Path(), bare(s.markdown.line(g.Summary)))
	}
	fmt.Fprintf(&b, "\n## API document\n\n- [OpenAPI, YAML](%[1]s/openapi.yaml): every operation, field, error and event\n- [OpenAPI, JSON](%[1]s/openapi.json): the same\n", s.PublicURL)
	for _, g := range s.groups {
		if len(g.Operations) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", g.Name)
		for _, o := range g.Operations {
			fmt.Fprintf(&b, "- [%s](%s%s): %s %s: %s\n", o.ID, s.PublicURL, operationPath(o), o.Method, o.Path, o.Summary)
		}
	}
	b.WriteString("\n## Events\n\n")
	for _, e := range s.document.Events {
		fmt.Fprintf(&b, "- [%s](%s%s): %s\n", e.Path, s.PublicURL, eventPath(e.Path), e.Summary)
	}
	return []byte(b.String())
}
