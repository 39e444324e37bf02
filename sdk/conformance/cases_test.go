package conformance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/faultproxy"
)

// table is cases.json.
type table struct {
	Catalog json.RawMessage `json:"catalog,omitempty"`
	Values  map[string]any  `json:"values"` // that cases have in common
	Cases   []aCase         `json:"cases"`
}

// aCase is a case. A text "{name}" in it stands for a value that was saved; {case} is one
// that is new for each run of a case.
type aCase struct {
	Name     string            `json:"name"`
	Client   json.RawMessage   `json:"client,omitempty"` // options of the client
	Except   map[string]string `json:"except"`           // drivers that leave the case out, and why
	Keeps    bool              `json:"keepsConnections"` // the proxy lets connections carry several requests
	Before   []before          `json:"before"`           // what is done past the proxy
	Faults   []fault           `json:"faults"`           // of the requests, one after the other
	Calls    json.RawMessage   `json:"calls,omitempty"`  // []call
	Requests *int              `json:"requests"`         // how many the proxy sees; one a call. -1: any number
	Keys     *int              `json:"keys"`             // how many idempotency keys they have
	Headers  map[string]any    `json:"headers"`          // of the last request
	Path     string            `json:"path"`             // of the last request, with its query
	Books    json.RawMessage   `json:"books,omitempty"`  // what the calls add or change
}

type before struct {
	Post string            `json:"post"`
	Body json.RawMessage   `json:"body,omitempty"`
	Tag  string            `json:"tag"` // a path, whose ETag is saved as tag
	Pay  string            `json:"pay"`
	Hook string            `json:"hook"` // waits for a webhook that contains this; saved as body and headers
	Save map[string]string `json:"save"` // a name for a member of the answer, such as key.id
}

type fault struct {
	Do     faultproxy.Action `json:"do"`
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   json.RawMessage   `json:"body,omitempty"`
	Set    map[string]any    `json:"set"` // members of the answer, such as order.status
	CutAt  string            `json:"cutAt"`
}

// call is a call of an SDK, and what must come of it.
type call struct {
	Do      string            `json:"do"` // such as orders.report
	With    []json.RawMessage `json:"with"`
	Options json.RawMessage   `json:"options,omitempty"`
	Take    int               `json:"take"` // of what a call ranges over, how many are read
	Cancel  int               `json:"cancelAtPause"`
	Gives   any               `json:"gives"`
	Fails   any               `json:"fails"`
	Answer  any               `json:"answer"`
	Pauses  *[][2]float64     `json:"pauses"`
	Told    *int              `json:"told"` // of how many passing failures the caller is told
}

// job is what a driver gets, and outcome what it says of a call.
type job struct {
	BaseURL string          `json:"baseUrl"`
	APIKey  string          `json:"apiKey"`
	Client  json.RawMessage `json:"client,omitempty"`
	Calls   []call          `json:"calls"`
}

type outcome struct {
	Result any       `json:"result"` // of one that ranges, a list
	Error  any       `json:"error"`
	Answer any       `json:"answer"`
	Pauses []float64 `json:"pauses"` // in milliseconds
	Told   int       `json:"told"`
}

// driver makes the calls of a job with an SDK.
type driver func(*testing.T, job) []outcome

func readTable(t *testing.T) (cases table) {
	t.Helper()
	text, err := os.ReadFile("../cases.json")
	check.OK(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	check.OK(t, decoder.Decode(&cases))
	return cases
}

// runAll runs all cases with a driver, and checks that they call all operations.
func runAll(t *testing.T, name string, drive driver) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what runs the program")
	}
	cases := readTable(t)
	w := newWorld(t, cases.Catalog)
	called := map[string]bool{}
	for i, c := range cases.Cases {
		t.Run(c.Name, func(t *testing.T) {
			if why := c.Except[name]; why != "" {
				t.Skip(why)
			}
			inner := *w
			inner.t = t
			run := &run{world: &inner, aCase: c, saved: maps.Clone(cases.Values), called: called}
			run.saved["case"], run.saved["secret"], run.saved["partner"] = fmt.Sprintf("%s-%d", name, i), secret, w.partner
			run.play(drive)
		})
	}
	if t.Failed() {
		return
	}
	requests := slices.Collect(maps.Keys(called))
	for _, o := range operations(t) {
		if !slices.ContainsFunc(requests, o.matches) {
			t.Errorf("no case calls %s %s", o.method, o.path)
		}
	}
	w.operate("stock", "check")
	w.operate("ledger", "check")
}

