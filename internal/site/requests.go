package site

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
)

// RequestQuery is the filter of a list of requests, as the URL has it.
type RequestQuery struct {
	Status    string // a list such as "404,5xx"
	Method    string
	Operation string // operationId
	Code      string
	KeyID     string
	Mode      string
	OrderID   string
	TraceID   string
	From      string // a day, or a time of a day
	Until     string
}

// fields are the fields of the query by their names in the URL.
func (q *RequestQuery) fields() map[string]*string {
	return map[string]*string{"status": &q.Status, "method": &q.Method, "operation": &q.Operation, "code": &q.Code, "key_id": &q.KeyID, "mode": &q.Mode,
		"order_id": &q.OrderID, "trace_id": &q.TraceID, "from": &q.From, "until": &q.Until}
}

// filter is what the query selects. Days are those of a zone.
func (q RequestQuery) filter(zone *time.Location) (f requestlog.Filter, err error) {
	f = requestlog.Filter{Mode: commerce.Mode(q.Mode), Method: q.Method, Operation: q.Operation, Code: q.Code, KeyID: q.KeyID, OrderID: q.OrderID, TraceID: q.TraceID}
	var fine bool
	if f.Statuses, fine = requestlog.ParseStatuses(strings.ReplaceAll(q.Status, " ", "")); !fine {
		return f, commerce.Invalid("status", "The status must be a list such as 404,5xx")
	}
	f.Since, f.Until, err = Dates(q.From, q.Until, zone)
	return f, err
}

// RequestsPlace says whose requests a page shows, and where its links lead.
type RequestsPlace struct {
	Log       *requestlog.Log // nil: requests are not logged
	PartnerID string
	Keys      []commerce.APIKey // as Callers gives them
	Shown     time.Duration     // how far back
	Now       commerce.Millis
	Zone      *time.Location
	URL       string // of the list
	EventsURL string // to which the id of an event is added
	OrdersURL string // to which the id of an order is added
	Base      string // of the API
}

// CallerReads are the reads of what calls for a partner.
type CallerReads interface {
	APIKeys(ctx context.Context, partnerID string) ([]commerce.APIKey, error)
	Members(ctx context.Context, partnerID string) ([]commerce.Member, error)
}

// Callers are the keys of a partner and its members, which stand in the log in the place of a key when they call from the
// portal.
func Callers(ctx context.Context, reads CallerReads, partnerID string) ([]commerce.APIKey, error) {
	keys, err := reads.APIKeys(ctx, partnerID)
	if err != nil {
		return nil, err
	}
	members, err := reads.Members(ctx, partnerID)
	for _, m := range members {
		keys = append(keys, commerce.APIKey{ID: m.ID, Name: m.Email})
	}
	return keys, err
}

// KeyName is the name of a key.
func (p RequestsPlace) KeyName(id string) string {
	for _, k := range p.Keys {
		if k.ID == id {
			return k.Name
		}
	}
	return id
}

// since is the time of the oldest request that is shown.
func (p RequestsPlace) since() commerce.Millis { return p.Now.Add(-p.Shown) }

// Requests is the data of a list of requests.
type Requests struct {
	RequestsPlace
	RequestQuery
	Entries []requestlog.Entry
	Lost    int64        // requests in the time of the list that were dropped
	Further template.URL // the query of the next page; empty: there is none
	Cut     bool         // the page ends because it has looked at enough
}

// Methods are the methods to choose from.
func (Requests) Methods() []string {
	return []string{http.MethodGet, http.MethodHead, http.MethodPost}
}

// Days is how many days are shown.
func (p RequestsPlace) Days() int { return int(p.Shown / (24 * time.Hour)) }

// requestsOnPage is how many requests a list shows.
const requestsOnPage = 50

// List reads the newest requests that the query of a URL selects.
func (p RequestsPlace) List(ctx context.Context, in url.Values) (list Requests, err error) {
	list = Requests{RequestsPlace: p}
	out := url.Values{}
	for name, field := range list.fields() {
		if *field = strings.TrimSpace(in.Get(name)); *field != "" {
			out.Set(name, *field)
		}
	}
	f, err := list.filter(p.Zone)
	if err != nil || p.Log == nil {
		return list, err
	}
	f.PartnerID, f.Limit, f.Since = p.PartnerID, requestsOnPage, max(f.Since, p.since())
	if before := in.Get("before"); commerce.IsID(commerce.PrefixRequest, before) {
		f.Before = before
	}
	page, err := p.Log.Page(ctx, f)
	if err != nil {
		return list, err
	}
	list.Entries, list.Lost = page.Entries, page.Lost
	if page.Before != "" {
		out.Set("before", page.Before)
		list.Further, list.Cut = template.URL(out.Encode()), len(page.Entries) < requestsOnPage
	}
	return list, nil
}

// Request is the data of the page of one request.
type Request struct {
	RequestsPlace
	requestlog.Entry
	Sent, Answered string // the bodies, on several lines; empty: not kept
	Curl           string
	Events         []commerce.WebhookEvent // that it made
}

// Find reads one request; a request that is too old to be shown is not found.
func (p RequestsPlace) Find(ctx context.Context, id string) (r Request, err error) {
	if p.Log == nil {
		return r, commerce.NotFound("request")
	}
	r.RequestsPlace = p
	r.Entry, err = p.Log.Find(ctx, p.PartnerID, id)
	if errors.Is(err, requestlog.ErrNotFound) || err == nil && r.At < p.since() {
		return r, commerce.NotFound("request")
	}
	r.Sent, r.Answered = Indented([]byte(r.RequestBody)), Indented([]byte(r.ResponseBody))
	r.Curl = curl(p.Base, r.Entry)
	return r, err
}

// Redacted reports whether something was taken out of what the command of curl sends.
func (r Request) Redacted() bool { return strings.Contains(r.Curl, "[redacted]") }

// unsent are headers that curl makes itself, or that belong to one call alone.
var unsent = []string{"content-length", "traceparent", "user-agent", "x-trace-id", "accept-encoding"}

// curl is the command that sends a request again, with a key to fill in. It keeps the idempotency
// key, so that a repeat does nothing twice. Every text stands in quotes of the shell.
func curl(base string, e requestlog.Entry) string {
	// -g and --data-raw have curl take no sign in a URL or a body for one of its own.
	parts := []string{"curl -g " + quoted(base+"/"+strings.TrimPrefix(e.Path, "/"))}
	if e.Method == http.MethodHead {
		parts[0] += " -I"
	} else if e.Method != http.MethodGet {
		parts[0] += " -X " + quoted(e.Method)
	}
	parts = append(parts, `-H "x-api-key: $KEY"`)
	for _, h := range e.RequestHeaders {
		if !slices.Contains(unsent, h.Name) {
			parts = append(parts, "-H "+quoted(h.Name+": "+h.Value))
		}
	}
	if e.RequestBody != "" {
		parts = append(parts, "--data-raw "+quoted(e.RequestBody))
	}
	return strings.Join(parts, " \\\n  ")
}

// quoted is a text that a shell takes as it is.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
