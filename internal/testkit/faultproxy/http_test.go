package faultproxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
)

func TestHTTP(t *testing.T) {
	var served atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Served", r.Header.Get("X-Name"))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s %d", body, served.Add(1))
	}))
	defer service.Close()
	p, err := faultproxy.NewHTTP(strings.TrimPrefix(service.URL, "http://"))
	check.OK(t, err)
	defer p.Close()
	for name, c := range map[string]struct {
		step   faultproxy.Step
		served int64
		answer string // empty: the connection is cut
	}{
		"pass":       {faultproxy.Step{}, 1, "201 a 1"},
		"drop":       {faultproxy.Step{Action: faultproxy.Drop}, 0, ""},
		"lose":       {faultproxy.Step{Action: faultproxy.Lose}, 1, ""},
		"hold":       {faultproxy.Step{Action: faultproxy.Hold}, 1, ""},
		"twice":      {faultproxy.Step{Action: faultproxy.Twice}, 2, "201 a 2"},
		"answer":     {faultproxy.Step{Action: faultproxy.Answer, Status: 429, Header: map[string]string{"Retry-After": "7"}, Body: []byte("no")}, 0, "429 no"},
		"edit":       {faultproxy.Step{Edit: func(b []byte) []byte { return bytes.ToUpper(b) }}, 1, "201 A 1"},
		"cut":        {faultproxy.Step{CutAt: " 1"}, 1, ""},
		"cut beyond": {faultproxy.Step{CutAt: "never"}, 1, "201 a 1"},
	} {
		t.Run(name, func(t *testing.T) {
			served.Store(0)
			p.Script(c.step)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if c.step.Action == faultproxy.Hold {
				ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
			}
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, "POST", p.URL()+"/x?y=1", strings.NewReader("a"))
			check.OK(t, err)
			request.Header.Set("X-Name", name)
			if got := ask(request); got != c.answer {
				t.Errorf("the answer is %q, want %q", got, c.answer)
			}
			check.Eventually(t, patience, time.Millisecond, "the service to have its requests", func() bool { return served.Load() == c.served })
			seen, left := p.Seen()
			if len(seen) != 1 || left != 0 || seen[0].URL.String() != "/x?y=1" || seen[0].Header.Get("X-Name") != name {
				t.Errorf("seen %v, left %d", seen, left)
			}
		})
	}
}

// ask returns the status and body of an answer, empty if it is not whole.
func ask(request *http.Request) string {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}