// run is a case that is being run.
type run struct {
	*world
	aCase
	saved  map[string]any
	called map[string]bool // "GET /v1/health": what the SDKs have called
}

func (r *run) play(drive driver) {
	r.t.Helper()
	for i, b := range r.Before {
		r.prepare(i, b)
	}
	start := r.account()
	r.proxy.KeepConnections(r.Keeps)
	r.proxy.Script(r.steps()...)
	calls := fill[[]call](r, r.Calls)
	got := drive(r.t, job{BaseURL: r.proxy.URL(), APIKey: r.key, Client: r.Client, Calls: calls})
	seen, left := r.proxy.Seen()
	if left > 0 {
		r.t.Errorf("%d faults were not met", left)
	}
	if len(got) != len(calls) {
		r.t.Fatalf("%d of %d calls have an outcome", len(got), len(calls))
	}
	for i, c := range calls {
		r.compare(fmt.Sprintf("call %d, %s", i, c.Do), c, got[i])
	}
	r.checkRequests(seen, len(calls))
	if is, want := r.account().since(start), fill[books](r, r.Books).sorted(); fmt.Sprint(is) != fmt.Sprint(want) {
		r.t.Errorf("the books gained %+v, want %+v", is, want)
	}
}

// prepare does what comes before the calls.
func (r *run) prepare(i int, b before) {
	r.t.Helper()
	b = fill[before](r, b)
	var answer map[string]any
	switch {
	case b.Post != "":
		answer = r.post(b.Post, fmt.Sprintf("%v before %d", r.saved["case"], i), b.Body)
	case b.Tag != "":
		answer = map[string]any{"tag": r.tag(b.Tag)}
	case b.Pay != "":
		r.pay(b.Pay)
	case b.Hook != "":
		check.Eventually(r.t, patience, 5*time.Millisecond, "a webhook with "+b.Hook, func() bool {
			got, ok := r.hooks.find(b.Hook)
			answer = map[string]any{"body": got.Body, "headers": got.Headers}
			return ok
		})
	}
	for name, path := range b.Save {
		var value any = answer
		for member := range strings.SplitSeq(path, ".") {
			value = value.(map[string]any)[member]
		}
		r.saved[name] = value
	}
}

// steps are the faults as the proxy takes them.
func (r *run) steps() (steps []faultproxy.Step) {
	for _, f := range r.Faults {
		f = fill[fault](r, f)
		s := faultproxy.Step{Action: f.Do, Status: f.Status, Header: f.Header, Body: f.Body, CutAt: f.CutAt}
		var plain string
		if json.Unmarshal(f.Body, &plain) == nil {
			s.Body = []byte(plain)
		}
		if f.Do == "pass" {
			s.Action = faultproxy.Pass
		}
		if f.Set != nil {
			s.Edit = func(body []byte) []byte { return edit(r.t, body, f.Set) }
		}
		steps = append(steps, s)
	}
	return steps
}

// edit sets members of a JSON object.
func edit(t *testing.T, body []byte, members map[string]any) []byte {
	var answer map[string]any
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	for path, value := range members {
		at, names := answer, strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			next, ok := at[name].(map[string]any)
			if list, isList := at[name].([]any); isList && len(list) > 0 {
				next, ok = list[0].(map[string]any)
			}
			if !ok {
				t.Errorf("there is no %s in %s", path, body)
				return body
			}
			at = next
		}
		at[names[len(names)-1]] = value
	}
	text, err := json.Marshal(answer)
	if err != nil {
		t.Error(err)
	}
	return text
}

