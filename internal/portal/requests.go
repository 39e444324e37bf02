package portal

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// requestRoutes are the pages of what the partner's programs asked for.
var requestRoutes = []route{
	{method: get, path: Prefix + "/requests", handle: (*visit).requests, word: "Requests", icon: "scroll-text"},
	{method: get, path: Prefix + "/requests/{id}", handle: (*visit).request},
	{method: post, path: Prefix + "/requests/{id}/repeat", changes: true, handle: (*visit).repeatRequest},
}

// requestsShown is how long partners see a request.
const requestsShown = 7 * 24 * time.Hour

// requestsPage is the data of the page "requests".
type requestsPage struct {
	List   site.Requests
	Errors []failure
}

func (v *visit) requestsPlace() (place site.RequestsPlace, err error) {
	place = site.RequestsPlace{Log: v.p.requests, PartnerID: v.partner.ID, Shown: requestsShown, Now: v.now(), URL: Prefix + "/requests", EventsURL: Prefix + "/events/", OrdersURL: Prefix + "/orders/", Base: v.p.publicURL}
	if place.Zone, err = v.zone(); err == nil {
		place.Keys, err = site.Callers(v.Context(), v.p.reads, v.partner.ID)
	}
	return place, err
}

// requests lists the requests, and what went wrong by operation and code.
func (v *visit) requests() error {
	place, err := v.requestsPlace()
	if err != nil {
		return err
	}
	var page requestsPage
	if page.List, err = place.List(v.Context(), v.URL.Query()); err == nil {
		page.Errors, err = v.failures(v.now().Add(-requestsShown))
	}
	if err != nil {
		return v.again(err, "requests", "Requests", page)
	}
	return v.page("requests", "Requests", page)
}

// findRequest finds the request that the path names.
func (v *visit) findRequest() (r site.Request, err error) {
	place, err := v.requestsPlace()
	if err == nil {
		r, err = place.Find(v.Context(), v.PathValue("id"))
	}
	return r, err
}

// request shows one request.
func (v *visit) request() error {
	r, err := v.findRequest()
	if err != nil {
		return err
	}
	r.Events, err = v.p.uses.EventsOfRequest(v.Context(), service.Request{PartnerID: v.partner.ID, OrderID: r.OrderID, TraceID: r.TraceID, Began: r.At.Add(-r.Took), Ended: r.At})
	if err != nil {
		return err
	}
	return v.page("request", "Request", requestPage{r, v.NewKey()})
}

// requestPage is the data of the page "request".
type requestPage struct {
	site.Request
	Key string
}

// endless is the operation whose answer goes on as long as the order does.
const endless = "streamOrderTracking"

// Repeatable reports whether the request can be sent again from here: it was made in test mode, and all of it is known.
func (p requestPage) Repeatable() bool {
	whole := !p.Truncated && !p.Redacted() && (p.RequestBytes == 0 || p.RequestBody != "")
	return whole && p.Mode == commerce.Test && (p.Method == get || p.Method == post) && p.Operation != endless
}

// repeatedPage is the data of the page "repeated".
type repeatedPage struct {
	Of     requestlog.Entry
	Status int
	Body   string // on several lines
	Cut    bool   // there is more of it
}

// answerShown is how much of an answer a page shows.
const answerShown = 64 << 10

// repeatRequest sends a request of test mode again, with the member in the place of the key, and shows the answer.
func (v *visit) repeatRequest() error {
	r, err := v.findRequest()
	if err != nil {
		return err
	}
	if !(requestPage{Request: r}).Repeatable() {
		return commerce.Conflict("not_repeatable", "Only a request of test mode that is kept whole can be sent again from here")
	}
	a, err := v.call(r.Method, r.Path, []byte(r.RequestBody))
	if err != nil {
		return err
	}
	page := repeatedPage{Of: r.Entry, Status: a.status, Body: site.Indented(a.body.Bytes())}
	if page.Cut = len(page.Body) > answerShown; page.Cut {
		page.Body = strings.ToValidUTF8(page.Body[:answerShown], "")
	}
	return v.page("repeated", "Sent again", page)
}

// failure is how often an operation was answered with an error.
type failure struct {
	Operation, Code string
	Status          int
	Count           int
	Last            commerce.Millis
}

const (
	failuresCounted = 1000 // of the newest requests that failed
	failuresShown   = 10
)

// failures counts the requests since a time that failed, by operation and code.
func (v *visit) failures(since commerce.Millis) ([]failure, error) {
	if v.p.requests == nil {
		return nil, nil
	}
	page, err := v.p.requests.Page(v.Context(), requestlog.Filter{PartnerID: v.partner.ID, Statuses: []requestlog.Statuses{{From: 400, To: 599}}, Since: since, Limit: failuresCounted})
	var list []failure
	for _, e := range page.Entries {
		i := slices.IndexFunc(list, func(f failure) bool {
			return f.Operation == e.Operation && f.Code == e.Code && f.Status == e.Status
		})
		if i < 0 {
			i = len(list)
			list = append(list, failure{Operation: e.Operation, Code: e.Code, Status: e.Status, Last: e.At})
		}
		list[i].Count++
	}
	slices.SortStableFunc(list, func(a, b failure) int { return cmp.Compare(b.Count, a.Count) })
	return list[:min(len(list), failuresShown)], err
}

// ignoreMissing is the error of a read of a row that need not be there.
func ignoreMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
