package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImportWhileServing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, c := s.serve()
	c.product("p1") // so that its encoded form is cached
	file := s.file("new.json", map[string]any{
		"categories": []map[string]any{{"id": "c2", "name": "Other things"}},
		"stores":     []map[string]any{{"id": "s3", "name": "Third", "city": "Oakland"}},
		"products": []map[string]any{
			{"id": "p1", "name": "Renamed", "store_id": "s1", "price": 999},
			{"id": "n1", "name": "New", "store_id": "s3", "category_id": "c2", "price": 50, "available_quantity": 7},
		}})
	counts := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("want %q in:\n%s", w, text)
			}
		}
	}
	counts(s.operate("import", file).ok(t), "categories: 1 new, 0 updated, 0 unchanged", "stores: 1 new, 0 updated", "products: 1 new, 1 updated")
	check := func() {
		t.Helper()
		if got := c.product("p1"); got.Name != "Renamed" || got.Price != 999 || got.Quantity != shopStock {
			t.Errorf("p1 is %+v; its stock was not in the file and stays", got)
		}
		if got := c.product("n1"); got.Quantity != 7 || got.StoreID != "s3" {
			t.Errorf("n1 is %+v", got)
		}
		if got := storeIDs(c); got != "s1 s2 s3" {
			t.Errorf("stores are %s", got)
		}
	}
	check()
	counts(s.operate("import", file).ok(t), "categories: 0 new, 0 updated, 1 unchanged", "stores: 0 new, 0 updated, 1 unchanged", "products: 0 new, 0 updated, 2 unchanged")
	check()

	// The new store can sell at once.
	r := post("/v1/orders/report", "k", map[string]any{"external_order_id": "k", "store_id": "s3",
		"items": []map[string]any{{"product_id": "n1", "quantity": 7, "price": 50}}})
	c.must(201, r)
	if got := c.product("n1").Quantity; got != 0 {
		t.Errorf("stock of n1 is %d after 7 of 7 were sold", got)
	}
}

// Problems that the file alone shows: all of them are reported at once, with their
// lines.
const problemsOfFile = `{
  "stores": [
    {"id": "s9", "name": "Fine"},
    {"id": "s10", "name": " "}
  ],
  "products": [
    {"id": "p1", "name": "Renamed", "store_id": "s1", "price": 1},
    {"id": "n1",
     "name": "Half a cent", "store_id": "s1", "price": 1.5},
    {"id": "n2", "name": "Negative", "store_id": "s1", "price": 1, "available_quantity": -1},
    {"id": "p1", "name": "Twice", "store_id": "s1", "price": 1},
    {"id": "n3", "name": "No store", "price": 1}
  ]
}`

// Problems that only the database shows.
const problemsOfDatabase = `{
  "stores": [{"id": "s9", "name": "Fine"}],
  "products": [
    {"id": "p1", "name": "Renamed", "store_id": "s1", "price": 1},
    {"id": "n1", "name": "Nowhere", "store_id": "s99", "price": 1},
    {"id": "q1", "name": "Moved", "store_id": "s1", "price": 1},

    {"id": "n2", "name": "No price", "store_id": "s9"},
    {"id": "n3", "name": "No category", "store_id": "s9", "price": 1, "category_id": "c99"}
  ]
}`

func TestImportRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, c := s.serve()
	cases := []struct {
		name, content string
		problems      []string // line, path, and a word of the reason
	}{
		{"problems of the file", problemsOfFile, []string{"4: stores[1].name: missing", "9: products[1].price: must be cents: 150",
			"10: products[2].available_quantity: from 0", "11: products[3].id: products[0]", "12: products[4].store_id: missing"}},
		{"problems of the database", problemsOfDatabase, []string{"5: products[1].store_id: s99", "6: products[2].store_id: s2",
			"8: products[3].price: missing", "9: products[4].category_id: c99"}},
		{"cut off", problemsOfDatabase[:200], []string{"6: products: too early"}},
		{"not JSON", "stores:\n  - s1\n", []string{"1: file: JSON"}},
		{"empty", "", []string{"1: file: too early"}},
		{"no object", "[]", []string{"1: file: object"}},
		{"unknown part", "{\n\"shops\": []}", []string{"2: shops: not known"}},
		{"unknown field", "{\"products\": [\n{\"id\": \"p1\", \"name\": \"x\", \"store_id\": \"s1\", \"avaliable_quantity\": 5}]}", []string{"2: products[0].avaliable_quantity: did you mean available_quantity?"}},
		{"no list", "{\"$schema\": \"x\"}", []string{"1: file: none of the lists"}},
		{"something behind", "{}\n{}", []string{"2: file: JSON"}},
	}
	before := catalogOf(s, c)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			file := s.file("bad.json", tc.content)
			r := s.operate("import", file)
			r.refused(t, 1, "nothing was imported")
			lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
			if len(lines) != len(tc.problems)+1 {
				t.Fatalf("%d problems, want %d:\n%s", len(lines)-1, len(tc.problems), r.stderr)
			}
			for i, want := range tc.problems {
				where, reason := want[:strings.LastIndex(want, ": ")+2], want[strings.LastIndex(want, ": ")+2:]
				if !strings.HasPrefix(lines[i], file+":"+where) || !strings.Contains(lines[i], reason) {
					t.Errorf("problem %d is %q, want %s:%s ... %s", i, lines[i], file, where, reason)
				}
			}
			if after := catalogOf(s, c); after != before {
				t.Errorf("the catalog was changed from\n%s\nto\n%s", before, after)
			}
		})
	}
	s.operate("import", filepath.Join(s.dir, "none.json")).refused(t, 1, "none.json")
	s.operate("import", s.dir).refused(t, 1, s.dir)
}

// catalogOf returns everything that an import can change: as partners see it, and as
// it is stored.
func catalogOf(s *shop, c *client) string {
	s.t.Helper()
	var b strings.Builder
	for _, path := range []string{"/v1/stores", "/v1/categories", "/v1/products?active=all"} {
		fmt.Fprintf(&b, "%s\n", c.must(200, get(path)).body)
	}
	for _, table := range []string{"stores", "categories", "products", "product_stores", "stock"} {
		fmt.Fprintln(&b, table, s.rows("SELECT * FROM "+table))
	}
	return b.String()
}

// A list of too many problems is cut, and says so.
func TestImportManyProblems(t *testing.T) {
	t.Parallel()
	products := make([]map[string]any, 150)
	for i := range products {
		products[i] = map[string]any{"id": fmt.Sprint("n", i), "name": "X", "store_id": "nowhere", "price": -1}
	}
	database := filepath.Join(t.TempDir(), "shop.db")
	file := (&shop{t: t}).file("many.json", map[string]any{"products": products})
	r := operate(t, "import", file, "--database", "sqlite:"+database)
	r.refused(t, 1, "150 problems", "... and 50 more", "nothing was imported")
	if _, err := os.Stat(database); err == nil {
		t.Log("the refused import made a database")
	}
}
