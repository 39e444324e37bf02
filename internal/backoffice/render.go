package backoffice

import (
	"embed"
	"net/http"

	"purveyor/internal/site"
	"purveyor/internal/web"
)

//go:embed pages/*.html
var pageFiles embed.FS

// pages are the templates of the pages by their names: the file pages/NAME.html, which
// defines "content", inside the layout. parts.html has what several pages share.
var pages = site.NewPages(pageFiles, words)

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

// render answers with a page.
func (v *visit) render(status int, name string, data frame) {
	site.Answer(v.w, v.Request, status, v.made(name, data))
}

// made makes a page.
func (v *visit) made(name string, data frame) []byte {
	data.visit = v
	return site.Made(pages.Page(name), data)
}
