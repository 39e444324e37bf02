// Package fakeuber is a fake Uber Direct for tests, modelled on its public API
// document: tokens, quotes that expire, deliveries with their idempotency keys, a
// courier that moves, signed events, and failures on request.
package fakeuber

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is an account of Uber Direct. Its fields may be changed before its first
// use.
type Server struct {
	URL     string // of the API
	AuthURL string // where tokens are requested

	CustomerID, ClientID, ClientSecret string // the only valid credentials
	StatusKey, CourierKey              string // each signs one kind of its events

	Live      bool          // its live_mode
	TokenLife time.Duration // 30 days
	PageSize  int           // of the list of deliveries; default 30

	mu         sync.Mutex
	quoteLife  time.Duration // 15 minutes
	ahead      time.Duration // of the real clock
	made       int           // counter for ids
	tokens     map[string]time.Time
	quotes     map[string]*quote
	deliveries []*delivery // oldest first
	keys       map[string]key
	next       []Fault
	always     *Fault
	requests   []Request
	events     []Event
}

// QuoteLife is how long a quote is valid.
const QuoteLife = 15 * time.Minute

// Fault says what happens to a request.
type Fault struct {
	// On selects the affected requests: the beginning of method and path below the
	// customer, as in "POST /deliveries". Empty: all but the requests for tokens,
	// which are "POST /token".
	On string
	// Status is the answer's status, without an effect. The answer has this Body, or
	// an error with this code.
	Status   int
	Code     string
	Message  string
	Metadata map[string]string
	Body     string
	Header   http.Header // of the answer

	Down bool // the connection breaks before the request takes effect
	Lost bool // the request takes effect, and the connection breaks before the answer
	Half bool // the request takes effect, and half of the answer arrives
	Hang bool // the request is never answered
}

// Request is a request with the right token, or for a token.
type Request struct {
	Method string
	Path   string // below the customer, or /token
	Query  string
	Token  string
	Body   string
}

type answer struct {
	status int
	body   []byte
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{
		CustomerID: "a11e6f29-0000-4d8d-b88d-0ae69cec1111", ClientID: "standin-client", ClientSecret: "standin-secret+/=",
		StatusKey: "signing-key-of-status", CourierKey: "signing-key-of-courier",
		TokenLife: 30 * 24 * time.Hour, quoteLife: QuoteLife, PageSize: 30,
		tokens: map[string]time.Time{}, quotes: map[string]*quote{}, keys: map[string]key{},
	}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL, s.AuthURL = server.URL+"/v1", server.URL+"/oauth/v2/token"
	return s
}

// Now returns the time of the server's clock.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func (s *Server) now() time.Time { return time.Now().Add(s.ahead) }

// Advance lets time pass.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
}

// SetLive sets the live_mode of what the server makes from now on.
func (s *Server) SetLive(live bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Live = live
}

// SetQuoteLife sets how long future quotes are valid.
func (s *Server) SetQuoteLife(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quoteLife = d
}

// Next sets the fault of the next request that it selects. Several calls set the
// faults of the next such requests in turn.
func (s *Server) Next(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, f)
}

// Always sets the fault of all requests from now on, and drops those of Next; nil: no
// fault.
func (s *Server) Always(f *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always, s.next = f, nil
}

// Revoke makes the server forget its tokens.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Requests returns the requests since the last call.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// Made returns the number of deliveries, without those that bring goods back.
func (s *Server) Made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.deliveries), (*delivery).isReturn))
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	path := "/token"
	if r.URL.Path != "/oauth/v2/token" {
		below, ok := strings.CutPrefix(r.URL.Path, "/v1/customers/"+s.CustomerID)
		if !ok {
			s.mu.Unlock()
			send(w, refuse(http.StatusNotFound, "customer_not_found", "Customer does not exist.", nil))
			return
		}
		path = below
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.requests = append(s.requests, Request{r.Method, path, r.URL.RawQuery, token, string(body)})
	fault := s.fault(r.Method + " " + path)
	if fault.Hang {
		s.mu.Unlock()
		<-r.Context().Done()
		return
	}
	var a answer
	switch {
	case fault.Down:
	case fault.Status != 0:
		a = fault.answer()
	case path == "/token":
		a = s.giveToken(r, body)
	case !s.tokens[token].After(s.now()):
		a = marshal(http.StatusUnauthorized, map[string]string{"code": "unauthorized", "message": "Invalid OAuth 2.0 credentials provided."})
	default:
		a = s.route(r, path, body)
	}
	s.mu.Unlock()
	if fault.Down || fault.Lost {
		panic(http.ErrAbortHandler)
	}
	for name, values := range fault.Header {
		w.Header()[name] = values
	}
	if fault.Half {
		a.body = a.body[:len(a.body)/2]
	}
	send(w, a)
}

// fault returns the fault of a request, and uses it up.
func (s *Server) fault(request string) Fault {
	for i, f := range s.next {
		if f.matches(request) {
			s.next = slices.Delete(s.next, i, i+1)
			return f
		}
	}
	if s.always != nil && s.always.matches(request) {
		return *s.always
	}
	return Fault{}
}

func (f Fault) matches(request string) bool {
	if f.On == "" {
		return request != "POST /token"
	}
	return strings.HasPrefix(request, f.On)
}

func (f Fault) answer() answer {
	if f.Code == "" {
		return answer{f.Status, []byte(f.Body)}
	}
	return refuse(f.Status, f.Code, f.Message, f.Metadata)
}

func (s *Server) giveToken(r *http.Request, body []byte) answer {
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost || r.PostForm.Get("grant_type") != "client_credentials" {
		return marshal(http.StatusBadRequest, map[string]string{"error": "invalid_request"})
	}
	switch {
	case r.PostForm.Get("client_id") != s.ClientID || r.PostForm.Get("client_secret") != s.ClientSecret:
		return marshal(http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": "no client " + r.PostForm.Encode()})
	case r.PostForm.Get("scope") != "eats.deliveries":
		return marshal(http.StatusBadRequest, map[string]string{"error": "invalid_scope"})
	}
	token := s.id("IA.standin")
	s.tokens[token] = s.now().Add(s.TokenLife)
	return marshal(http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": s.TokenLife.Seconds(), "scope": "eats.deliveries"})
}

func (s *Server) route(r *http.Request, path string, body []byte) answer {
	id, action, _ := strings.Cut(strings.TrimPrefix(path, "/deliveries/"), "/")
	switch {
	case r.Method == http.MethodPost && path == "/delivery_quotes":
		return s.createQuote(body)
	case r.Method == http.MethodPost && path == "/deliveries":
		return s.createDelivery(body)
	case r.Method == http.MethodGet && path == "/deliveries":
		return s.list(r)
	case r.Method == http.MethodGet && action == "":
		return s.read(id)
	case r.Method == http.MethodPost && action == "cancel":
		return s.cancel(id)
	}
	return refuse(http.StatusNotFound, "not_found", r.Method+" "+path, nil)
}

func refuse(status int, code, message string, metadata map[string]string) answer {
	body := map[string]any{"code": code, "message": message, "kind": "error"}
	if metadata != nil {
		body["metadata"] = metadata
	}
	return marshal(status, body)
}

func invalid(field, text string) answer {
	return refuse(http.StatusBadRequest, "invalid_params", "The parameters of your request were invalid.", map[string]string{field: text})
}

func marshal(status int, object any) answer {
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return answer{status, body}
}

func send(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

func (s *Server) id(prefix string) string {
	s.made++
	return fmt.Sprintf("%s_standin%06d", prefix, s.made)
}
