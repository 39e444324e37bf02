package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purveyor/internal/outside/httpcall"
)

// runs answers a run as far as it has come: each look is one answer further.
type runs struct {
	answers []string // an HTTP status before a JSON body; the last is repeated
	asked   []string
}

func (r *runs) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Header.Get("X-Api-Key") != "sk_test_1" {
		w.WriteHeader(http.StatusUnauthorized)
	}
	r.asked = append(r.asked, q.Method+" "+q.URL.Path)
	status, body, _ := strings.Cut(r.answers[min(len(r.asked), len(r.answers))-1], " ")
	code := 0
	if _, err := fmt.Sscan(status, &code); err != nil {
		panic(err)
	}
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body)) // the client may be gone
}

func aRun(state, tasks, check string) string {
	return `{"ok":true,"run":{"id":"run_1","state":"` + state + `","tasks":[` + tasks + `],"checks":[{"id":"paid","group":"stories","title":"It is confirmed","state":"` + check + `","message":null,"trace_ids":[]}]}}`
}

const aTask = `{"id":"t1","do":"report","order":"CERT-1","text":"Report it."}`

// TestCertify: each task is handed over once, also if the service is away in between, and the outcome
// is that of the run.
func TestCertify(t *testing.T) {
	tasks := filepath.Join(t.TempDir(), "tasks")
	for _, c := range []struct {
		name    string
		drive   string
		answers []string
		state   string
		err     string // part of it
		tasks   string // that were handed over
	}{
		{"passes", "cat >> " + tasks, []string{"201 " + aRun("running", "", "pending"), "200 " + aRun("running", aTask, "pending"), "429 {}", "503 {}", "200 " + aRun("running", aTask, "pending"), "200 " + aRun("passed", "", "passed")}, "passed", "", aTask},
		{"fails", "cat >> " + tasks, []string{"201 " + aRun("running", "", "pending"), "200 " + aRun("failed", "", "failed")}, "failed", "", ""},
		{"a person", "", []string{"201 " + aRun("running", aTask, "pending"), "200 " + aRun("passed", "", "passed")}, "passed", "", ""},
		{"is refused", "", []string{`409 {"ok":false,"error":"The run run_0 goes on","code":"limit_reached"}`}, "", "409: The run run_0 goes on", ""},
		{"is gone", "", []string{"201 " + aRun("running", "", "pending"), `404 {"ok":false,"error":"run not found"}`}, "running", "404: run not found", ""},
		{"another server", "", []string{"200 <html>"}, "", "is --url right?", ""},
		{"nothing happens", "cat >> " + tasks, []string{"201 " + aRun("running", "", "pending")}, "running", "nothing has changed for 1m0s", ""},
		{"the command fails", "exit 3", []string{"201 " + aRun("running", aTask, "pending")}, "running", "--drive: exit status 3", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Remove(tasks) // there may be none
			service := &runs{answers: c.answers}
			server := httptest.NewServer(service)
			defer server.Close()
			now := time.Now()
			p := &certifier{certifyCommand: certifyCommand{Key: "sk_test_1", Drive: c.drive, Patience: time.Minute}, client: httpcall.Client(nil), base: server.URL + "/v1/certify/runs",
				now: func() time.Time { return now }, given: map[string]bool{},
				pause: func(ctx context.Context, d time.Duration) error { now = now.Add(d); return ctx.Err() }}
			err := p.play(t.Context())
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || p.run.State != c.state {
				t.Errorf("%s: %v", p.run.State, err)
			}
			if text, _ := os.ReadFile(tasks); string(text) != c.tasks {
				t.Errorf("handed over: %q", text)
			}
		})
	}
}

// TestCertifyStops: a signal ends it.
func TestCertifyStops(t *testing.T) {
	server := httptest.NewServer(&runs{answers: []string{"201 " + aRun("running", "", "pending")}})
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	p := &certifier{certifyCommand: certifyCommand{Key: "sk_test_1"}, client: httpcall.Client(nil), base: server.URL, now: time.Now, given: map[string]bool{},
		pause: func(context.Context, time.Duration) error { cancel(); return ctx.Err() }}
	if err := p.play(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCertifyReports: all reports are in the folder, and that in JSON is the run as it was answered.
func TestCertifyReports(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "reports")
	p := &certifier{whole: json.RawMessage(`{"id":"run_1","state":"passed","later":1}`)}
	if err := errors.Join(json.Unmarshal(p.whole, &p.run), p.write(folder), p.write(folder)); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 4 {
		t.Errorf("%v, %v", files, err)
	}
	var read map[string]any
	if text, err := os.ReadFile(filepath.Join(folder, "report.json")); err != nil || json.Unmarshal(text, &read) != nil || read["later"] != 1.0 {
		t.Errorf("%s, %v", text, err)
	}
}
