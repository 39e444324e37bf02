package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the baseline of reads be a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == serveBytesArg {
		if err := mainErr(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	connections = quickConnections
	os.Exit(m.Run())
}

// Every case runs on every database, and all that is checked holds.
func TestQuickRunOfAllCases(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what runs the service under load")
	}
	t.Parallel()
	databases := func(titles ...string) (lines []string) {
		for _, title := range titles {
			lines = append(lines, title+", SQLite ", title+", PostgreSQL ")
		}
		return lines
	}
	for section, wanted := range map[string][]string{
		"limits": append(databases("process start to first answer, median of 1", "one product", "page of 100 products, unchanged (304)", "page of 100 products, stock changes", "  orders beside the pages", "one order",
			"reports, spread", "reports, two hot products", "page of 100 products, of all", "reports, of all, scattered ids"),
			"reports, spread, SQLite full ", "one product, PostgreSQL full ", "  pgbench reading one product ", "  pgbench with the same transaction ", "  bare net/http, the same bytes ",
			"pgbench, two hot products ", "100 orders filled in place, SQLite full ",
			"reports, two hot products, SQLite against spread ", ", 0 were older than", "Checked at the end on PostgreSQL full"),
		"webhooks": append(databases("reports with webhooks", "  deliveries beside them", "  reports without", "drain", "event to arrival"),
			"drain, PostgreSQL full against empty ", "event to arrival, SQLite full ", "all 40 attempts are on record"),
		"payments": append(databases("checkouts", "payment notices", "  reports", "reports beside a slow processor", "one product beside a slow processor", "  checkouts that wait"),
			"oldest open transaction beside a slow processor, PostgreSQL ", "each order is paid"),
		"nearby":     databases("nearby stores", "nearby stores at an even pace", "  one product"),
		"deliveries": databases("preflights for delivery", "  one product", "courier notices", "  reports"),
		"catalog":    databases("upserts of 200 products, found by SKU", "upserts of 200 products, new SKUs"),
		"moving": append(databases("courier steps", "courier steps beside reads and reports", "one product beside couriers", "reports beside couriers"),
			"every order is delivered"),
	} {
		t.Run(section, func(t *testing.T) {
			t.Parallel()
			o := options{quick: true, orders: 100, dir: openFolder(t), only: section}
			var out strings.Builder
			if err := o.measure(t.Context(), &out); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			for _, line := range wanted {
				if strings.HasSuffix(line, " ") {
					line = "| " + line
				}
				if !strings.Contains(out.String(), line) {
					t.Errorf("there is no %q", line)
				}
			}
			if t.Failed() {
				t.Log(out.String())
			}
		})
	}
}

