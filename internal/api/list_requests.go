package api

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/web"
)

// requestsShown is how long partners see a request. The office sees it longer.
const requestsShown = 7 * 24 * time.Hour

// requestOut is a request in the list.
type requestOut struct {
	ID            string          `json:"id"`
	At            commerce.Millis `json:"at"`
	TookMs        int64           `json:"took_ms"`
	Method        string          `json:"method"`
	Path          string          `json:"path"`
	Operation     *string         `json:"operation"`
	Status        int             `json:"status"`
	Code          *string         `json:"code"`
	Mode          commerce.Mode   `json:"mode"`
	KeyID         string          `json:"key_id"`
	StoreID       *string         `json:"store_id"`
	Address       string          `json:"address"`
	TraceID       string          `json:"trace_id"`
	OrderID       *string         `json:"order_id"`
	Replayed      bool            `json:"replayed"`
	RequestBytes  int64           `json:"request_bytes"`
	ResponseBytes int64           `json:"response_bytes"`
}

func requestShape(e requestlog.Entry) requestOut {
	return requestOut{e.ID, e.At, e.Took.Milliseconds(), e.Method, e.Path, wire.OrNull(e.Operation), e.Status, wire.OrNull(e.Code), e.Mode, e.KeyID,
		wire.OrNull(e.StoreID), e.Address, e.TraceID, wire.OrNull(e.OrderID), e.Replayed, e.RequestBytes, e.ResponseBytes}
}

// atMost is an upper bound of the encoded size of the request.
func (o requestOut) atMost() int {
	return 800 + escaped*(len(o.Method)+len(o.Path)+len(o.TraceID))
}

// listRequests lists the requests of the partner that the key may see, the newest first.
func (a *API) listRequests(r *request) (reply, error) {
	if a.requests == nil {
		return reply{}, errNoRequestLog
	}
	f, tag, err := requestFilter(r)
	if err != nil {
		return reply{}, err
	}
	page, err := a.requests.Page(r.Context(), f)
	if err != nil {
		return reply{}, requestLogAway(err)
	}
	requests := make([]requestOut, len(page.Entries))
	for i, e := range page.Entries {
		requests[i] = requestShape(e)
	}
	if n := fitting(requests, f.Limit); n < len(requests) {
		requests, page.Before = requests[:n], requests[n-1].ID
	}
	next := ""
	if page.Before != "" {
		next = sealCursor(requestForm+tag, page.Before)
	}
	return ok(struct {
		OK       bool         `json:"ok"`
		Count    int          `json:"count"`
		Next     string       `json:"next_cursor,omitempty"`
		Dropped  int64        `json:"dropped"`
		Requests []requestOut `json:"requests"`
	}{true, len(requests), next, page.Lost, requests})
}

// errNoRequestLog answers reads of a log that the operator has switched off.
var errNoRequestLog = &web.Error{Status: http.StatusNotFound, Code: "not_found", Message: "This service keeps no log of requests"}

// requestLogAway answers a read that has failed.
func requestLogAway(err error) error {
	return errors.Join(&web.Error{Status: http.StatusInternalServerError, Code: "unavailable", Log: slog.LevelError,
		Message: "The service cannot read its log of requests right now; try again"}, err)
}

const requestForm = "r1." // tag, id

// visibleRequests selects the requests that the key may see.
func (r *request) visibleRequests() requestlog.Filter {
	f := requestlog.Filter{PartnerID: r.Partner.ID, Since: commerce.MillisOf(r.api.now().Add(-requestsShown))}
	if r.Mode == commerce.Test {
		f.Mode = commerce.Test
	}
	if r.restricted() {
		f.StoreIDs = r.Partner.StoreIDs
	}
	return f
}

// restricted reports whether the key has stores of its own, so that it sees less than other keys
// of the partner.
func (r *request) restricted() bool { return len(r.Key.StoreIDs) > 0 }

// requestFilter reads the query. The tag is that of cursors of the same filters.
func requestFilter(r *request) (f requestlog.Filter, tag string, err error) {
	q, f := web.QueryOf(r.Request), r.visibleRequests()
	given := []string{r.Partner.ID, string(f.Mode)}
	text := func(name string) string {
		value := q.Text(name)
		given = append(given, value)
		return value
	}
	var fine bool
	if f.Statuses, fine = requestlog.ParseStatuses(text("status")); !fine {
		q.Fail("invalid_query", "status", "must be a list of statuses such as 404,5xx")
	}
	f.Method, f.Operation, f.Code, f.KeyID = text("method"), text("operation"), text("code"), text("key_id")
	f.OrderID, f.TraceID = text("order_id"), text("trace_id")
	if !slices.Contains([]string{"", http.MethodGet, http.MethodHead, http.MethodPost}, f.Method) {
		q.Fail("invalid_query", "method", "must be GET, HEAD or POST")
	}
	if f.Operation != "" && !r.api.operations[f.Operation] {
		q.Fail("invalid_query", "operation", "is the id of no operation")
	}
	text("since")
	f.Since = max(f.Since, q.Millis("since"))
	if text("until") != "" {
		f.Until = max(q.Millis("until"), 1)
	}
	f.Limit = q.Limit(100, 300)
	tag = cursorTag(given...)
	f.Before = readCursor(q, "is not a next_cursor of this list with these filters", requestForm+tag, func(text, form string) (string, bool) {
		id, ok := openCursor(text, form)
		return id, ok && commerce.IsID(commerce.PrefixRequest, id)
	})
	return f, tag, q.Err()
}
