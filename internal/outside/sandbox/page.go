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

// Page is a public page of a sandbox. Its style and script are part of its HTML, and
// its policy blocks every other request that is not allowed here.
type Page struct {
	template *template.Template
	policy   string
}

// NewPage makes a page from a template. In the template, {{template "head" "a
// title"}} is the head of the page, with the common style and then its own;
// {{script}} is its script, which stands alone between <script> and </script>; and
// {{template "message" .}} shows a Title and a Text. Everything else that the page
// loads or links to has to be allowed by directives of a Content-Security-Policy.
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

// digest returns the name that a policy has for an inline text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write answers with the page for this data.
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
	_, _ = w.Write(html.Bytes()) // an error means that the client has gone
}

// Protect sets the security headers of the page and of all other answers below its
// address.
func (p *Page) Protect(h http.Header) {
	h.Set("Content-Security-Policy", p.policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer") // the address alone gives access to the page
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}