// compare compares the outcome of a call with what the case says.
func (r *run) compare(name string, want call, got outcome) {
	r.t.Helper()
	if want.Fails == nil && got.Error != nil || want.Fails != nil && got.Error == nil {
		r.t.Errorf("%s: it gives %s and fails with %s", name, text(got.Result), text(got.Error))
		return
	}
	for _, part := range []struct {
		name      string
		want, got any
	}{{"gives", want.Gives, got.Result}, {"fails with", want.Fails, got.Error}, {"is answered", want.Answer, got.Answer}} {
		if part.want == nil {
			continue
		}
		if difference := differs("", part.want, part.got); difference != "" {
			r.t.Errorf("%s %s %s:\n%s", name, part.name, text(part.got), difference)
		}
	}
	if want.Pauses != nil {
		ok := len(*want.Pauses) == len(got.Pauses)
		for i := 0; ok && i < len(got.Pauses); i++ {
			ok = got.Pauses[i] >= (*want.Pauses)[i][0] && got.Pauses[i] <= (*want.Pauses)[i][1]
		}
		if !ok {
			r.t.Errorf("%s pauses for %v ms, want %v", name, got.Pauses, *want.Pauses)
		}
	}
	if want.Told != nil && *want.Told != got.Told {
		r.t.Errorf("%s tells of %d failures, want %d", name, got.Told, *want.Told)
	}
}

// differs compares a value with what is wanted of it: members that are not named may have any
// value, and "*" stands for any that is there.
func differs(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %s, not an object", path, text(got))
		}
		for name, value := range w {
			if value == "*" && (g[name] == nil || g[name] == "") {
				return fmt.Sprintf("%s.%s is missing", path, name)
			}
			if difference := differs(path+"."+name, value, g[name]); difference != "" {
				return difference
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s has %s, want %d entries", path, text(got), len(w))
		}
		for i := range w {
			if difference := differs(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); difference != "" {
				return difference
			}
		}
		return ""
	}
	if want != "*" && !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s is %s, want %s", path, text(got), text(want))
	}
	return ""
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// checkRequests checks what the proxy has seen.
func (r *run) checkRequests(seen []*http.Request, calls int) {
	r.t.Helper()
	want := calls
	if r.Requests != nil {
		want = *r.Requests
	}
	if len(seen) != want && want >= 0 {
		r.t.Errorf("%d requests were sent, want %d", len(seen), want)
	}
	used := map[string]bool{}
	for _, request := range seen {
		r.called[request.Method+" "+request.URL.Path] = true
		if key := request.Header.Get("Idempotency-Key"); key != "" {
			used[key] = true
		}
	}
	if len(used) > calls || r.Keys != nil && len(used) != *r.Keys {
		r.t.Errorf("%d calls have used the keys %v", calls, used)
	}
	if len(seen) == 0 {
		return
	}
	last := seen[len(seen)-1]
	if want, err := url.Parse(fill[string](r, r.Path)); err != nil || want.Path != "" &&
		(want.EscapedPath() != last.URL.EscapedPath() || !reflect.DeepEqual(want.Query(), last.URL.Query())) {
		r.t.Errorf("the last request was %s, want %v (%v)", last.URL.RequestURI(), want, err)
	}
	for name, value := range fill[map[string]any](r, r.Headers) {
		if got := last.Header.Get(name); got != value && (value != "*" || got == "") && (value != nil || got != "") {
			r.t.Errorf("the header %s is %q, want %v", name, got, value)
		}
	}
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// fill puts saved values into the texts of a value.
func fill[T any](r *run, v any) (filled T) {
	raw, err := json.Marshal(v)
	check.OK(r.t, err)
	var loose any
	check.OK(r.t, json.Unmarshal(raw, &loose))
	raw, err = json.Marshal(r.put(loose))
	check.OK(r.t, err)
	check.OK(r.t, json.Unmarshal(raw, &filled))
	return filled
}

// clone copies a value of JSON.
func clone(v any) any {
	switch v := v.(type) {
	case []any:
		list := slices.Clone(v)
		for i := range list {
			list[i] = clone(list[i])
		}
		return list
	case map[string]any:
		members := maps.Clone(v)
		for name := range members {
			members[name] = clone(members[name])
		}
		return members
	}
	return v
}

func (r *run) put(v any) any {
	switch v := v.(type) {
	case string:
		if match := placeholder.FindString(v); match != "" && match == v {
			if saved, ok := r.saved[v[1:len(v)-1]]; ok {
				return r.put(clone(saved))
			}
		}
		return placeholder.ReplaceAllStringFunc(v, func(name string) string {
			if saved, ok := r.saved[name[1:len(name)-1]]; ok {
				return fmt.Sprint(saved)
			}
			return name
		})
	case []any:
		for i := range v {
			v[i] = r.put(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = r.put(v[name])
		}
	}
	return v
}
