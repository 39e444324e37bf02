package main

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/storage/schema"
)

// The rows of a history are those that a service writes when the same orders are
// reported, and everything that reads them works.
func TestAHistoryIsWhatReportsWouldHaveLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what runs the service")
	}
	t.Parallel()
	o := options{quick: true, dir: openFolder(t)}
	b := &bench{options: o, sizes: o.sizes(), ctx: t.Context()}
	if err := doAll(b, func() { compareHistories(t, b) }); err != nil {
		t.Fatal(err)
	}
}

// doAll returns with what f failed, if it did.
func doAll(b *bench, f func()) (err error) {
	defer func() {
		if closed := b.close(); err == nil {
			err = closed
		}
	}()
	defer catch(&err)
	b.open()
	f()
	return nil
}

func compareHistories(t *testing.T, b *bench) {
	for _, engine := range engines {
		made, few := b.full(60), b.limits
		few.Orders = made.Orders
		d := b.fill(b.create(engine, "history"), b.program, made)
		real := b.fill(b.create(engine, "reported"), b.program, few)
		for _, table := range []string{"categories", "stores", "product_stores", "products", "stock", "stock_moves", "stock_notes",
			"orders", "external_ids", "timeline", "webhook_events", "replies", "stored_replies", "payments", "deliveries", "jobs"} {
			got, want := formsOf(d, table), formsOf(real, table)
			if !maps.Equal(got, want) {
				t.Errorf("%s: rows of %s look like\n%s\nwant\n%s", engine, table, lines(got), lines(want))
			}
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM orders": 60, "SELECT count(*) FROM timeline": 120, "SELECT count(*) FROM replies": 6,
			"SELECT count(*) FROM stock_moves":                                  120 + made.Products,
			"SELECT sum(bytes) FROM stored_replies":                             d.number("SELECT sum(length(body) + 256) FROM replies"),
			"SELECT value FROM meta WHERE name = 'next_store_no'":               made.Stores + 1,
			"SELECT count(DISTINCT store_id) FROM orders":                       made.Stores,
			"SELECT (max(created_on) - min(created_on)) / 86400000 FROM orders": 27,
		} {
			if got := d.number(query); got != want {
				t.Errorf("%s: %s: %d, want %d", engine, query, got, want)
			}
		}
		if out := b.output(b.program, "stock", "check", "--all", "--database", d.url); !bytes.Contains(out, []byte("every chain is whole")) {
			t.Errorf("%s: stock check printed %s", engine, out)
		}
		readHistory(t, &contender{bench: b, name: engine, engine: engine, program: b.program, data: d})
	}
}

// readHistory reads every order and its timeline over the API, and then sells more.
func readHistory(t *testing.T, c *contender) {
	defer func() { check(c.stop()) }()
	p := c.serve()
	var orders, timelines []string
	for n := range c.data.Size.Orders {
		orders = append(orders, orderPath(c.data.order(n)))
		timelines = append(timelines, orders[n]+"/timeline")
	}
	each(p.addr, c.key(), orders, hasStatus("processed"))
	each(p.addr, c.key(), timelines, func(i int, body []byte) error {
		if n := bytes.Count(body, []byte(`"event":`)); n != 2 {
			return fmt.Errorf("%s has %d events: %s", timelines[i], n, body)
		}
		return nil
	})
	sample := allGoods(c.data.shops)
	before, noted := stockOf(p.addr, c.key(), sample), c.newBook()
	finish(p.addr, limited(reports(c.data.shops, c.key(), false, noted).fully(), 20))
	t.Log(noted.verify(p.addr, c.key(), sample, before))
}

var (
	pageForm   = regexp.MustCompile(`/track/[0-9a-z_]+`)
	idForm     = regexp.MustCompile(`\b([a-z]{3})_[0-9a-z_]{20,}`)
	hexForm    = regexp.MustCompile(`[0-9a-f]{32}`)
	numberForm = regexp.MustCompile(`[0-9]+`)
	actorForm  = regexp.MustCompile(`operator:\w*`)
)

// formsOf is what rows of a table look like if ids, texts of chance and numbers are
// taken for one another.
func formsOf(d *dataset, table string) map[string]bool {
	db, forms := d.open(), map[string]bool{}
	defer func() { _ = db.Close() }()
	rows := must(db.Query("SELECT * FROM " + table))
	defer func() { _ = rows.Close() }()
	columns := must(rows.Columns())
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		check(rows.Scan(into...))
		form := make([]string, len(columns))
		for i, v := range values {
			form[i] = fmt.Sprintf("%s=%s", columns[i], formOf(v))
		}
		slices.Sort(form)
		forms[strings.Join(form, " ")] = true
	}
	check(rows.Err())
	return forms
}

func formOf(v any) string {
	if body, ok := v.([]byte); ok && !bytes.HasPrefix(body, []byte(`{"ok"`)) {
		return fmt.Sprintf("%d bytes", len(body)) // a digest
	} else if ok {
		v = string(body)
	}
	text, ok := v.(string)
	if !ok {
		return fmt.Sprintf("%T %v", v, v != int64(0) && v != false)
	}
	for _, form := range []struct {
		of *regexp.Regexp
		by string
	}{{pageForm, "/track/PAGE"}, {idForm, "${1}_ID"}, {hexForm, "HEX"}, {actorForm, "OPERATOR"}, {numberForm, "N"}} {
		text = form.of.ReplaceAllString(text, form.by)
	}
	return text
}

func lines(forms map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(forms)), "\n") }

func TestAsManyOrdersAsFitAreTaken(t *testing.T) {
	const gb = 1_000_000_000
	for _, c := range []struct{ orders, free, want int }{
		{10_000_000, 60 * gb, 10_000_000},
		{10_000_000, 43 * gb, 10_000_000},
		{10_000_000, 26_500_000_000, 5_000_000},
		{1000, 26_500_000_000, 1000},
		{10_000_000, 10 * gb, 0},
		{10_000_000, gb, 0},
	} {
		if got := fitting(c.orders, c.free); got != c.want {
			t.Errorf("of %d orders, %d fit into %d bytes, want %d", c.orders, got, c.free, c.want)
		}
	}
}

// A row that the database refuses ends the fill with its error, on both engines.
func TestAFillThatFailsSaysWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves PostgreSQL out")
	}
	t.Parallel()
	b := &bench{options: options{quick: true, dir: openFolder(t)}, ctx: t.Context()}
	b.work = b.dir
	defer func() { _ = b.close() }()
	for _, engine := range engines {
		d := &dataset{url: b.create(engine, "refusing")}
		d.exec("CREATE TABLE sandbox_objects (id TEXT PRIMARY KEY, version BIGINT NOT NULL, data TEXT NOT NULL CHECK (data <> 'bad'), updated_on BIGINT NOT NULL)")
		err := func() (err error) {
			defer catch(&err)
			db := d.openBulk()
			defer func() { _ = db.Close() }()
			l := newLoader(b.ctx, d, db)
			for i := range 100 * loadedRows {
				l.add(&schema.SandboxObjects, func(b schema.Binder) { b.Text(fmt.Sprint(i)).Int(1).JSON([]byte("bad")).Int(2) })
			}
			l.close()
			return nil
		}()
		if err == nil || !strings.Contains(err.Error(), "sandbox_objects") || !strings.Contains(strings.ToLower(err.Error()), "check") {
			t.Errorf("%s: %v", engine, err)
		}
	}
}
