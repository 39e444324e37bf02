package devdocs

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"slices"
	"strings"
)

// order is that of the guides in the menu. Others follow.
var order = []string{"start", "test-mode", "idempotency", "webhooks", "polling", "catalog-sync", "portal", "certification", "going-live", "changes"}

// guide is a text that explains one subject.
type guide struct {
	Name, Title, Summary string
	source               []byte
}

// Path is that of its page.
func (g *guide) Path() string { return Prefix + "/" + g.Name }

// written is the content of a guide's page.
type written struct {
	*guide
	near
	Text template.HTML
	Toc  []heading
}

// exampleURL stands in guides for the address of the service.
const exampleURL = "https://shop.example.com"

// readGuides reads all guides, in their order.
func readGuides(folder fs.FS, publicURL string) ([]*guide, error) {
	files, err := fs.Glob(folder, "*.md")
	if err != nil {
		return nil, err
	}
	var list []*guide
	for _, name := range files {
		source, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		g := &guide{Name: strings.TrimSuffix(name, ".md"), source: bytes.ReplaceAll(source, []byte(exampleURL), []byte(publicURL))}
		title, rest, ok := bytes.Cut(bytes.TrimPrefix(g.source, []byte("# ")), []byte("\n"))
		if !ok || bytes.Equal(title, g.source) {
			return nil, fmt.Errorf("%s does not begin with a title", name)
		}
		first, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte("\n\n"))
		g.Title, g.Summary = string(title), strings.Join(strings.Fields(string(first)), " ")
		list = append(list, g)
	}
	rank := func(g *guide) int {
		if i := slices.Index(order, g.Name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(list, func(a, b *guide) int { return rank(a) - rank(b) })
	return list, nil
}

// body is a guide without its title.
func (g *guide) body() []byte {
	_, rest, _ := bytes.Cut(g.source, []byte("\n"))
	return rest
}
