// Package fakedoordash is a fake DoorDash Drive for tests: quotes and deliveries with
// their rules and names that are used once, Dashers that move, events, and failures
// on request.
package fakedoordash

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is an account of DoorDash Drive.
type Server struct {
	URL                               string
	DeveloperID, KeyID, SigningSecret string // the only valid access key
	User, Password                    string // sent with its events

	mu         sync.Mutex
	made       int // counter for ids
	deliveries map[string]*Delivery
	next       []Fault
	always     *Fault
	requests   []Request
	events     []Event
}

// Fault says what happens to a request.
type Fault struct {
	On string // method of the affected requests; empty: all
	// The fields from Status to Body are those of an answer without an effect.
	Status  int
	Code    string
	Message string
	Reason  string
	Fields  map[string]string // errors by field
	Header  http.Header
	Body    string // replaces all of these
	Lost    bool   // the request takes effect, and the connection breaks before the answer
	Down    bool   // the connection breaks before the request takes effect
	Hang    bool   // the request is never answered
}

// Request is a request with the right key.
type Request struct {
	Method, Path string
	Body         string
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{
		DeveloperID: "3d2c2d0e-standin", KeyID: "6a1f0c7b-standin", SigningSecret: "c3RhbmQtaW4tc2lnbmluZy1zZWNyZXQ_-w",
		User: "doordash", Password: "password-of-stand-in",
		deliveries: map[string]*Delivery{},
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
	s.next = append(s.next, f)
}

// Always sets the fault of every request from now on.
func (s *Server) Always(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = &f
}

// Recover ends all faults.
func (s *Server) Recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.always = nil, nil
}

// Requests returns all requests with the right key.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		send(w, refuse(http.StatusBadRequest, "validation_error", err.Error()))
		return
	}
	if wrong := s.wrongToken(r.Header.Get("Authorization")); wrong != "" {
		send(w, refuse(http.StatusUnauthorized, "authentication_error", wrong+": "+r.Header.Get("Authorization")))
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, string(body)})
	fault := s.fault(r.Method)
	if fault.Hang {
		s.mu.Unlock()
		<-r.Context().Done()
		return
	}
	a := fault.answer()
	if a.status == 0 && !fault.Down {
		a = s.route(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/drive/v2/"), body)
	}
	s.mu.Unlock()
	if fault.Lost || fault.Down {
		panic(http.ErrAbortHandler)
	}
	for name, values := range fault.Header {
		w.Header()[name] = values
	}
	send(w, a)
}

func (s *Server) fault(method string) (f Fault) {
	meant := func(f Fault) bool { return f.On == "" || f.On == method }
	switch {
	case len(s.next) > 0 && meant(s.next[0]):
		f, s.next = s.next[0], s.next[1:]
	case s.always != nil && meant(*s.always):
		f = *s.always
	}
	return f
}

type answer struct {
	status int
	body   []byte
}

// answer has status 0 if the fault has no answer.
func (f Fault) answer() answer {
	if f.Status == 0 {
		return answer{}
	}
	if f.Code == "" {
		return answer{f.Status, []byte(f.Body)}
	}
	return answer{f.Status, encode(problem{f.Code, f.Message, f.Reason, "", fieldErrors(f.Fields)})}
}

// wrongToken returns what is wrong with a token; empty: nothing.
func (s *Server) wrongToken(authorization string) string {
	token, ok := strings.CutPrefix(authorization, "Bearer ")
	parts := strings.Split(token, ".")
	if !ok || len(parts) != 3 {
		return "no token"
	}
	key, err := base64.RawURLEncoding.DecodeString(s.SigningSecret)
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(parts[0] + "." + parts[1]))
	given, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return "wrong signature"
	}
	var header struct{ Alg, Typ, Version string }
	var claims struct {
		Aud, Iss, Kid string
		Iat, Exp      int64
	}
	decodePart(parts[0], &header)
	decodePart(parts[1], &claims)
	head, _ := base64.RawURLEncoding.DecodeString(parts[0])
	switch now := time.Now().Unix(); {
	case header.Alg != "HS256" || header.Typ != "JWT" || !bytes.Contains(head, []byte(`"dd-ver":"DD-JWT-V1"`)):
		return "wrong header"
	case claims.Aud != "doordash" || claims.Iss != s.DeveloperID || claims.Kid != s.KeyID:
		return "wrong claims"
	case claims.Iat > now || claims.Exp <= now || claims.Exp > claims.Iat+1800:
		return "wrong times"
	}
	return ""
}

func decodePart(part string, into any) {
	if text, err := base64.RawURLEncoding.DecodeString(part); err == nil {
		_ = json.Unmarshal(text, into) // missing fields are found to be wrong below
	}
}

func (s *Server) route(method, path string, body []byte) answer {
	parts := strings.Split(path, "/")
	switch {
	case method == http.MethodPost && path == "quotes":
		return s.create(body, "quote")
	case method == http.MethodPost && path == "deliveries":
		return s.create(body, "created")
	case len(parts) < 2 || parts[0] != "deliveries":
		return answer{http.StatusNotFound, []byte(`{"message":"no such path"}`)}
	case s.deliveries[parts[1]] == nil:
		return answer{http.StatusNotFound, encode(problem{Code: "unknown_delivery_id", Message: "Delivery not found", ExternalDeliveryID: parts[1]})}
	case method == http.MethodGet && len(parts) == 2:
		return answer{http.StatusOK, encode(s.deliveries[parts[1]])}
	case method == http.MethodPut && len(parts) == 3 && parts[2] == "cancel":
		return s.cancel(s.deliveries[parts[1]])
	}
	return answer{http.StatusMethodNotAllowed, []byte(`{"message":"no such method"}`)}
}

// problem is the body of a refusal.
type problem struct {
	Code               string       `json:"code"`
	Message            string       `json:"message"`
	Reason             string       `json:"reason,omitempty"`
	ExternalDeliveryID string       `json:"external_delivery_id,omitempty"`
	FieldErrors        []fieldError `json:"field_errors,omitempty"`
}

type fieldError struct {
	Field string `json:"field"`
	Error string `json:"error"`
}

func fieldErrors(fields map[string]string) (all []fieldError) {
	for field, wrong := range fields {
		all = append(all, fieldError{field, wrong})
	}
	return all
}

func refuse(status int, code, message string) answer {
	return answer{status, encode(problem{Code: code, Message: message})}
}

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}

func send(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
