package devdocs

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown turns texts into HTML. It takes no HTML from them. Code that names an operation or
// an event becomes a link to its page.
type markdown struct {
	goldmark.Markdown
	links map[string]string // from code to the path of its page
}

func newMarkdown(links map[string]string) *markdown {
	m := &markdown{links: links}
	m.Markdown = goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(m, 100))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(parts{}, 100))))
	return m
}

// block returns a text as paragraphs.
func (m *markdown) block(source string) template.HTML {
	out, _ := m.page([]byte(source))
	return out
}

// line returns a text without the paragraph around it, if it is one.
func (m *markdown) line(source string) template.HTML {
	out := strings.TrimSpace(string(m.block(source)))
	inner, ok := strings.CutPrefix(out, "<p>")
	if inner, ok2 := strings.CutSuffix(inner, "</p>"); ok && ok2 && !strings.Contains(inner, "<p>") {
		return html(inner)
	}
	return html(out)
}

// page returns a text with the headings of the second level that it has.
func (m *markdown) page(source []byte) (template.HTML, []heading) {
	root := m.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext()))
	var toc []heading
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			toc = append(toc, heading{idOf(h), plain(h, source)})
		}
	}
	var b bytes.Buffer
	if err := m.Renderer().Render(&b, source, root); err != nil {
		panic(err) // a buffer takes everything
	}
	return html(b.String()), toc
}

func idOf(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	text, _ := id.([]byte)
	return string(text)
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		}
		if !entering && n.Type() == ast.TypeBlock {
			b.WriteByte('\n')
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// otherGuide matches a link from a guide to another one, as it stands in the repository.
var otherGuide = regexp.MustCompile(`^([a-z-]+)\.md(#.*)?$`)

// Transform implements parser.ASTTransformer: it links guides and what code names, and puts
// code in several languages together.
func (m *markdown) Transform(root *ast.Document, reader text.Reader, _ parser.Context) {
	source := reader.Source()
	var spans []*ast.CodeSpan
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok {
			link.Destination = otherGuide.ReplaceAll(link.Destination, []byte(Prefix+"/$1$2"))
			return ast.WalkSkipChildren, nil
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		if span, ok := n.(*ast.CodeSpan); ok {
			spans = append(spans, span)
		}
		return ast.WalkContinue, nil
	})
	for _, span := range spans {
		if path, ok := m.links[plain(span, source)]; ok {
			link := ast.NewLink()
			link.Destination = []byte(path)
			span.Parent().ReplaceChild(span.Parent(), span, link)
			link.AppendChild(link, span)
		}
	}
	gather(root, source)
}

// gather puts neighbouring blocks of code in different languages into one choice.
func gather(root ast.Node, source []byte) {
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		run, seen := []*ast.FencedCodeBlock{}, map[string]bool{}
		for at := n; at != nil; at = at.NextSibling() {
			code, ok := at.(*ast.FencedCodeBlock)
			if !ok || languages[string(code.Language(source))] == "" || seen[string(code.Language(source))] {
				break
			}
			seen[string(code.Language(source))] = true
			run = append(run, code)
		}
		if len(run) < 2 {
			continue
		}
		group := &choice{}
		root.InsertBefore(root, n, group)
		for _, code := range run {
			group.snippets = append(group.snippets, snippet{string(code.Language(source)), string(code.Lines().Value(source))})
			root.RemoveChild(root, code)
		}
		n = group
	}
}

// choice is code in several languages, of which the reader sees one.
type choice struct {
	ast.BaseBlock
	snippets []snippet
}

var kindChoice = ast.NewNodeKind("Choice")

// Kind implements ast.Node.
func (*choice) Kind() ast.NodeKind { return kindChoice }

// Dump implements ast.Node.
func (c *choice) Dump(source []byte, level int) { ast.DumpHelper(c, source, level, nil, nil) }

// parts renders what looks different here than goldmark has it.
type parts struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (parts) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if code := n.(*ast.FencedCodeBlock); entering {
			_, _ = w.WriteString(string(snippet{string(code.Language(source)), string(code.Lines().Value(source))}.HTML()))
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(kindChoice, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(string(snippets(n.(*choice).snippets).HTML()))
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		h := n.(*ast.Heading)
		level := string(rune('0' + h.Level))
		if entering {
			_, _ = w.WriteString("<h" + level + ` id="` + template.HTMLEscapeString(idOf(h)) + `">`)
		} else {
			_, _ = w.WriteString("</h" + level + ">\n")
		}
		return ast.WalkContinue, nil
	})
}
