package portal

import (
	"embed"
	"errors"
	"net/http"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

//go:embed pages/*.html
var pageFiles embed.FS

var pages = site.NewPages(pageFiles)

// visit is one request of a member.
type visit struct {
	*http.Request
	w       *web.Writer
	p       *Portal
	route   route
	member  commerce.Member // without an ID on pages that are open to all
	partner commerce.Partner
	session commerce.Session
}

func (p *Portal) visit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{Request: r, w: web.WriterOf(w), p: p}
}

func (v *visit) now() commerce.Millis { return commerce.MillisOf(v.p.env.Now()) }

// actor is the member as the actor of use cases.
func (v *visit) actor() commerce.Actor {
	return commerce.Actor{Kind: commerce.ActorMember, ID: v.member.ID, Of: v.partner.ID, Mode: commerce.Live, TraceID: v.w.TraceID, Address: web.Address(v.Request)}
}

// caller is the actor with its partner.
func (v *visit) caller() service.Caller { return service.Caller{Actor: v.actor(), Partner: v.partner} }

// repeat tells a form that is sent twice by its key.
func (v *visit) repeat(op string) service.Repeat {
	return service.Repeat{Key: commerce.ReplyKey{PartnerID: v.member.ID, Op: op, Key: v.PostFormValue("key")}}
}

// What the layout shows around each page.

// SignedIn reports whether the page has a member. Without one it has no menu.
func (v *visit) SignedIn() bool { return v.member.ID != "" }

// MayChange reports whether the member may change anything.
func (v *visit) MayChange() bool { return v.member.Role == commerce.MemberAdmin }

// Member is the member.
func (v *visit) Member() commerce.Member { return v.member }

// Partner is the member's partner.
func (v *visit) Partner() commerce.Partner { return v.partner }

// link is an entry of the menu.
type link struct {
	Path, Word, Icon string
	Current          bool // the page is this one, or below it
}

// Menu has the pages in the order of the table of routes.
func (v *visit) Menu() (list []link) {
	for _, r := range v.p.routes {
		if r.word != "" {
			here := v.URL.Path == r.path || r.path != Prefix && strings.HasPrefix(v.URL.Path, r.path+"/")
			list = append(list, link{r.path, r.word, r.icon, here})
		}
	}
	return list
}

// Tabs are the entries of the menu that a phone shows at its bottom edge.
func (v *visit) Tabs() []link {
	const tabs = 3
	menu := v.Menu()
	return menu[:min(tabs, len(menu))]
}

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
	v.render(http.StatusOK, name, frame{Title: title, Content: content, Said: v.p.cookies.Said(v.w, v.Request)})
	return nil
}

// again answers a form that was refused: with its page, which keeps what was typed, and the reason
// above it. Any other failure is answered as it is.
func (v *visit) again(refused error, name, title string, content any) error {
	_, isRefusal := errors.AsType[*commerce.Error](refused)
	_, isAnswer := errors.AsType[*web.Error](refused)
	if !isRefusal && !isAnswer {
		return refused
	}
	problem := web.Refuse(v.w, refused)
	v.render(problem.Status, name, frame{Title: title, Content: content, Problem: problem})
	return nil
}

func (v *visit) render(status int, name string, data frame) {
	data.visit = v
	site.Answer(v.w, v.Request, status, site.Made(pages.Page(name), data))
}

// done ends an act: the browser goes to a page, which says what was done.
func (v *visit) done(to, said string) error {
	v.p.cookies.Say(v.w, said)
	http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
	return nil
}

// refuse answers with the page of an error.
func (v *visit) refuse(err error) {
	if errors.Is(err, errSignedOut) {
		http.Redirect(v.w, v.Request, Prefix+"/login", http.StatusSeeOther)
		return
	}
	if errors.Is(err, storage.ErrNotFound) {
		err = commerce.NotFound("page")
	}
	e := web.Refuse(v.w, err)
	v.render(e.Status, "refused", frame{Title: site.Title(e.Status), Content: refusalPage{e.Message, v.w.TraceID}})
}

// refusalPage is the data of the page "refused".
type refusalPage struct{ Message, TraceID string }

// TraceID is the trace id of the visit, and of the calls that it makes.
func (v *visit) TraceID() string { return v.w.TraceID }

// NewKey is for forms: the idempotency key of one act.
func (v *visit) NewKey() string { return v.p.env.Text() }
