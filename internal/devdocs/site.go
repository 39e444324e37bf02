package devdocs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"purveyor/internal/devdocs/openapi"
)

// site has all pages. What a page shows is made with the page.
type site struct {
	PublicURL string
	viewer
	guides []*guide
	groups []*group
	menu   menu
	pages  map[string]*page
	index  func() []entry
}

// group is a subject of the reference: a text that all operations share, or operations.
type group struct {
	Name, Path, text string
	Operations       []*openapi.Operation
}

const (
	apiPath    = Prefix + "/api"
	errorsPath = apiPath + "/errors"
	eventsPath = Prefix + "/events"
)

func newSite(o Options) (*site, error) {
	document, err := openapi.Read(o.Document)
	if err != nil {
		return nil, fmt.Errorf("the API's document: %w", err)
	}
	s := &site{PublicURL: o.PublicURL, pages: map[string]*page{}, viewer: viewer{document: document, markdown: newMarkdown(linksOf(document))}}
	if codes := document.Schema("ErrorCode"); codes != nil {
		s.refusals = refusalsOf(codes.Description, s.markdown)
	}
	s.learned = sync.OnceValue(s.learn)
	if s.guides, err = readGuides(o.Guides, o.PublicURL); err != nil {
		return nil, err
	}
	for _, tag := range document.Tags {
		s.groups = append(s.groups, s.groupOf(tag))
	}
	s.menu = s.newMenu()
	s.addPages()
	s.index = sync.OnceValue(s.newIndex)
	return s, nil
}

func (s *site) groupOf(tag openapi.Tag) *group {
	g := &group{Name: tag.Name, Path: apiPath + "/" + slug(tag.Name), text: tag.Description}
	for _, o := range s.document.Operations {
		if slices.Contains(o.Tags, tag.Name) {
			g.Operations = append(g.Operations, o)
		}
	}
	return g
}

// slug is the end of the path of a group's page.
func slug(name string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
}

func operationPath(o *openapi.Operation) string { return apiPath + "/" + o.ID }

func eventPath(kind string) string { return eventsPath + "/" + kind }

// linksOf returns the pages that code in texts names: operations and kinds of events.
func linksOf(d *openapi.Document) map[string]string {
	links := map[string]string{"ErrorCode": errorsPath, "/openapi.yaml": "/openapi.yaml", "/openapi.json": "/openapi.json"}
	for _, o := range d.Operations {
		links[o.Method+" "+o.Path] = operationPath(o)
	}
	for _, e := range d.Events {
		links[e.Path] = eventPath(e.Path)
	}
	return links
}

// addPages names all pages. Each is made at its first request.
func (s *site) addPages() {
	s.add(Prefix, "home", "Documentation", func() (any, error) { return s.home(), nil })
	s.add(apiPath, "reference", "API reference", func() (any, error) { return s.groups, nil })
	for i, g := range s.guides {
		s.addGuide(i, g)
	}
	var all []link
	for _, g := range s.groups {
		s.add(g.Path, "group", g.Name, func() (any, error) { return s.described(g), nil })
		for _, o := range g.Operations {
			all = append(all, link{Path: operationPath(o), Word: o.Summary})
			place := len(all) - 1
			s.add(operationPath(o), "operation", o.Summary, func() (any, error) { return s.operation(o, g, all, place) })
		}
	}
	s.add(eventsPath, "events", "Event kinds", func() (any, error) { return s.document.Events, nil })
	kinds := s.menu.Events.Links
	for i, o := range s.document.Events {
		s.add(eventPath(o.Path), "event", o.Path, func() (any, error) { return s.event(o, kinds, i) })
	}
	s.pages[LLMs] = newPage("text/plain; charset=utf-8", s.llms)
}

// add names a page. Content that cannot be made is a bug of the document, which tests find.
func (s *site) add(path, name, title string, content func() (any, error)) {
	s.pages[path] = newPage("text/html; charset=utf-8", func() []byte {
		c, err := content()
		if err != nil {
			panic(fmt.Errorf("%s: %w", path, err))
		}
		return s.render(name, frame{Title: title, Here: path, Content: c})
	})
}

func (s *site) addGuide(i int, g *guide) {
	var links []link
	for _, other := range s.guides {
		links = append(links, link{Path: other.Path(), Word: other.Title})
	}
	s.add(g.Path(), "guide", g.Title, func() (any, error) {
		content := written{guide: g, near: nearTo(links, i)}
		content.Text, content.Toc = s.markdown.page(g.body())
		return content, nil
	})
	s.pages[g.Path()+".md"] = newPage("text/markdown; charset=utf-8", func() []byte { return g.source })
}

// described is the content of the page of a group.
type described struct {
	*group
	Text  template.HTML
	Codes []statusCodes // of the page about errors
}

func (s *site) described(g *group) described {
	d := described{group: g, Text: s.markdown.block(g.text)}
	if g.Path == errorsPath {
		d.Codes = byStatus(s.refusals)
	}
	return d
}

//go:embed pages/*.html
var pageFiles embed.FS

// templates are the templates of the pages by their names: the file pages/NAME.html, which
// defines "content", inside the layout. parts.html has what several pages share.
var templates = sync.OnceValue(func() map[string]*template.Template {
	entries, err := pageFiles.ReadDir("pages")
	if err != nil {
		panic(err) // they are embedded
	}
	list := map[string]*template.Template{}
	layout := template.Must(template.New("").Funcs(words).ParseFS(pageFiles, "pages/layout.html", "pages/parts.html"))
	for _, f := range entries {
		if name := strings.TrimSuffix(f.Name(), ".html"); name != "layout" && name != "parts" {
			list[name] = template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, path.Join("pages", f.Name())))
		}
	}
	return list
})

// render makes a page. A template that fails is a bug, so it panics.
func (s *site) render(name string, f frame) []byte {
	f.site = s
	var b bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&b, "layout", f); err != nil {
		panic(err)
	}
	return b.Bytes()
}
