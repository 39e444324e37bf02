package requestlogtest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/requestlog"

	"pgregory.net/rapid"
)

// clock is that of a log.
type clock struct{ now commerce.Millis }

func (c *clock) Now() time.Time { return c.now.Time() }

func newLog(t *testing.T, open Open, o requestlog.Options) (*requestlog.Log, *clock) {
	c := &clock{now: at(12 * 3_600_000)}
	o.Now = c.Now
	return requestlog.New(env.Env{}, open(t), o), c
}

var keys = []*commerce.APIKey{{ID: "key_live", PartnerID: "a", Mode: commerce.Live}, {ID: "key_test", PartnerID: "a", Mode: commerce.Test}, {ID: "key_b", PartnerID: "b", Mode: commerce.Live}}

// call is a call of partner a with its live key.
func call(at commerce.Millis) *requestlog.Call {
	return &requestlog.Call{Key: keys[0], At: at.Time(), Took: 3 * time.Millisecond, Method: "GET", Target: "/v1/products?limit=3", Operation: "listProducts", Status: 200,
		Address: "192.0.2.7", TraceID: "0f8a4c2e91d34b7f0f8a4c2e91d34b7f", ResponseBytes: 300,
		RequestHeaders: http.Header{"User-Agent": {"shop/1"}, "X-Api-Key": {"sk_live_x"}}, ResponseHeaders: http.Header{"Content-Type": {"application/json"}}}
}

