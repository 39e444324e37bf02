package site

import (
	"bytes"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"purveyor/internal/web"
)

// Pages are the templates of pages, by their names: the file pages/NAME.html, which defines
// "content", inside the layout of pages/layout.html. They also have the templates of Parts and,
// if there is one, of pages/parts.html.
//
// A template is made when its page is first asked for. Together they are a fifth of what a
// service keeps in memory that only answers partners, and in many small pieces, over which each
// collection of garbage goes.
type Pages struct {
	files  fs.FS
	layout func() *template.Template
	made   sync.Map // names to templates
}

// NewPages are the pages of the files. The words are functions for the templates beside Words.
func NewPages(files fs.FS, words ...template.FuncMap) *Pages {
	return &Pages{files: files, layout: sync.OnceValue(func() *template.Template {
		layout := template.New("").Funcs(Words)
		for _, w := range words {
			layout.Funcs(w)
		}
		template.Must(layout.ParseFS(Parts, "parts/*.html"))
		template.Must(layout.ParseFS(files, "pages/layout.html"))
		if shared, err := fs.Glob(files, "pages/parts.html"); err == nil && len(shared) > 0 {
			template.Must(layout.ParseFS(files, shared...))
		}
		return layout
	})}
}

// Page is the template of a page. A page that is not there, and one that is no template, is a bug,
// so it panics.
func (p *Pages) Page(name string) *template.Template {
	if made, ok := p.made.Load(name); ok {
		return made.(*template.Template)
	}
	made, _ := p.made.LoadOrStore(name, template.Must(template.Must(p.layout().Clone()).ParseFS(p.files, "pages/"+name+".html")))
	return made.(*template.Template)
}

// Made makes a page. A template that fails is a bug, so it panics: nothing was written, and the
// caller gets a 500.
func Made(page *template.Template, data any) []byte {
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, "layout", data); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Answer answers with a page.
func Answer(w http.ResponseWriter, r *http.Request, status int, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(page) // an error means that the browser has gone
	}
}

// Missing is the refusal of a request that no route serves. Its path may be there with another
// method, which the header Allow then names.
func Missing(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return &web.Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: r.Method + " is not possible here"}
	}
	return &web.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page"}
}

// Title is the title of a page that tells of a refusal.
func Title(status int) string {
	switch status {
	case http.StatusForbidden:
		return "You may not do this"
	case http.StatusNotFound:
		return "Not found"
	case http.StatusConflict:
		return "Not possible any more"
	case http.StatusBadRequest:
		return "Something is not right"
	case http.StatusTooManyRequests:
		return "Too many tries"
	}
	return "This did not work"
}
