package conformance_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/pg"
)

// certifyTask is what a run asks for.
type certifyTask struct {
	ID, Do, Order string
	Body          map[string]any
}

type certifyRun struct {
	ID, State string
	Tasks     []certifyTask
	Checks    []struct {
		ID, Group, State, Message string
		TraceIDs                  []string `json:"trace_ids"`
	}
}

// failed are the checks that have failed, with what they say.
func (r certifyRun) failed() (list []string) {
	for _, c := range r.Checks {
		if c.State == "failed" {
			list = append(list, c.ID+": "+c.Message)
		}
	}
	return list
}

// certifyTime bounds a run of a program: no stage of it waits for longer than a minute and a half.
const certifyTime = 4 * time.Minute

// certify plays a run, and hands its tasks to do.
func certify(t *testing.T, w *world, key, url string, groups []string, do func(certifyTask)) (run certifyRun) {
	t.Helper()
	read := func(method, path string, body any) {
		var answer struct{ Run certifyRun }
		var reader io.Reader
		if body != nil {
			reader = strings.NewReader(string(mustJSON(body)))
		}
		request, err := http.NewRequest(method, w.base+path, reader)
		check.OK(t, err)
		request.Header.Set("X-Api-Key", key)
		response, err := http.DefaultClient.Do(request)
		check.OK(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		check.OK(t, err)
		if response.StatusCode > 299 {
			t.Fatalf("%s: %d %s", path, response.StatusCode, text)
		}
		check.OK(t, json.Unmarshal(text, &answer))
		run = answer.Run
	}
	read("POST", "/v1/certify/runs", map[string]any{"webhook_url": url, "groups": groups})
	given := map[string]bool{}
	check.Eventually(t, certifyTime, 200*time.Millisecond, "the run to end", func() bool {
		read("GET", "/v1/certify/runs/"+run.ID, nil)
		for _, task := range run.Tasks {
			if !given[task.ID] {
				given[task.ID] = true
				do(task)
			}
		}
		return run.State != "running"
	})
	return run
}

var allGroups = []string{"calls", "manners", "webhooks", "stories", "repair"}

// TestPlantedFaults: an integration that does all that it should passes every check, and of one with
// a fault the check that is for it fails.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short leaves out what runs the program")
	}
	catalog := readTable(t).Catalog
	w := newWorld(t, catalog)
	var runs sync.WaitGroup // most of their time they wait, so all run at once
	for _, w := range []*world{w, newWorldOn(t, catalog, pg.Shared(t).Database(t))} {
		runs.Go(func() {
			p := openPlanted(t, w.base, w.partnerKey(t), "")
			run := certify(t, w, p.key, p.server.URL+"/hooks", allGroups, p.do)
			if run.State != "passed" || len(run.Checks) != 30 {
				t.Errorf("%s: without a fault: %s: %q", w.url, run.State, run.failed())
			}
			for _, c := range run.Checks {
				if c.State != "passed" {
					t.Errorf("%s: without a fault %s is %s: %s", w.url, c.ID, c.State, c.Message)
				}
			}
		})
	}
	for _, f := range plantedFaults {
		runs.Go(func() {
			p := openPlanted(t, w.base, w.partnerKey(t), f.fault)
			run := certify(t, w, p.key, p.server.URL+"/hooks", []string{f.group}, p.do)
			found := slices.ContainsFunc(run.failed(), func(line string) bool { return strings.HasPrefix(line, f.check+": ") })
			if run.State != "failed" || !found {
				t.Errorf("%s: %s: %q", f.fault, run.State, run.failed())
			}
			t.Logf("%s: %q", f.fault, run.failed())
		})
	}
	runs.Wait()
}

// partnerKey makes another partner, and returns its test key.
func (w *world) partnerKey(t *testing.T) string {
	t.Helper()
	var made struct{ Keys struct{ Test string } }
	check.OK(t, json.Unmarshal(w.operate("partner", "create", "--json", "--name", "Partner", "--rate-limit", "1000000"), &made))
	return made.Keys.Test
}
