package payment

import (
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/sandbox"
)

const (
	pagePath     = "/sandbox/pay/"
	maxFormBytes = 4 << 10
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string

	// payPage loads pictures of the goods, and posts its form to this origin.
	// Browsers check every redirect after the form against form-action, too. The shop
	// may redirect on from the success URL to any site, so any site is allowed.
	payPage = sandbox.NewPage(pageHTML, pageCSS, "", "img-src http: https:", "form-action 'self' http: https:")
)

// Handler serves the payment pages, GET and POST /sandbox/pay/{session}. The form
// field outcome is "pay" or "decline". After a payment the customer is redirected to
// the success URL (303); after a decline the page says so (402).
func (s *Sandbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pagePath+"{session}", s.show)
	mux.HandleFunc("POST "+pagePath+"{session}", s.submit)
	return mux
}

func (s *Sandbox) show(w http.ResponseWriter, r *http.Request) {
	x, err := s.change(r.Context(), r.PathValue("session"), lapse)
	switch {
	case err != nil:
		failed(w, err)
	case x.Status == SessionExpired:
		payPage.Write(w, http.StatusGone, newPage(x))
	default:
		payPage.Write(w, http.StatusOK, newPage(x))
	}
}

func (s *Sandbox) submit(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		status := http.StatusBadRequest
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		payPage.Write(w, status, page{Title: "This form cannot be read", Text: "Please go back and try again."})
		return
	}
	outcome, email := r.PostForm.Get("outcome"), r.PostForm.Get("email")
	x, err := s.change(r.Context(), r.PathValue("session"), func(x *session, now time.Time) error {
		switch outcome {
		case "pay":
			x.pay(email, now, s.Delay)
		case "decline":
			x.decline(email, now)
		default:
			x.lapse(now)
		}
		return nil
	})
	switch {
	case err != nil:
		failed(w, err)
	case x.Status == SessionPaid: // by this click or an earlier one
		payPage.Protect(w.Header())
		http.Redirect(w, r, x.leadsTo(x.Request.SuccessURL), http.StatusSeeOther)
	case x.Status == SessionExpired:
		payPage.Write(w, http.StatusGone, newPage(x))
	case outcome == "pay" || outcome == "decline":
		payPage.Write(w, http.StatusPaymentRequired, newPage(x).alert("Card declined", "You have not been charged. Try again, or return to the store."))
	default:
		payPage.Write(w, http.StatusBadRequest, newPage(x).alert("Not understood", "The form was not understood. Nothing was paid."))
	}
}

// failed shows an error page that does not depend on the order.
func failed(w http.ResponseWriter, err error) {
	if _, unknown := errors.AsType[*Refusal](err); unknown {
		payPage.Write(w, http.StatusNotFound, page{Title: "There is no such payment page", Text: "Please follow the link of the store again."})
		return
	}
	slog.Error("sandbox payment page", "error", err)
	payPage.Write(w, http.StatusServiceUnavailable, page{Title: "This does not work at the moment",
		Text: "Nobody knows whether your last click took effect. Load this page again in a moment to see."})
}

// page is the data of the template.
type page struct {
	Title     string // of the window, and the heading if there is no order
	Text      string
	AlertHead string
	Alert     string

	Status         SessionStatus // empty: there is no order to show
	SessionRequest               // with the session's id in its URLs
	Lines, More    []pageLine    // More is folded away
	Subtotal       commerce.Cents
}

type pageLine struct {
	Line
	Total   commerce.Cents
	Initial string // shown in place of a missing image
}

const linesInView = 6 // of a long order

func newPage(x session) page {
	p := page{Status: x.Status, SessionRequest: x.Request}
	p.CustomerEmail = x.email()
	p.SuccessURL, p.CancelURL = x.leadsTo(p.SuccessURL), x.leadsTo(p.CancelURL)
	p.Subtotal = p.TotalCents - p.DeliveryFeeCents - p.TaxCents
	p.Title = map[SessionStatus]string{
		SessionOpen:    "Pay " + p.StoreName,
		SessionPaid:    "Payment complete",
		SessionExpired: "This payment page has expired",
	}[x.Status]
	for _, line := range x.Request.Lines {
		shown := pageLine{Line: line, Total: line.PriceCents * commerce.Cents(line.Quantity)}
		if !isWebAddress(line.ImageURL) {
			shown.ImageURL = ""
			if initial, _ := utf8.DecodeRuneInString(line.Name); initial != utf8.RuneError {
				shown.Initial = strings.ToUpper(string(initial))
			}
		}
		p.Lines = append(p.Lines, shown)
	}
	if len(p.Lines) > linesInView+1 { // one hidden line would save no room
		p.Lines, p.More = p.Lines[:linesInView], p.Lines[linesInView:]
	}
	return p
}

func (p page) alert(head, text string) page {
	p.Title, p.AlertHead, p.Alert = head+" - "+p.Title, head, text
	return p
}
