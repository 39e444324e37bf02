package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"purveyor/docs"
	"purveyor/internal/config"
	"purveyor/internal/demo"
	testdb "purveyor/internal/testkit/database"

	"github.com/alecthomas/kong"
)

// commandLine runs a command as main does. It returns what it printed, and its error.
func commandLine(t *testing.T, args ...string) (stdout string, failed error) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = before }()
	var c cli
	sources := &config.Sources{}
	parser := kong.Must(&c, kong.Resolvers(sources), kong.Bind(sources), kong.BindTo(t.Context(), (*context.Context)(nil)), kong.Exit(func(int) { panic(errExit) }))
	failed = func() error {
		defer func() {
			if v := recover(); v != nil && v != errExit {
				panic(v)
			}
		}()
		k, err := parser.Parse(args)
		if err != nil {
			return err
		}
		return run(k, c.Log, sources)
	}()
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text), failed
}

var errExit = fmt.Errorf("the program ends")

// ok runs a command that must succeed.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	text, err := commandLine(t, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
	return text
}

// written writes a file of a test.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// odd has texts that are easily lost, and every field.
const odd = `{"$schema": "import.schema.json",
"categories": [{"id": "cat_odd", "name": "Ödd \"things\"", "active": false, "updated_on": 7}],
"stores": [{"id": "sto_odd", "name": "Odd / shop", "slug": "", "address": "1 \u2028 St", "city": "C", "state": "S", "zip_code": "Z", "email": "e@example.com", "phone": "+1",
  "active": false, "open": false, "pickup_enabled": false, "service_delivery_enabled": false, "lat": 0, "lng": -0.125, "service_delivery_radius_miles": 0, "tax_rate_bps": 1,
  "charge_live_quote": true, "time_zone": "America/New_York", "late_minutes": 240, "hold_minutes": 5}],
"products": [
  {"id": "=odd", "name": "'=1+1", "store_id": "sto_odd", "category_id": "cat_odd", "description": "a\r\nb\r\n", "sku": "-1", "featured_image": " https://x/?a=b&c",
   "images": ["=a", "b, c", "https://x/é"], "price": 9999999999, "active": false, "available_quantity": 1000000000},
  {"id": "plain", "name": " plain ", "store_id": "sto_odd", "price": 0}]}`

const unchanged = "categories: 0 new, 0 updated, %d unchanged\nstores: 0 new, 0 updated, %d unchanged\nproducts: 0 new, 0 updated, %d unchanged\n"

// What is exported and imported again changes nothing, and makes the same in an empty database.
func TestExportAndImport(t *testing.T) {
	catalog, err := demo.Catalog("https://shop.example.com")
	if err != nil {
		t.Fatal(err)
	}
	sqlite := "sqlite:" + testdb.SQLite(t)
	for name, url := range map[string]struct{ full, empty string }{
		"SQLite":     {"sqlite:" + testdb.SQLite(t), "sqlite:" + filepath.Join(t.TempDir(), "new.db")},
		"PostgreSQL": {testdb.Postgres(t), testdb.Postgres(t)},
		"both":       {testdb.Postgres(t), sqlite},
	} {
		t.Run(name, func(t *testing.T) {
			ok(t, "import", written(t, "demo.json", string(catalog)), "--database", url.full)
			ok(t, "import", written(t, "odd.json", odd), "--database", url.full)
			first := filepath.Join(t.TempDir(), "first.json")
			var categories, stores, products int
			if _, err := fmt.Sscanf(ok(t, "import", "--dry-run", written(t, "demo.json", string(catalog)), "--database", url.full),
				unchanged, &categories, &stores, &products); err != nil || products == 0 {
				t.Errorf("%d products, %v", products, err)
			}
			if got, want := ok(t, "export", "--out", first, "--database", url.full), fmt.Sprintf("exported %d products to %s\n", products+2, first); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			want := fmt.Sprintf(unchanged, categories+1, stores+1, products+2)
			if got := ok(t, "import", first, "--database", url.full); got != want {
				t.Errorf("the export changes:\n%s", got)
			}
			csv := filepath.Join(t.TempDir(), "products.csv")
			ok(t, "export", "--out", csv, "--database", url.full)
			if got, want := ok(t, "import", csv, "--database", url.full), fmt.Sprintf(unchanged, 0, 0, products+2); got != want {
				t.Errorf("the CSV changes:\n%s", got)
			}

			ok(t, "import", first, "--database", url.empty)
			before, err := os.ReadFile(first)
			if err != nil {
				t.Fatal(err)
			}
			if after := ok(t, "export", "--database", url.empty); after != string(before) {
				t.Errorf("it was\n%s\nand is\n%s", before, after) // lists are in the order of their keys
			}
		})
	}
}

