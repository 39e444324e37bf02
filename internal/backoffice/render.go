package backoffice

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"path"
	"strings"
	"sync"

	"purveyor/internal/site"
	"purveyor/internal/web"
)

//go:embed pages/*.html
var pageFiles embed.FS

// pages are the templates of the pages by their names: the file pages/NAME.html, which
// defines "content", inside the layout. parts.html has what several pages share. They are read
// when an office is made, since other commands of the program need none.
var pages = sync.OnceValue(func() map[string]*template.Template {
	files, err := pageFiles.ReadDir("pages")
	if err != nil {
		panic(err) // they are embedded
	}
	list := map[string]*template.Template{}
	layout := template.Must(template.New("").Funcs(words).Funcs(site.Words).ParseFS(pageFiles, "pages/layout.html", "pages/parts.html"))
	template.Must(layout.ParseFS(site.Parts, "parts/*.html"))
	for _, f := range files {
		if name := strings.TrimSuffix(f.Name(), ".html"); name != "layout" && name != "parts" {
			list[name] = template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, path.Join("pages", f.Name())))
		}
	}
	return list
})

// frame is the data of the layout.
type frame struct {
	*visit
	Title   string
	Content any
	Problem *web.Error // why the form of the page was refused; nil: it was not
	Said    string     // what the act before this page did; empty: there was none
}

// page answers with a page of the status 200.
func (v *visit) page(name, title string, content any) error {
	v.render(http.StatusOK, name, frame{Title: title, Content: content, Said: v.said()})
	return nil
}

// again answers a form that was refused: with its page, which keeps what was typed, and the
// reason above it.
func (v *visit) again(refused error, name, title string, content any) error {
	problem := web.Refuse(v.w, refused)
	v.render(problem.Status, name, frame{Title: title, Content: content, Problem: problem})
	return nil
}

// render answers with a page. A template that fails is a bug, so it panics: nothing was
// written, and the caller gets a 500.
func (v *visit) render(status int, name string, data frame) {
	page := v.made(name, data)
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	if v.Method != "HEAD" {
		_, _ = v.w.Write(page) // an error means that the browser has gone
	}
}

// made makes a page.
func (v *visit) made(name string, data frame) []byte {
	var b bytes.Buffer
	data.visit = v
	if err := pages()[name].ExecuteTemplate(&b, "layout", data); err != nil {
		panic(err)
	}
	return b.Bytes()
}
