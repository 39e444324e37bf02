// Package fakestripe is a fake Stripe for tests: sessions, payments and refunds with
// their limits and idempotency keys, customers that pay, signed events, and failures
// on request.
package fakestripe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a Stripe account.
type Server struct {
	URL    string
	Key    string // the only valid key
	Secret string // signs its events

	mu           sync.Mutex
	made         int // counter for ids
	sessions     map[string]*session
	intents      map[string]*intent
	charges      map[string]*charge
	refunds      []*refund // oldest first
	refundStatus string
	revoked      bool                   // the key is revoked
	saved        map[string]savedAnswer // by idempotency key
	faults       []Fault
	requests     []Request
	events       []Event
}

// Fault says what happens to one request.
type Fault struct {
	// Status and Type are those of an error without an effect. Like Stripe, the
	// server saves a 500 under the idempotency key.
	Status  int
	Type    string
	Message string
	Header  http.Header // sent with the error
	Lost    bool        // the request takes effect, and the connection breaks before the answer
	Hang    bool        // the request is never answered
}

// Request is a request to the server.
type Request struct {
	Method, Path   string
	IdempotencyKey string
	Form           url.Values
	TraceParent    string
}

type savedAnswer struct {
	request string
	answer  answer
}

type answer struct {
	status int
	body   []byte
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{
		Key: "sk_test_standin", Secret: "whsec_secret-of-stand-in", refundStatus: "succeeded",
		sessions: map[string]*session{}, intents: map[string]*intent{}, charges: map[string]*charge{}, saved: map[string]savedAnswer{},
	}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Next sets the fault of the next request. Several calls set the faults of the next
// requests in turn.
func (s *Server) Next(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}

// Accept makes a key the only valid one.
func (s *Server) Accept(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Key = key
}

// Revoke makes the server refuse its key, or accept it again.
func (s *Server) Revoke(revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = revoked
}

// Requests returns all requests with the right key.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refunds returns how many refunds were made.
func (s *Server) Refunds() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.refunds)
}

// ForgetKeys drops the answers that are saved under idempotency keys, as Stripe does
// after a day.
func (s *Server) ForgetKeys() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.saved)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		send(w, refuse(http.StatusBadRequest, "invalid_request_error", "", err.Error()))
		return
	}
	s.mu.Lock()
	if s.revoked || r.Header.Get("Authorization") != "Bearer "+s.Key {
		s.mu.Unlock()
		send(w, refuse(http.StatusUnauthorized, "invalid_request_error", "", "Invalid API Key provided: "+r.Header.Get("Authorization")))
		return
	}
	key := r.Header.Get("Idempotency-Key")
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, key, r.Form, r.Header.Get("traceparent")})
	var fault Fault
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	if fault.Hang {
		s.mu.Unlock()
		<-r.Context().Done()
		return
	}
	a := s.once(key, r, fault, w.Header())
	s.mu.Unlock()
	if fault.Lost {
		panic(http.ErrAbortHandler)
	}
	for name, values := range fault.Header {
		w.Header()[name] = values
	}
	send(w, a)
}

// once returns the answer that is saved under the key, or performs the request.
// Stripe does not save the answer of a request that it did not begin: a wrong
// parameter, too many requests.
func (s *Server) once(key string, r *http.Request, fault Fault, header http.Header) answer {
	request := r.Method + " " + r.URL.Path + " " + r.Form.Encode()
	if saved, ok := s.saved[key]; ok && key != "" {
		if saved.request != request {
			return refuse(http.StatusBadRequest, "idempotency_error", "",
				"Keys for idempotent requests can only be used with the same parameters they were first used with.")
		}
		header.Set("Idempotent-Replayed", "true")
		return saved.answer
	}
	var a answer
	if fault.Status != 0 {
		a = refuse(fault.Status, fault.Type, "", fault.Message)
	} else {
		a = s.route(r)
	}
	if begun := a.status == http.StatusOK || a.status == http.StatusPaymentRequired || a.status >= 500; begun && r.Method == http.MethodPost {
		s.saved[key] = savedAnswer{request, a}
	}
	return a
}

func (s *Server) route(r *http.Request) answer {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	switch name := r.Method + " " + parts[0]; {
	case r.URL.Path == "/v1/checkout/sessions" && r.Method == http.MethodPost:
		return s.createSession(r.Form)
	case r.URL.Path == "/v1/checkout/sessions":
		return s.listSessions(r.Form)
	case name == "GET checkout" && len(parts) == 3:
		return s.readSession(parts[2], r.Form)
	case name == "POST checkout" && len(parts) == 4 && parts[3] == "expire":
		return s.expireSession(parts[2])
	case name == "POST refunds" && len(parts) == 1:
		return s.createRefund(r.Form)
	case name == "GET refunds" && len(parts) == 1:
		return s.listRefunds(r.Form)
	case name == "GET payment_intents" && len(parts) == 2 && s.intents[parts[1]] != nil:
		return found(s.intents[parts[1]])
	case name == "GET charges" && len(parts) == 2 && s.charges[parts[1]] != nil:
		return found(s.charges[parts[1]])
	}
	return missing(r.URL.Path)
}

func found(object any) answer {
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return answer{http.StatusOK, body}
}

func refuse(status int, kind, code, message string) answer {
	body, err := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "code": code, "message": message}})
	if err != nil {
		panic(err)
	}
	return answer{status, body}
}

func invalid(format string, args ...any) answer {
	return refuse(http.StatusBadRequest, "invalid_request_error", "", fmt.Sprintf(format, args...))
}

func missing(what string) answer {
	return refuse(http.StatusNotFound, "invalid_request_error", "resource_missing", "No such object: '"+what+"'")
}

func send(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_standin")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// metadata reads the fields name[key]=value of a form.
func metadata(form url.Values, name string) map[string]string {
	all := map[string]string{}
	for field, values := range form {
		if key, ok := strings.CutPrefix(field, name+"["); ok {
			all[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	return all
}

// number reads a field, or returns -1.
func number(form url.Values, name string) int64 {
	n, err := strconv.ParseInt(form.Get(name), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (s *Server) id(prefix string) string {
	s.made++
	return fmt.Sprintf("%s_standin%06d", prefix, s.made)
}

func unix() int64 { return time.Now().Unix() }
