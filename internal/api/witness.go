package api

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/web"
)

// limitedAMinute is how many requests that were answered 429 are logged, of each partner, mode and
// minute.
const limitedAMinute = 10

// witness sees one request for the log of requests. A nil witness sees nothing.
type witness struct {
	api              *API
	key              *commerce.APIKey
	stores           []string // that the key may use; empty: all
	operation        string
	storeID, orderID string // empty: it is about none, as far as is known
	request          requestlog.Body
	received         int    // bytes of the body of the request
	buffer           []byte // of bodies without secrets
}

// witnesses are spare ones, whose buffers are used again.
var witnesses = sync.Pool{New: func() any { return new(witness) }}

// witness has the request of a known caller logged once it is answered.
func (a *API) witness(w *web.Writer, caller web.Caller, operation string) *witness {
	if a.requests == nil || caller.Key == nil {
		return nil
	}
	seen := witnesses.Get().(*witness)
	*seen = witness{api: a, key: caller.Key, stores: caller.Partner.StoreIDs, operation: operation, buffer: seen.buffer[:0]}
	w.Witness = seen
	return seen
}

// aboutStore notes the store that the request is about.
func (s *witness) aboutStore(id string) {
	if s != nil {
		s.storeID = id
	}
}

// aboutOrder notes the order that the request is about, if the text is the id of one.
func (s *witness) aboutOrder(id string) {
	if s == nil {
		return
	}
	if _, ok := commerce.StoreNoOfOrder(id); ok {
		s.orderID = id
	}
}

// sees notes the body of the request. valid: the body is known to be JSON.
func (s *witness) sees(body []byte, valid bool) {
	if s == nil {
		return
	}
	s.received = len(body)
	s.request, s.buffer = requestlog.AppendBody(s.buffer[:0], body, valid)
	if s.request.StoreID != "" {
		s.storeID = s.request.StoreID
	}
}

// Answered implements web.Witness.
func (s *witness) Answered(w *web.Writer, r *http.Request, at time.Time, took time.Duration) {
	if s.api.clock != nil {
		at = s.api.clock()
	}
	call := requestlog.Call{Key: s.key, At: at, Took: took, Method: r.Method, Target: r.RequestURI, Operation: s.operation, Status: w.Status(), Code: w.Code(),
		Address: address(r), TraceID: w.TraceID, RequestHeaders: r.Header, ResponseHeaders: w.Header(),
		RequestBytes: max(int64(s.received), r.ContentLength), ResponseBytes: int64(w.Bytes()), RequestBody: s.request}
	if s.received == 0 && r.ContentLength != 0 { // no handler has read the body
		call.RequestBody.Cut = true
	}
	_, call.Replayed = call.ResponseHeaders["Idempotent-Replayed"]
	if r.Method == http.MethodHead {
		call.ResponseBytes = 0
	} else if (r.Method != http.MethodGet || call.Status >= http.StatusMultipleChoices) && len(w.Body()) > 0 {
		kept := len(s.request.Text)
		call.ResponseBody, s.buffer = requestlog.AppendBody(s.buffer[:kept], w.Body(), true)
		call.RequestBody.Text = s.buffer[:kept:kept]
		if s.orderID == "" {
			s.aboutOrder(call.ResponseBody.OrderID)
		}
	}
	if s.key.Mode == commerce.Test {
		r.Header[requestlog.ConnectionHeader] = []string{r.RemoteAddr[strings.LastIndexByte(r.RemoteAddr, ':')+1:]}
	} else {
		delete(r.Header, requestlog.ConnectionHeader) // what a client sends there says nothing
	}
	s.place(&call, r)
	if call.Status == http.StatusTooManyRequests && !s.api.limited.take(s.key, at) {
		s.api.requests.Count(&call)
	} else {
		s.api.requests.Add(&call)
	}
	buffer := s.buffer
	if cap(buffer) > 2*requestlog.BodyRoom+longRow {
		buffer = nil
	}
	*s = witness{buffer: buffer}
	witnesses.Put(s)
}

// longRow is how much longer than its parts a buffer may be to be used again.
const longRow = 4 << 10

// place completes what the request is about.
func (s *witness) place(call *requestlog.Call, r *http.Request) {
	call.OrderID, call.StoreID = s.orderID, s.storeID
	if call.OrderID != "" && call.StoreID == "" {
		call.StoreID = s.api.service.StoreOfOrder(call.OrderID)
	}
	if _, value, ok := strings.Cut(r.URL.RawQuery, "store_id="); ok && call.StoreID == "" {
		value, _, _ = strings.Cut(value, "&")
		if id, err := url.QueryUnescape(value); err == nil {
			call.StoreID = id
		}
	}
	if len(s.stores) > 0 && !slices.Contains(s.stores, call.StoreID) {
		call.StoreID = "" // the key learns nothing of it, and still sees its own request
	}
}

// address is the IP address of the caller.
func address(r *http.Request) string {
	if i := strings.LastIndexByte(r.RemoteAddr, ':'); i > 0 && r.RemoteAddr[0] != '[' {
		return r.RemoteAddr[:i]
	}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return peer.Addr().Unmap().WithZone("").String()
	}
	return r.RemoteAddr
}

// limited counts the requests that were answered 429 and logged.
type limited struct {
	mu     sync.Mutex
	minute int64
	counts map[limitedKey]int // bounded by the number of partners
}

type limitedKey struct {
	partnerID string
	mode      commerce.Mode
}

// take reports whether one more is logged in this minute.
func (l *limited) take(key *commerce.APIKey, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := at.Unix() / 60; minute != l.minute || l.counts == nil {
		l.minute, l.counts = minute, map[limitedKey]int{}
	}
	of := limitedKey{key.PartnerID, key.Mode}
	l.counts[of]++
	return l.counts[of] <= limitedAMinute
}
