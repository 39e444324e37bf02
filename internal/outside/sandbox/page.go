package sandbox

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
)

var (
	//go:embed page/base.html
	baseHTML string
	//go:embed page/base.css
	baseCSS string
)

// Page is a page of a sandbox that people see: HTML with its style and script in
// it, which asks nobody else for anything that is not allowed here.
type Page struct {
	template *template.Template
	policy   string
}

// NewPage makes a page of a template. In it, {{template "head" "a title"}} is the
// head of the page, with the style of all pages and then its own; {{script}} is
// its script, which stands between <script> and </script> alone; and {{template
// "message" .}} shows a Title and a Text. Whatever else it loads or leads to is
// to be allowed, by directives of a Content-Security-Policy.
func NewPage(html, style, script string, allowed ...string) *Page {
	style = baseCSS + style
	t := template.Must(template.New("page").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) },
		"script": func() template.JS { return template.JS(script) },
	}).Parse(html))
	template.Must(t.New("base").Parse(baseHTML))
	policy := []string{"default-src 'none'", "style-src " + digest(style)}
	if script != "" {
		policy = append(policy, "script-src "+digest(script))
	}
	policy = append(append(policy, allowed...), "frame-ancestors 'none'", "base-uri 'none'")
	return &Page{t, strings.Join(policy, "; ")}
}

// digest is how a policy names a text that stands in the page.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write answers with the page as it is for the data.
func (p *Page) Write(w http.ResponseWriter, status int, data any) {
	var html bytes.Buffer
	if err := p.template.Execute(&html, data); err != nil {
		slog.Error("a page of a sandbox", "error", err)
		http.Error(w, "Internal error", http.StatusInternalServerError)
		return
	}
	p.Protect(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(html.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(html.Bytes()) // who asked has gone
}

// Protect sets what a browser must know of the page, and of all that is answered
// under its address.
func (p *Page) Protect(h http.Header) {
	h.Set("Content-Security-Policy", p.policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer") // the address of the page is all one needs to see it
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}