func flush(t failer, l *requestlog.Log) {
	t.Helper()
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func page(t failer, l *requestlog.Log, f requestlog.Filter) requestlog.Page {
	t.Helper()
	p, err := l.Page(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// allPages are the rows of all pages of a list.
func allPages(t failer, l *requestlog.Log, f requestlog.Filter) (list []requestlog.Entry) {
	t.Helper()
	for {
		p := page(t, l, f)
		if len(p.Entries) > f.Limit {
			t.Fatalf("a page of %d has %d rows", f.Limit, len(p.Entries))
		}
		list = append(list, p.Entries...)
		if p.Before == "" {
			return list
		}
		if f.Before != "" && p.Before >= f.Before {
			t.Fatalf("the page behind %s ends at %s", f.Before, p.Before)
		}
		f.Before = p.Before
	}
}

// pages: rows come back as they were added, the newest first, and each filter selects its own.
func pages(t *testing.T, open Open) {
	l, c := newLog(t, open, requestlog.Options{})
	report := call(c.now + 10)
	report.Method, report.Target, report.Operation, report.Status, report.StoreID, report.OrderID = "POST", "/v1/orders/report", "reportOrder", 201, "sto_1", "ord_1_x"
	report.TraceID, report.Replayed, report.Key = "my trace", true, keys[1]
	report.RequestHeaders.Set("X-Trace-Id", "my trace")
	failed := call(c.now + 20)
	failed.Status, failed.Code, failed.StoreID = 404, "not_found", "sto_2"
	other := call(c.now + 30)
	other.Key = keys[2]
	for _, each := range []*requestlog.Call{call(c.now), report, failed, other} {
		l.Add(each)
	}
	flush(t, l)
	names := func(f requestlog.Filter) (list []string) {
		f.PartnerID, f.Limit = "a", 100
		for _, e := range allPages(t, l, f) {
			list = append(list, fmt.Sprint(e.Status))
		}
		return list
	}
	for name, of := range map[string]struct {
		f    requestlog.Filter
		want []string
	}{
		"all":           {requestlog.Filter{}, []string{"404", "201", "200"}},
		"mode":          {requestlog.Filter{Mode: commerce.Test}, []string{"201"}},
		"stores":        {requestlog.Filter{StoreIDs: []string{"sto_2", "sto_3"}}, []string{"404", "200"}},
		"no stores":     {requestlog.Filter{StoreIDs: []string{""}}, []string{"200"}},
		"status":        {requestlog.Filter{Statuses: []requestlog.Statuses{{From: 201, To: 201}, {From: 400, To: 499}}}, []string{"404", "201"}},
		"method":        {requestlog.Filter{Method: "POST"}, []string{"201"}},
		"operation":     {requestlog.Filter{Operation: "listProducts"}, []string{"404", "200"}},
		"code":          {requestlog.Filter{Code: "not_found"}, []string{"404"}},
		"key":           {requestlog.Filter{KeyID: "key_live"}, []string{"404", "200"}},
		"order":         {requestlog.Filter{OrderID: "ord_1_x"}, []string{"201"}},
		"unknown order": {requestlog.Filter{OrderID: "ord_1_y"}, nil},
		"trace":         {requestlog.Filter{TraceID: "my trace"}, []string{"201"}},
		"drawn trace":   {requestlog.Filter{TraceID: call(0).TraceID}, []string{"404", "200"}},
		"since":         {requestlog.Filter{Since: c.now + 10}, []string{"404", "201"}},
		"until":         {requestlog.Filter{Until: c.now + 10}, []string{"200"}},
		"several":       {requestlog.Filter{Since: c.now + 1, Until: c.now + 20, Method: "POST"}, []string{"201"}},
	} {
		same(t, name, names(of.f), of.want)
	}
	e := allPages(t, l, requestlog.Filter{PartnerID: "a", Limit: 1})[1]
	id := e.ID
	want := requestlog.Entry{ID: id, At: c.now + 10, Took: 3 * time.Millisecond, Method: "POST", Path: "/v1/orders/report", Operation: "reportOrder", Status: 201, Mode: commerce.Test, KeyID: "key_test",
		StoreID: "sto_1", OrderID: "ord_1_x", Address: "192.0.2.7", TraceID: "my trace", Replayed: true, ResponseBytes: 300}
	same(t, "a row", e, want)
	if !commerce.IsID(commerce.PrefixRequest, id) || commerce.TimeOfRequest(id) != c.now+10 {
		t.Errorf("the id is %s", id)
	}
	if p := page(t, l, requestlog.Filter{PartnerID: "c", Limit: 10}); len(p.Entries) > 0 || p.Before != "" {
		t.Errorf("another partner sees %+v", p)
	}
}

// pagesOfProcesses compares the pages of a list with all that several processes have added in any
// order of times.
func pagesOfProcesses(t *testing.T, open Open) {
	const processes = 3
	stores := []requestlog.Store{open(t), open(t), open(t)}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		partner := fmt.Sprint("partner ", n)
		c := &clock{now: at(23*3_600_000 + 3_595_000)} // some rows are of the next day
		var logs []*requestlog.Log
		for _, s := range stores {
			logs = append(logs, requestlog.New(env.Env{}, s, requestlog.Options{Now: c.Now}))
		}
		statuses := map[string]int{}
		for i := range rapid.IntRange(0, 60).Draw(t, "calls") {
			c.now += commerce.Millis(rapid.SampledFrom([]int{0, 0, 1, 7, 300, 1500}).Draw(t, "ms"))
			each := call(c.now - commerce.Millis(rapid.SampledFrom([]int{0, 0, 0, 20, 900, 4000}).Draw(t, "late")))
			each.Key = &commerce.APIKey{ID: "key", PartnerID: partner, Mode: commerce.Live}
			each.Code, each.Status = fmt.Sprint(i), rapid.SampledFrom([]int{200, 404}).Draw(t, "status")
			each.TraceID = fmt.Sprint("trace ", rapid.IntRange(0, 3).Draw(t, "trace"))
			statuses[each.Code] = each.Status
			l := logs[rapid.IntRange(0, processes-1).Draw(t, "process")]
			l.Add(each)
			if rapid.IntRange(0, 3).Draw(t, "flush") == 0 {
				flush(t, l)
			}
		}
		for _, l := range logs {
			flush(t, l)
		}
		whole := allPages(t, logs[0], requestlog.Filter{PartnerID: partner, Limit: 1000})
		if len(whole) != len(statuses) || !slices.IsSortedFunc(whole, func(a, b requestlog.Entry) int { return strings.Compare(b.ID, a.ID) }) {
			t.Fatalf("of %d rows %d are listed: %v", len(statuses), len(whole), whole)
		}
		f := requestlog.Filter{PartnerID: partner, Limit: rapid.IntRange(1, 9).Draw(t, "limit")}
		if rapid.Bool().Draw(t, "by status") {
			f.Statuses = []requestlog.Statuses{{From: 400, To: 499}}
		}
		if rapid.Bool().Draw(t, "by trace") {
			f.TraceID = fmt.Sprint("trace ", rapid.IntRange(0, 3).Draw(t, "trace"))
		}
		if rapid.Bool().Draw(t, "by time") {
			f.Since = c.now - commerce.Millis(rapid.IntRange(0, 9000).Draw(t, "since"))
			f.Until = f.Since + commerce.Millis(rapid.IntRange(0, 5000).Draw(t, "until"))
		}
		var want []requestlog.Entry
		for _, e := range whole {
			if f.Shows(&e) && e.At >= f.Since && (f.Until == 0 || e.At < f.Until) {
				want = append(want, e)
			}
		}
		got := allPages(t, logs[1], f)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%+v:\n got %v\nwant %v", f, got, want)
		}
	})
}