// openFolder is a temporary folder that other users may enter, as root's PostgreSQL does.
func openFolder(t *testing.T) string {
	dir := t.TempDir()
	for _, folder := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, o := range []options{{only: "limits/nothing"}, {only: "large"}, {orders: 1000}, {write: true, quick: true}, {write: true, only: "payments/slow"}, {write: true}, {write: true, only: "payments", old: "purveyor"}} {
		if err := o.measure(t.Context(), nil); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	for only, wanted := range map[string]bool{"": true, "limits": true, "limits/hot": true, "payments,limits": true, "payments/slow": false, "limits/page": false} {
		if got := (options{only: only}).wants("limits", "hot"); got != wanted {
			t.Errorf("-only %s: %v", only, got)
		}
	}
	o, err := parse(strings.Fields("limits/hot -rounds 5 payments -only limits/cores"))
	if err != nil || o.only != "limits/cores,limits/hot,payments" || o.rounds != 5 {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := parse([]string{"limits", "-no-such"}); err == nil {
		t.Error("an unknown option was taken")
	}
	o = options{only: "limits", orders: 10, dir: "/some/where", old: "/some/program", seconds: 2, rounds: 3}
	if got := o.commandLine(); got != "go -C bench run . -only limits -orders 10 -dir FOLDER -old PROGRAM -seconds 2 -rounds 3" {
		t.Error(got)
	}
}

// -write replaces the figures of one section in docs/BENCHMARKS.md, and nothing else.
func TestFiguresAreReplacedAndTheRestKept(t *testing.T) {
	document := string(must(os.ReadFile("../docs/BENCHMARKS.md")))
	table := func(text string) (rows []string) {
		for line := range strings.Lines(text) {
			if cells := cellsOf(line); len(cells) == len(columns)+2 && strings.HasPrefix(line, "|") {
				rows = append(rows, strings.Join(cells, "|"))
			}
		}
		return rows
	}
	row := []string{"one product", "1", "2 us", "3 us", "4 us", "0.5 (0.4 to 0.6)", "0.4", "yes"}
	baseline := []string{"  bare", "1", "2 us", "3 us", "4 us", "", "", ""}
	for _, s := range sections {
		made, err := replaceFigures(document, s.name, "the machine", "2026-01-01", [][]string{row, baseline})
		if err != nil {
			t.Fatal(err)
		}
		kept := func(text string) []string {
			return slices.DeleteFunc(table(text), func(row string) bool { return strings.HasPrefix(row, s.name+"|") || strings.HasPrefix(row, "---") })
		}
		mine := slices.DeleteFunc(table(made), func(row string) bool { return !strings.HasPrefix(row, s.name+"|") })
		if !slices.Equal(mine, []string{s.name + "|" + strings.Join(row, "|") + "|2026-01-01"}) || !slices.Equal(kept(made), kept(document)) {
			t.Errorf("%s: made\n%s", s.name, made)
		}
		outside := func(text string) string {
			return text[:strings.Index(text, beginFigures)] + text[strings.Index(text, endFigures):]
		}
		if outside(made) != outside(document) || !strings.Contains(made, "the machine") {
			t.Errorf("%s: made\n%s", s.name, made)
		}
	}
	if _, err := replaceFigures(beginFigures, "limits", "", "", nil); err == nil {
		t.Error("a table without an end was replaced")
	}
}

func TestMeasurementOfATally(t *testing.T) {
	var sum tally
	now := time.Now()
	for i := range 1000 {
		sum.done(now.Add(-time.Duration(i+1)*time.Millisecond), now, now.Add(-time.Hour), now.Add(time.Hour))
	}
	sum.done(now.Add(-time.Second), now, now, now.Add(time.Hour)) // began too early
	m := sum.measurement(2*time.Second, 3*time.Second)
	if m.Rate != 500 || m.P50 != 501*time.Millisecond || m.P99 != 991*time.Millisecond || m.ServerCPU != 3*time.Millisecond || m.Errors != 0 {
		t.Errorf("%+v", m)
	}
	if m := (&tally{}).measurement(time.Second, 0); m.Errors == 0 {
		t.Error("nothing in time is no error")
	}
	for want, values := range map[float64][]float64{0: nil, 3: {3}, 2: {9, 1, 2}, 2.5: {1, 9, 2, 3}} {
		if got := medianOf(values); got != want {
			t.Errorf("median of %v is %v, want %v", values, got, want)
		}
	}
}

func TestBasketsHoldTwoProductsOfOneStore(t *testing.T) {
	shops, rng := shopsOf(size{Stores: 3, Products: 30}), newRand()
	for range 1000 {
		of := draw(shops, false, rng)
		if of.a == of.b || of.a.Index%3 != of.b.Index%3 || of.shop.ID != shops[of.a.Index%3].ID {
			t.Fatalf("basket %+v", of)
		}
	}
}

func TestAPageMustShowWhatWasSoldBefore(t *testing.T) {
	page := func(left ...int) []byte {
		var b strings.Builder
		for i, n := range left {
			fmt.Fprintf(&b, `{"id":"prd_%d","store_id":"store-1","available_quantity":%d,"images":[]},`, i, n)
		}
		return []byte(`{"ok":true,"products":[` + strings.TrimSuffix(b.String(), ",") + `]}`)
	}
	for _, c := range []struct {
		body  []byte
		wrong string
	}{
		{page(49, 48), ""},
		{page(49, 40), ""}, // more was sold meanwhile
		{page(49, 49), "stale page"},
		{page(49), "1 products"},
		{page(49, 48, 1), "prd_2"},
		{bytes.Replace(page(49, 48), []byte(":48"), []byte(`:"48"`), 1), "with quantity"},
	} {
		err := checkPage(c.body, map[string]int64{"prd_0": 49, "prd_1": 48})
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", c.body, err, c.wrong)
		}
	}
}

func TestPgbenchIsCountedAfterItsFirstSecond(t *testing.T) {
	const lines = `pgbench (15.18)
progress: 1.0 s, 100.0 tps, lat 600.000 ms stddev 1.000, 0 failed
progress: 2.0 s, 2000.0 tps, lat 30.000 ms stddev 1.000, 0 failed
progress: 3.0 s, 4000.5 tps, lat 10.000 ms stddev 1.000, 0 failed
`
	if m, err := countProgress(lines); err != nil || m.Rate != 3000.25 || m.P50 != 20*time.Millisecond {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := countProgress(lines[:100]); err == nil {
		t.Error("pgbench that ended early was counted")
	}
}

func TestTheSinkNoticesWhatIsWrong(t *testing.T) {
	s := openSink()
	defer func() { _ = s.server.Shutdown() }()
	now := time.Now()
	body := fmt.Sprintf(`{"id":"evt_1","event":"order.accepted","order_id":"ord_1","timestamp":%q,"data":{}}`, now.Add(-time.Minute).UTC().Format(time.RFC3339Nano))
	sign := func(id, body string) http.Header {
		mac := hmac.New(sha256.New, []byte(webhookSecret))
		mac.Write([]byte(body))
		return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {fmt.Sprint(now.Unix())}, "X-Partner-Signature": {hex.EncodeToString(mac.Sum(nil))},
			"Webhook-Signature": {must(s.receiver.Sign(id, now, []byte(body)))}}
	}
	without := func(name string) http.Header {
		h := sign("evt_1", body)
		h.Del(name)
		return h
	}
	for _, c := range []struct {
		name   string
		header http.Header
		body   string
		wrong  string
	}{
		{"right", sign("evt_1", body), body, ""},
		{"another body", sign("evt_1", body), strings.Replace(body, "{}", "{} ", 1), "x-partner-signature"},
		{"unsigned", without("X-Partner-Signature"), body, "x-partner-signature"},
		{"not signed by the standard", without("Webhook-Signature"), body, "headers"},
		{"another event", sign("evt_2", body), body, `came as "evt_2"`},
		{"no time", sign("evt_1", `{"id":"evt_1"}`), `{"id":"evt_1"}`, "parsing time"},
	} {
		s.begin(now.Add(-time.Hour), now.Add(time.Hour))
		s.mu.Lock()
		s.count = checked - 1 // the next one is verified
		s.mu.Unlock()
		request := must(http.NewRequest(http.MethodPost, s.url, strings.NewReader(c.body)))
		request.Header = c.header
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		in := s.taken()
		m := in.blame(measurement{})
		if in.total != 1 || (m.Errors != 0) != (c.wrong != "") || !strings.Contains(strings.ToLower(m.FirstError), c.wrong) {
			t.Errorf("%s: %d came in, %d errors: %q, want %q", c.name, in.total, m.Errors, m.FirstError, c.wrong)
		}
		if arrived := s.missing([]string{"ord_1"}) == 0; arrived != (c.name != "no time") { // it cannot be read
			t.Errorf("%s: arrived %v", c.name, arrived)
		}
		if took := in.times.measurement(time.Second, 0).P50; c.wrong == "" && (took < 58*time.Second || in.during != 1) {
			t.Errorf("%s: took %v, %d counted", c.name, took, in.during)
		}
	}
	if s.missing([]string{"ord_1", "ord_2"}) == 0 {
		t.Error("an order without an arrival is not missing")
	}
}
