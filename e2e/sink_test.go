package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// sink is an endpoint for webhooks.
type sink struct {
	*httptest.Server
	mu     sync.Mutex
	got    []received
	answer func(r received) int // returns a status; nil: 200
}

// received is a request, read to its end.
type received struct {
	path   string
	header http.Header
	body   string
	event  event
}

// event holds the fields of a payload that the tests use.
type event struct {
	ID        string `json:"id"`
	Event     string `json:"event"`
	OrderID   string `json:"order_id"`
	Timestamp string `json:"timestamp"`
}

func newSink(t *testing.T) *sink {
	s := &sink{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // its sender was killed
		}
		got := received{path: r.URL.Path, header: r.Header, body: string(body)}
		if err := json.Unmarshal(body, &got.event); err != nil {
			t.Errorf("a webhook is no JSON: %v: %s", err, body)
		}
		s.mu.Lock()
		s.got = append(s.got, got)
		answer := s.answer
		s.mu.Unlock()
		if answer != nil {
			w.WriteHeader(answer(got))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// answers sets the answers of the sink from now on.
func (s *sink) answers(f func(received) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func always(status int) func(received) int { return func(received) int { return status } }

// at lists the requests for a path so far.
func (s *sink) at(path string) (list []received) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.got {
		if r.path == path {
			list = append(list, r)
		}
	}
	return list
}

// waitFor waits for this many requests for a path.
func (s *sink) waitFor(t *testing.T, path string, n int) []received {
	t.Helper()
	check.Eventually(t, time.Minute, pollPause, "webhooks at "+path, func() bool { return len(s.at(path)) >= n })
	return s.at(path)
}

// events returns all events of a partner in the form in which they are pushed.
func (c *client) events() (list []string) {
	c.t.Helper()
	for cursor := ""; ; {
		var page struct {
			NextCursor string            `json:"next_cursor"`
			Events     []json.RawMessage `json:"events"`
		}
		path := "/v1/events?limit=300"
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		c.must(200, get(path)).decode(c.t, &page)
		for _, e := range page.Events {
			list = append(list, string(e))
		}
		if len(page.Events) == 0 {
			return list
		}
		cursor = page.NextCursor
	}
}