// finds: a row is found by its partner and its id, with all that is kept of it.
func finds(t *testing.T, open Open) {
	l, c := newLog(t, open, requestlog.Options{})
	each := call(c.now)
	each.Method, each.Target, each.Status = "POST", "/v1/orders/report?token=abc", 201
	each.RequestHeaders.Set("Idempotency-Key", "order 1")
	each.RequestBody, _ = requestlog.AppendBody(nil, []byte(`{"customer_email": "jo@shop.example", "n": 1}`), true)
	each.ResponseBody, _ = requestlog.AppendBody(nil, []byte(`{"ok": true}`), true)
	l.Add(call(c.now))
	l.Add(each)
	l.Add(call(c.now))
	flush(t, l)
	list := allPages(t, l, requestlog.Filter{PartnerID: "a", Limit: 10})
	e, err := l.Find(t.Context(), "a", list[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	want := list[1]
	want.RequestHeaders = []requestlog.Header{{Name: "idempotency-key", Value: "order 1"}, {Name: "user-agent", Value: "shop/1"}}
	want.ResponseHeaders = []requestlog.Header{{Name: "content-length", Value: "300"}, {Name: "content-type", Value: "application/json"}, {Name: "x-trace-id", Value: each.TraceID}}
	want.RequestBody, want.ResponseBody, want.Path = `{"customer_email":"[redacted]","n":1}`, `{"ok":true}`, "/v1/orders/report?token=[redacted]"
	same(t, "the row", e, want)
	plain, err := l.Find(t.Context(), "a", list[0].ID)
	if err != nil || plain.RequestBody != "" || plain.ResponseBody != "" || len(plain.RequestHeaders) != 1 {
		t.Errorf("a row without bodies is %+v, %v", plain, err)
	}
	for partner, id := range map[string]string{"b": list[1].ID, "a": commerce.NewID(commerce.PrefixRequest, c.now, commerce.Entropy{}), "": "", "c": "req_x", "d": commerce.NewID(commerce.PrefixOrder, c.now, commerce.Entropy{})} {
		if e, err := l.Find(t.Context(), partner, id); err == nil {
			t.Errorf("%s found %+v by %q", partner, e, id)
		}
	}
}

// bounds: what there is no room for is dropped, counted and told.
func bounds(t *testing.T, open Open) {
	l, c := newLog(t, open, requestlog.Options{})
	body, _ := requestlog.AppendBody(nil, []byte(`"`+strings.Repeat("x", requestlog.BodyRoom)+`"`), true)
	const calls = 2000 // of 16 KiB
	for range calls {
		each := call(c.now)
		each.RequestBody, each.ResponseBody = body, body
		l.Add(each)
	}
	small := call(c.now)
	small.Key = keys[2]
	l.Add(small)
	kept, dropped := l.Rows()
	if bytes := kept * 2 * requestlog.BodyRoom; kept+dropped != calls+1 || bytes > 4<<20 || bytes < 3<<20 {
		t.Errorf("%d rows were kept and %d dropped", kept, dropped)
	}
	flush(t, l)
	list := allPages(t, l, requestlog.Filter{PartnerID: "a", Limit: 10})
	if int64(len(list)) != kept-1 {
		t.Errorf("%d rows are listed, and %d were kept", len(list), kept-1)
	}
	if p := page(t, l, requestlog.Filter{PartnerID: "b", Limit: 10}); len(p.Entries) != 1 || p.Lost != 0 {
		t.Errorf("a partner with one request sees %+v", p)
	}
	l.Add(call(c.now))
	flush(t, l)
	if p := page(t, l, requestlog.Filter{PartnerID: "a", Limit: 1000}); p.Lost != dropped {
		t.Errorf("%d rows are told to be dropped, and %d were", p.Lost, dropped)
	}
	count, err := l.Counts(t.Context(), "a", c.now-60_000)
	if err != nil || len(count) != 1 || count[0].Requests != calls+1 {
		t.Errorf("counted %+v, %v", count, err)
	}
}

// lateRows: a page examines a bounded number of rows, and the next one goes on behind them.
func lateRows(t *testing.T, open Open) {
	l, c := newLog(t, open, requestlog.Options{})
	rare := call(c.now)
	rare.Code = "rare"
	l.Add(rare)
	const calls = 12_000
	for i := range calls {
		l.Add(call(c.now + commerce.Millis(i/10)))
		if i%3000 == 0 {
			flush(t, l)
		}
	}
	flush(t, l)
	f := requestlog.Filter{PartnerID: "a", Code: "rare", Limit: 10}
	n := 0
	for {
		n++
		p := page(t, l, f)
		if p.Before == "" {
			if len(p.Entries) != 1 || n != 3 {
				t.Errorf("page %d is the last and has %d rows", n, len(p.Entries))
			}
			return
		}
		f.Before = p.Before
	}
}

// oldDays: what is older than the days that are kept is dropped.
func oldDays(t *testing.T, open Open) {
	l, c := newLog(t, open, requestlog.Options{})
	now := c.now
	for _, days := range []int{0, requestlog.KeptDays, requestlog.KeptDays + 1, 100} {
		l.Add(call(now - commerce.Millis(days)*24*3_600_000))
		flush(t, l)
	}
	tidy(t, l)
	var left []string
	for _, e := range allPages(t, l, requestlog.Filter{PartnerID: "a", Limit: 10}) {
		left = append(left, fmt.Sprint(int(now-e.At)/(24*3_600_000)))
	}
	same(t, "days that are left", left, []string{"0", fmt.Sprint(requestlog.KeptDays)})
}

func tidy(t *testing.T, l *requestlog.Log) {
	t.Helper()
	if err := l.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// full: a log that is larger than it may be drops its oldest days, and then its new rows.
func full(t *testing.T, open Open) {
	l, c := newLog(t, open, requestlog.Options{Most: 1})
	now := c.now
	for _, days := range []int{0, 1, 2} {
		l.Add(call(now - commerce.Millis(days)*24*3_600_000))
		flush(t, l)
	}
	tidy(t, l)
	l.Add(call(now + 5))
	flush(t, l)
	p := page(t, l, requestlog.Filter{PartnerID: "a", Limit: 10})
	if len(p.Entries) != 1 || p.Entries[0].At != now || p.Lost != 1 {
		t.Errorf("left are %+v", p)
	}
}

// failer is a test, or one of rapid.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}
