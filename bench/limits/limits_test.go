package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purveyor/bench/internal/load"
	"purveyor/bench/internal/load/smoke"
)

// TestMain lets the baseline of the reads be a process of its own.
func TestMain(m *testing.M) { smoke.Main(m, hidden) }

func TestQuickRunComparesEveryContender(t *testing.T) {
	dir := smoke.Dir(t)
	run := options{Options: load.Options{Quick: true, Only: "product,changing,hot", Dir: dir}, orders: 100}
	text := smoke.Report(t, run.measure)
	for _, title := range []string{"one product", "page of 100 products, stock changes", "reports, two hot products"} {
		for _, c := range []string{"SQLite", "SQLite full", "PostgreSQL", "PostgreSQL full"} {
			if !strings.Contains(text, "| "+title+", "+c+" ") {
				t.Errorf("no line for %s, %s", title, c)
			}
		}
	}
	for _, want := range []string{"bare net/http", "pgbench reading one product", "pgbench with the same transaction", ", 0 were older than"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, kept := range []string{"limits-SQLite-100/purveyor.db", "limits-SQLite-100/dataset.json", "limits-PostgreSQL-100/dump", "limits-PostgreSQL-100/dataset.json"} {
		if _, err := os.Stat(filepath.Join(dir, kept)); err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestAPageMustShowWhatWasSoldBefore(t *testing.T) {
	shops := load.ShopsOf(load.Size{Stores: 2, Products: 2 * goods})
	c := &contender{Service: &load.Service{Data: &load.Dataset{Shops: shops}}, book: load.NewBook(2 * goods)}
	for _, s := range shops {
		c.goods = append(c.goods, s.Goods...)
	}
	for range c.goods {
		c.start = append(c.start, 50)
	}
	page := func(left func(i int) int) []byte {
		var b strings.Builder
		b.WriteString(`{"ok":true,"products":[`)
		for i, g := range shops[0].Goods {
			fmt.Fprintf(&b, `{"id":%q,"store_id":%q,"available_quantity":%d,"images":[]},`, g.ID, shops[0].ID, left(i))
		}
		return []byte(strings.TrimSuffix(b.String(), ",") + `]}`)
	}
	reporter := load.Reporters(shops[:1], "key", true, false, c.book)[0]
	reporter.Next()
	if err := reporter.Answered(201, []byte(`{"order_id":"ord_1"}`)); err != nil { // takes 1 and 2 of the first two
		t.Fatal(err)
	}
	for _, of := range []struct {
		name  string
		body  []byte
		wrong string
	}{
		{"as sold", page(func(i int) int { return []int{49, 48, 50}[min(i, 2)] }), ""},
		{"more was sold meanwhile", page(func(i int) int { return []int{49, 46, 47}[min(i, 2)] }), ""},
		{"the second is old", page(func(i int) int { return []int{49, 49, 50}[min(i, 2)] }), "stale page"},
		{"all is old", page(func(int) int { return 50 }), "stale page"},
		{"one is missing", []byte(strings.Replace(string(page(func(int) int { return 0 })), `"id"`, `"no"`, 1)), "99 products"},
		{"another quantity", []byte(strings.Replace(string(page(func(int) int { return 0 })), `:0,`, `:"0",`, 1)), "with quantity"},
	} {
		w := &watch{}
		reader := w.watchers(c, [][]byte{nil}, 1)[0].(*watcher)
		for !reader.looks {
			reader.Next()
		}
		err := reader.Answered(200, of.body)
		if (err == nil) != (of.wrong == "") || err != nil && !strings.Contains(err.Error(), of.wrong) {
			t.Errorf("%s: %v, want %q", of.name, err, of.wrong)
		}
		if w.pages.Load() != 1 || (w.stale.Load() == 1) != (err != nil) {
			t.Errorf("%s: %d of %d pages were counted", of.name, w.stale.Load(), w.pages.Load())
		}
	}
}

func TestPgbenchIsCountedFromItsLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.1")
	var lines strings.Builder
	for i := range 1000 { // one ends every 10 ms, and took 30
		fmt.Fprintf(&lines, "3 %d 30000 0 %d %d\n", i, 1_760_000_000+i/100, i%100*10_000)
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := readLog(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	m := measurementOf(done, load.Pace{Warm: time.Second, Measured: 4 * time.Second})
	if m.Rate < 98 || m.Rate > 100 || m.Errors != 0 {
		t.Errorf("%v/s with %d errors, want 100/s less those that began before", m.Rate, m.Errors)
	}
	if m.P50 < 29*time.Millisecond || m.P50 > 31*time.Millisecond {
		t.Errorf("p50 %v, want 30 ms", m.P50)
	}
	if m := measurementOf(done[:10], load.Pace{Warm: time.Second, Measured: time.Second}); m.Errors == 0 {
		t.Error("nothing in time is no error")
	}
	if err := os.WriteFile(path, []byte("3 1 failed 0 1 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readLog(nil, path); err == nil {
		t.Error("a failed transaction was counted")
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, o := range []options{{Options: load.Options{Only: "product,order"}}, {orders: 1000},
		{Options: load.Options{Write: true, Quick: true}}, {Options: load.Options{Write: true, Only: "hot"}}} {
		if _, err := o.measure(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