// An export of one store has that store, its products and their categories.
func TestExportStore(t *testing.T) {
	url := "sqlite:" + testdb.SQLite(t)
	ok(t, "import", written(t, "odd.json", odd), "--database", url)
	ok(t, "import", written(t, "more.json", `{"categories": [{"id": "c", "name": "C"}], "stores": [{"id": "s", "name": "S"}],
		"products": [{"id": "p", "name": "P", "store_id": "s", "category_id": "c", "price": 1}]}`), "--database", url)
	text := ok(t, "export", "--store", "s", "--database", url)
	if !strings.Contains(text, `"id":"p"`) || !strings.Contains(text, `"id":"c"`) || strings.Contains(text, "odd") || strings.Contains(text, "plain") {
		t.Error(text)
	}
	if text := ok(t, "export", "--store", "s", "--format", "csv", "--database", url); strings.Count(text, "\n") != 2 || !strings.Contains(text, "\np,s,P,,,c,0.01,yes,0,,\n") {
		t.Errorf("%q", text)
	}
	folder := t.TempDir()
	for _, args := range [][]string{{"--store", "none"}, {"--out", filepath.Join(folder, "none", "x.json")}, {"--format", "csv", "--out", filepath.Join(folder, "x.json")},
		{"--store", "none", "--out", filepath.Join(folder, "x.json")}} {
		if text, err := commandLine(t, append([]string{"export", "--database", url}, args...)...); err == nil || text != "" {
			t.Errorf("%v: %q, %v", args, text, err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("a failed export leaves %v, %v", left, err)
	}
}

// A dry run says what would change, and changes nothing.
func TestDryRun(t *testing.T) {
	url := "sqlite:" + testdb.SQLite(t)
	ok(t, "import", written(t, "odd.json", odd), "--database", url)
	before := ok(t, "export", "--database", url)
	file := written(t, "change.json", `{"categories": [{"id": "c", "name": "C"}], "stores": [{"id": "sto_odd", "name": "Odd / shop", "service_delivery_radius_miles": 2}],
		"products": [{"id": "plain", "name": "Plain", "store_id": "sto_odd", "price": 5, "available_quantity": 7}, {"id": "new", "name": "N", "store_id": "sto_odd", "price": 1}]}`)
	want := `categories: 1 new, 0 updated, 0 unchanged
stores: 0 new, 1 updated, 0 unchanged
products: 1 new, 1 updated, 0 unchanged
categories c: new
stores sto_odd: service_delivery_radius_miles "0" -> "2"
products sto_odd/new: new
products sto_odd/plain: name " plain " -> "Plain", price "0" -> "5", available_quantity "0" -> "7"
nothing was imported
`
	if got := ok(t, "import", "--dry-run", file, "--database", url); got != want {
		t.Errorf("it prints\n%s\nwant\n%s", got, want)
	}
	if after := ok(t, "export", "--database", url); after != before {
		t.Errorf("it changed\n%s\nto\n%s", before, after)
	}
	ok(t, "import", file, "--database", url)
	if got := ok(t, "import", "--dry-run", file, "--database", url); !strings.HasPrefix(got, fmt.Sprintf(unchanged, 1, 1, 2)) {
		t.Error(got)
	}
	missing := filepath.Join(t.TempDir(), "none.db")
	if _, err := commandLine(t, "import", "--dry-run", file, "--database", "sqlite:"+missing); err == nil {
		t.Error("a dry run made a database")
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a dry run made a file")
	}
}

// A CSV file of stock sets quantities and nothing else.
func TestImportStockAsCSV(t *testing.T) {
	url := "sqlite:" + testdb.SQLite(t)
	ok(t, "import", written(t, "odd.json", odd), "--database", url)
	stock := written(t, "stock.csv", "id,quantity\nplain,12\n")
	if got := ok(t, "import", stock, "--store", "sto_odd", "--database", url); !strings.Contains(got, "products: 0 new, 1 updated, 0 unchanged") {
		t.Error(got)
	}
	if got := ok(t, "export", "--database", url); !strings.Contains(got, `"id":"plain","name":" plain ","store_id":"sto_odd","category_id":"","description":"","sku":"","featured_image":"","images":[],"price":0,"active":true,"available_quantity":12}`) {
		t.Error(got)
	}
	for name, text := range map[string]string{"no store": "id,quantity\nplain,12\n", "no id": "name,store_id,price\nX,sto_odd,1\n", "no name": "id,store_id,price\nx,sto_odd,1\n",
		"no price": "id,store_id,name\nx,sto_odd,X\n", "colour": "id,store_id,colour\nplain,sto_odd,red\n"} {
		if _, err := commandLine(t, "import", written(t, "bad.csv", text), "--database", url); err == nil || !strings.HasSuffix(err.Error(), "bad.csv has 1 problem; nothing was imported") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ok(t, "import", "--allow-unknown", written(t, "good.csv", "id,store_id,colour\nplain,sto_odd,red\n"), "--database", url)
	if _, err := commandLine(t, "import", written(t, "a.json", odd), "--store", "sto_odd", "--database", url); err == nil {
		t.Error("--store was ignored")
	}
}

func TestImportSchema(t *testing.T) {
	if text, err := commandLine(t, "import", "--schema"); err != nil || text != string(docs.ImportSchema) {
		t.Errorf("%v: %s", err, text)
	}
}
