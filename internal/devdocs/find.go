package devdocs

import (
	"cmp"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"purveyor/internal/devdocs/openapi"
)

// findPath is the page that finds others.
const findPath = Prefix + "/find"

// entry is a page, or a part of one, that can be found.
type entry struct {
	Path, Title, Where string
	title, names, text string // what is looked through, in small letters
	Summary            string
}

const (
	mostFound  = 30
	mostWords  = 8
	mostLetter = 100 // of what is looked for
)

// newIndex makes the entries of all pages.
func (s *site) newIndex() (list []entry) {
	add := func(path, where, title, summary, names, text string) {
		list = append(list, entry{Path: path, Where: where, Title: title, Summary: clip(summary),
			title: strings.ToLower(title), names: strings.ToLower(names), text: strings.ToLower(text)})
	}
	for _, g := range s.guides {
		add(g.Path(), "Guide", g.Title, bare(s.markdown.line(g.Summary)), g.Name, g.Summary)
		for _, part := range s.partsOf(g) {
			add(g.Path()+"#"+part.ID, g.Title, part.Text, part.body, "", part.body)
		}
	}
	for _, g := range s.groups {
		text := bare(s.markdown.block(g.text))
		add(g.Path, "Reference", g.Name, text, "", text)
		for _, o := range g.Operations {
			add(operationPath(o), g.Name, o.Summary, o.Method+" "+o.Path, o.ID+" "+o.Method+" "+o.Path+" "+s.namesOf(o), o.Description)
		}
	}
	for _, e := range s.document.Events {
		add(eventPath(e.Path), "Event", e.Path, e.Summary, s.namesOf(e), e.Summary+" "+e.Description)
	}
	for _, r := range s.refusals {
		for _, code := range r.Codes {
			add(apiPath+"/errors#"+code, "Error code, "+r.Status, code, bare(s.markdown.line(r.Text)), "", r.Text)
		}
	}
	return list
}

// namesOf returns the names of all fields of an operation.
func (s *site) namesOf(o *openapi.Operation) string {
	var names []string
	seen := map[string]bool{}
	var walk func(*openapi.Schema)
	walk = func(schema *openapi.Schema) {
		r, err := s.document.Resolve(schema)
		if err != nil || r.Name != "" && seen[r.Name] {
			return
		}
		seen[r.Name] = true
		for _, p := range r.Properties {
			names = append(names, p.Name)
			walk(p.Value)
		}
		for _, one := range r.Variants {
			walk(one)
		}
		if r.Items != nil {
			walk(r.Items)
		}
	}
	for _, p := range o.Parameters {
		if !slices.Contains(everywhere, p.Name) {
			names = append(names, p.Name)
		}
	}
	contents := []openapi.Entry[*openapi.Content]{}
	if o.Body != nil {
		contents = append(contents, o.Body.Content...)
	}
	for _, a := range o.Answers {
		if strings.HasPrefix(a.Name, "2") {
			contents = append(contents, a.Value.Content...)
		}
	}
	for _, c := range contents {
		if c.Value.Schema != nil {
			walk(c.Value.Schema)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// part is a part of a guide, from a heading to the next one.
type part struct {
	heading
	body string
}

var headings = regexp.MustCompile(`(?m)^## .*$`)

func (s *site) partsOf(g *guide) (list []part) {
	_, toc := s.markdown.page(g.body())
	bodies := headings.Split(string(g.body()), -1)
	for i, h := range toc {
		if i+1 < len(bodies) {
			list = append(list, part{h, bare(s.markdown.block(bodies[i+1]))})
		}
	}
	return list
}

var tags = regexp.MustCompile(`<[^>]*>`)

// bare returns the text of HTML that this package has made.
func bare(text template.HTML) string {
	plain := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&amp;", "&").Replace(tags.ReplaceAllString(string(text), ""))
	return strings.Join(strings.Fields(plain), " ")
}

// clip shortens a text to a line or two.
func clip(text string) string {
	if len(text) <= 160 {
		return text
	}
	end := strings.LastIndexByte(text[:160], ' ')
	return text[:max(end, 1)] + " ..."
}

// found is an entry that was looked for, and how well it fits.
type found struct {
	entry
	rank int
}

// find returns the entries that have all words, the best first.
func (s *site) find(query string) (list []found) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	words = words[:min(len(words), mostWords)]
	for _, e := range s.index() {
		rank := 0
		for _, word := range words {
			one := e.rank(word)
			if one == 0 {
				rank = 0
				break
			}
			rank += one
		}
		if rank > 0 {
			list = append(list, found{e, rank})
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.rank, a.rank) })
	return list[:min(len(list), mostFound)]
}

// rank tells how well an entry fits a word; 0: not at all.
func (e entry) rank(word string) int {
	switch {
	case e.title == word:
		return 40
	case begins(e.title, word):
		return 20
	case strings.Contains(e.title, word):
		return 10
	case begins(e.names, word):
		return 6
	case strings.Contains(e.names, word):
		return 4
	case begins(e.text, word):
		return 2
	case strings.Contains(e.text, word):
		return 1
	}
	return 0
}

// begins reports whether a word of a text begins with another one.
func begins(text, word string) bool {
	return strings.HasPrefix(text, word) || strings.Contains(text, " "+word)
}

// results is the content of the page that finds others.
type results struct {
	Query string
	Found []found
}

func (s *site) serveFind(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if letters := []rune(query); len(letters) > mostLetter {
		query = string(letters[:mostLetter])
	}
	title := "Find"
	if query != "" {
		title = "Find: " + query
	}
	send(w, http.StatusOK, s.render("find", frame{Title: title, Here: findPath, Content: results{query, s.find(query)}}))
}
