package site

import (
	"bytes"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"purveyor/internal/web"
)

// Pages reads the templates of pages, by their names: the file pages/NAME.html, which defines
// "content", inside the layout of pages/layout.html. They also have the templates of Parts and,
// if there is one, of pages/parts.html.
func Pages(files fs.FS, words ...template.FuncMap) map[string]*template.Template {
	names, err := fs.Glob(files, "pages/*.html")
	if err != nil {
		panic(err) // they are embedded
	}
	layout := template.New("").Funcs(Words)
	for _, w := range words {
		layout.Funcs(w)
	}
	template.Must(layout.ParseFS(Parts, "parts/*.html"))
	template.Must(layout.ParseFS(files, "pages/layout.html"))
	list := map[string]*template.Template{}
	for _, file := range names {
		if path.Base(file) == "parts.html" {
			template.Must(layout.ParseFS(files, file))
		}
	}
	for _, file := range names {
		if name := strings.TrimSuffix(path.Base(file), ".html"); name != "layout" && name != "parts" {
			list[name] = template.Must(template.Must(layout.Clone()).ParseFS(files, file))
		}
	}
	return list
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
