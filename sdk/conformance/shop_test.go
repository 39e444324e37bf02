package conformance_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/devdocs/openapi"
	"purveyor/internal/testkit/check"
)

// shop answers each operation with the first example of the API document, and keeps the
// requests.
type shop struct {
	*httptest.Server
	document *openapi.Document
	mu       sync.Mutex
	requests []sent
}

// sent is a request.
type sent struct {
	method, uri, key, idempotencyKey string
	body                             any
}

func openShop(t *testing.T) *shop {
	t.Helper()
	text, err := os.ReadFile("../../internal/api/openapi.yaml")
	check.OK(t, err)
	document, err := openapi.Read(text)
	check.OK(t, err)
	s := &shop{document: document}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	request := sent{method: r.Method, uri: r.URL.RequestURI(), key: r.Header.Get("X-Api-Key"), idempotencyKey: r.Header.Get("Idempotency-Key")}
	if len(text) > 0 && json.Unmarshal(text, &request.body) != nil {
		request.body = string(text)
	}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	if o := s.operation(r); o != nil && answerExample(w, o) {
		return
	}
	http.NotFound(w, r)
}

// operation returns the operation of a request: of several that match, that with the fewest
// parameters in its path.
func (s *shop) operation(r *http.Request) (best *openapi.Operation) {
	for _, o := range s.document.Operations {
		if (anOperation{"", o.Method, o.Path}).matches(r.Method+" "+r.URL.EscapedPath()) && (best == nil || strings.Count(o.Path, "{") < strings.Count(best.Path, "{")) {
			best = o
		}
	}
	return best
}

func answerExample(w http.ResponseWriter, o *openapi.Operation) bool {
	for _, a := range o.Answers {
		status, err := strconv.Atoi(a.Name)
		if err != nil || status >= 300 {
			continue
		}
		for _, c := range a.Value.Content {
			for _, e := range c.Value.Named() {
				body := e.Value.Text() + "\n" // which ends an event
				if c.Name == "application/json" {
					body = e.Value.Line()
				}
				w.Header().Set("Content-Type", c.Name)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body) // the caller has gone
				return true
			}
		}
	}
	return false
}

// take returns the requests since the last time.
func (s *shop) take() []sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}
