package importfile

import (
	"bytes"
	"errors"
	"testing"

	"purveyor/internal/commerce"
)

// What is written is read without a problem, with all values.
func TestWriter(t *testing.T) {
	_, s := schema(t)
	lat, lng, radius := 40.5, -74.25, 2.5
	var b bytes.Buffer
	w := NewWriter(&b)
	store := commerce.Store{ID: "s\"é", Name: "S", Slug: "s", TimeZone: "UTC", LateMinutes: 15, HoldMinutes: 5, Lat: &lat, Lng: &lng, RadiusMiles: &radius, TaxRateBps: 825, Open: true}
	item := commerce.Item{Product: commerce.Product{ID: "p", StoreID: "s\"é", Description: "two\nlines\u2028", Images: []string{"a"}},
		Stock: commerce.Stock{Name: "P", PriceCents: 650, Quantity: 3, CategoryID: "c"}}
	_, _, _ = w.Store(store), w.Product(item), w.Product(commerce.Item{Product: commerce.Product{ID: "q", StoreID: "x"}, Stock: commerce.Stock{Name: "Q"}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := Parse(b.Bytes())
	if err := valid(t, s, b.String()); err != nil || len(file.Problems) > 0 || len(file.Catalog.Stores) != 1 || len(file.Catalog.Products) != 2 {
		t.Fatalf("%v, %v:\n%s", err, file.Problems, &b)
	}
	if v := file.Catalog.Stores[0]; v.ID != store.ID || *v.Lat != lat || *v.RadiusMiles != radius || *v.TaxRateBps != 825 || *v.Active || !*v.Open || *v.HoldMinutes != 5 || *v.City != "" {
		t.Errorf("%+v", v)
	}
	p, q := file.Catalog.Products[0], file.Catalog.Products[1]
	if *p.Description != item.Description || *p.PriceCents != 650 || *p.Quantity != 3 || *p.CategoryID != "c" || (*p.Images)[0] != "a" || *p.Active {
		t.Errorf("%+v", p)
	}
	if *q.CategoryID != "" || *q.Images == nil || len(*q.Images) != 0 {
		t.Errorf("%+v", q)
	}

	b.Reset()
	if err := NewWriter(&b).Close(); err != nil || len(Parse(b.Bytes()).Problems) > 0 {
		t.Errorf("an empty file: %v, %s", err, &b)
	}
	full := NewWriter(fullDisk{})
	_ = full.Store(store)
	if err := full.Close(); !errors.Is(err, errFull) {
		t.Errorf("no space: %v", err)
	}
}

var errFull = errors.New("no space")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
