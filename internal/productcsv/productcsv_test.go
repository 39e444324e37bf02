package productcsv

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"

	"pgregory.net/rapid"
)

// problems of a file, as text.
func problems(f []Problem) (list []string) {
	for _, p := range f {
		list = append(list, p.String())
	}
	return list
}

func TestDecode(t *testing.T) {
	file := Decode([]byte("\ufeffID,Store_ID,name,price,active,quantity,category_id,images,description\r\n"+
		"prd_1,sto_1,\"Rye, \"\"dark\"\"\",12.5,yes,3,cat_1,\"https://a\nhttps://b\",\"two\r\nlines\"\r\n"+
		"\r\n,,,,,,,,\r\n"+
		",,'=1+1,$0.05,NO,,,,\n"), "sto_9")
	if len(file.Problems) > 0 || len(file.Rows) != 2 {
		t.Fatalf("%+v", file)
	}
	a, b := file.Rows[0], file.Rows[1]
	if a.Line != 2 || a.ID != "prd_1" || a.StoreID != "sto_1" || a.Name != `Rye, "dark"` || *a.PriceCents != 1250 || !*a.Active || *a.Quantity != 3 ||
		*a.CategoryID != "cat_1" || !slices.Equal(*a.Images, []string{"https://a", "https://b"}) || *a.Description != "two\nlines" || a.SKU != nil {
		t.Errorf("%+v", a)
	}
	if b.Line != 7 || b.ID != "" || b.StoreID != "sto_9" || b.Name != "=1+1" || *b.PriceCents != 5 || *b.Active || b.Quantity != nil || *b.CategoryID != "" {
		t.Errorf("%+v", b)
	}
	semicolons := Decode([]byte("id;name;price;;\nprd_1;a,b;12,50;;\n"), "s")
	if len(semicolons.Problems) > 0 || semicolons.Rows[0].Name != "a,b" || *semicolons.Rows[0].PriceCents != 1250 {
		t.Errorf("%+v", semicolons)
	}
}

// TestProblems: each error has its line and its column, and all are listed.
func TestProblems(t *testing.T) {
	const head = "id,name,price,quantity,active\n"
	long := strings.Repeat("x", 501)
	for text, want := range map[string][]string{
		"":                         {"line 1: the file is empty; its first line has to name the columns: " + strings.Join(Columns, ", ")},
		"id,colour,id\n":           {"line 1, colour: is not a column; the columns are " + strings.Join(Columns, ", "), "line 1, id: is named twice"},
		"sku\nx\n":                 {"line 1: neither id nor name is a column"},
		"id,na\xffme\n":            {`line 1: the text is not UTF-8; save the file as "CSV UTF-8"`},
		head + "a,b,1,2,yes\n\xe4": {`line 3: the text is not UTF-8; save the file as "CSV UTF-8"`},
		"id,\"name\n":              {"line 1: the quotes of this line do not match"},
		head + "a,b\n":             {"line 2: the line has 2 cells, and the first line names 5 columns"},
		head + "a,b,c,d,e,f\n":     {"line 2: the line has 6 cells, and the first line names 5 columns"},
		head + "a,\"b\" c,1,2,yes\nb,c,1,2,maybe\n": {"line 2: the quotes of this line do not match", "line 3, active: must be yes or no"},
		head + "a,,x,1.5,\nb,x,-1,-1,\n": {"line 2, name: is missing", "line 2, price: must be an amount like 12.50, from 0 to 99999999.99",
			"line 2, quantity: must be a whole number from 0 to 1000000000", "line 3, price: must be an amount like 12.50, from 0 to 99999999.99",
			"line 3, quantity: must be a whole number from 0 to 1000000000"},
		head + "\"a\n\nb\",\"multi\nline\",1,2,yes\nb," + long + ",1.005,2,yes\nb,c,1,2,yes\n": {"line 2, id: holds control characters",
			"line 6, name: is longer than 500 characters", "line 6, price: must be an amount like 12.50, from 0 to 99999999.99", "line 7, id: is the id of line 6, too"},
		head + "a,\x00,1,2,yes\n": {"line 2, name: holds a NUL character"},
		head + "a,b,1e9,2,yes\n":  {"line 2, price: must be an amount like 12.50, from 0 to 99999999.99"},
	} {
		file := Decode([]byte(text), "s")
		if got := problems(file.Problems); !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
	if file := Decode([]byte("id,name\na,b\n"), ""); len(file.Problems) != 1 || file.Problems[0].String() != "line 2, store_id: is missing" {
		t.Errorf("without a store: %v", file.Problems)
	}
	if file := Decode(make([]byte, MaxBytes+1), "s"); len(file.Problems) != 1 || !strings.Contains(file.Problems[0].Reason, "larger than 10 MiB") {
		t.Errorf("too large: %v", file.Problems)
	}
	if file := Decode([]byte(head+strings.Repeat("a,b,c,2,yes\n", 3000)), "s"); len(file.Problems) != maxProblems || !file.More {
		t.Errorf("%d problems are listed, more: %v", len(file.Problems), file.More)
	}
}

// A file of an operator may be of any length, its products need ids, and a column that is not
// known is refused with a suggestion, or ignored.
func TestOptions(t *testing.T) {
	const text = "id,store_id,quantitty\np,s,7\n,s,8\n"
	if got, want := problems(Options{NeedIDs: true}.Decode([]byte(text)).Problems), []string{"line 1, quantitty: is not a column; did you mean quantity?"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	file := Options{NeedIDs: true, AllowUnknown: true}.Decode([]byte(text))
	if got, want := problems(file.Problems), []string{"line 3, id: is missing; give a new product an id of your own"}; !slices.Equal(got, want) || len(file.Rows) != 1 || file.Rows[0].Quantity != nil {
		t.Errorf("%q, want %q; %+v", got, want, file.Rows)
	}
	long := "id,quantity\n" + strings.Repeat("\n", MaxBytes) + "p,7\n"
	if file := (Options{StoreID: "s"}).Decode([]byte(long)); len(file.Problems) > 0 || len(file.Rows) != 1 || *file.Catalog().Products[0].Quantity != 7 || !file.Catalog().Cells {
		t.Errorf("%+v", file.Problems)
	}
}

// aProduct draws a product as the API takes it.
func aProduct(t *rapid.T, i int) commerce.Item {
	text := rapid.OneOf(rapid.StringMatching(`['=+@\-\t\n\r ";,a<]{0,6}`), rapid.StringN(0, 20, -1).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }))
	id := fmt.Sprintf("%sprd_%d", rapid.SampledFrom([]string{"", "=", "'", "'=", "-", "@a,"}).Draw(t, "prefix"), i)
	name := text.Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "name")
	p := commerce.Item{Product: commerce.Product{StoreID: "sto_1", ID: id, Description: text.Draw(t, "description"), SKU: text.Draw(t, "sku"), FeaturedImage: text.Draw(t, "picture"),
		Images: rapid.SliceOfN(rapid.StringMatching(`['=a]{0,3}/[a-z;,]{0,3}`), 0, 3).Draw(t, "images")}}
	p.Stock = commerce.Stock{StoreID: "sto_1", ProductID: id, Name: name, CategoryID: rapid.SampledFrom([]string{"", "cat_1", "=cat"}).Draw(t, "category"), Active: rapid.Bool().Draw(t, "active"),
		PriceCents: commerce.Cents(rapid.Int64Range(0, int64(commerce.MaxCents)).Draw(t, "price")), Quantity: rapid.Int64Range(0, commerce.MaxStock).Draw(t, "quantity")}
	return p
}

func currentOf(items ...commerce.Item) Current {
	c := Current{Products: map[string]commerce.Item{}, Stores: map[string]bool{"sto_1": true}, Categories: map[string]commerce.Category{"cat_1": {ID: "cat_1"}, "=cat": {ID: "=cat"}}}
	for _, item := range items {
		c.Products[item.ID] = item
	}
	return c
}

// TestRoundTrip: a file that was written and is read again changes nothing, and no cell of
// it begins a formula. In an empty shop it makes the same products.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []commerce.Item
		data := Header()
		for i := range rapid.IntRange(1, 4).Draw(t, "products") {
			items = append(items, aProduct(t, i))
			data = AppendProduct(data, items[i])
		}
		file := Decode(data, "")
		if len(file.Problems) > 0 || len(file.Rows) != len(items) {
			t.Fatalf("%q: %v", data, file.Problems)
		}
		if p := Compare(file, currentOf(items...), true); len(p.Changes) > 0 || len(p.Problems) > 0 || p.Unchanged != len(items) {
			t.Fatalf("%q would change %+v %v", data, p.Changes, p.Problems)
		}
		p := Compare(file, currentOf(), true)
		if p.New != len(items) || len(p.Problems) > 0 {
			t.Fatalf("%q: %+v", data, p)
		}
		for i, made := range p.Catalog().Products {
			want := items[i]
			if made.ID != want.ID || made.StoreID != want.StoreID || !command.SameCell(made.Name, want.Stock.Name) || *made.PriceCents != want.Stock.PriceCents || *made.Active != want.Stock.Active || *made.Quantity != want.Stock.Quantity {
				t.Fatalf("%+v is made of %+v", made, want)
			}
		}
	})
}

func TestFormulas(t *testing.T) {
	for _, text := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "'=1", "''", "''x", "'", "'x", "x", "", "1-1"} {
		cell := guard(text)
		if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
			t.Errorf("%q is written as %q", text, cell)
		}
		if got := unguard(cell); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}

func TestCompare(t *testing.T) {
	was := commerce.Item{Product: commerce.Product{StoreID: "sto_1", ID: "prd_1", SKU: "s"},
		Stock: commerce.Stock{StoreID: "sto_1", ProductID: "prd_1", Name: "Rye", CategoryID: "cat_1", PriceCents: 100, Active: true, Quantity: 5}}
	foreign := commerce.Item{Product: commerce.Product{StoreID: "sto_2", ID: "prd_2"}, Stock: commerce.Stock{StoreID: "sto_2", ProductID: "prd_2"}}
	const head = "id,store_id,name,price,quantity,category_id\n"
	for _, c := range []struct {
		name, rows string
		quantities bool
		fields     string
		problems   []string
	}{
		{"as it is", "prd_1,,Rye,1.00,5,cat_1", true, "[]", nil},
		{"price and quantity", "prd_1,,Rye,2,7,cat_1", true, "[[{price 1.00 2.00} {quantity 5 7}]]", nil},
		{"price alone", "prd_1,,Rye,2,7,cat_1", false, "[[{price 1.00 2.00}]]", nil},
		{"without the category", "prd_1,,Rye,,,", true, "[[{category_id cat_1 }]]", nil},
		{"new", "prd_3,,Oat,0,7,", false, "[[{name  Oat} {price  0.00} {quantity  7}]]", nil},
		{"new without a price", "prd_3,,Oat,,7,", false, "[]", []string{"line 2, price: is missing: the product is new"}},
		{"a foreign store", "prd_3,sto_2,Oat,1,7,", false, "[]", []string{"line 2, store_id: sto_2 is not a store whose products you may change"}},
		{"a foreign product", "prd_2,,Oat,1,7,", false, "[]", []string{"line 2, id: is taken"}},
		{"to another store", "prd_1,sto_3,Rye,1,7,", false, "[]", []string{"line 2, store_id: the product belongs to store sto_1 and cannot be moved"}},
		{"no such category", "prd_1,,Rye,1,7,cat_x", false, "[]", []string{"line 2, category_id: there is no category cat_x"}},
	} {
		p := Compare(Decode([]byte(head+c.rows+"\n"), "sto_1"), currentOf(was, foreign), c.quantities)
		fields := [][]Field{}
		for _, change := range p.Changes {
			fields = append(fields, change.Fields)
		}
		if fmt.Sprint(fields) != c.fields || !slices.Equal(problems(p.Problems), c.problems) {
			t.Errorf("%s: %v, %q", c.name, fields, problems(p.Problems))
		}
	}
	file := Decode([]byte(head+"prd_1,,Rye,2,7,cat_1\n"), "sto_1")
	first := Compare(file, currentOf(was), true)
	if row := first.Changes[0].Row; row.Facts != was.Facts() || *row.Was != 5 {
		t.Errorf("%+v", row)
	}
	was.Stock.Quantity--
	if again := Compare(file, currentOf(was), true); again.Mark == first.Mark {
		t.Error("the mark does not tell that one was sold")
	}
	was.Stock.Quantity++
	was.SKU = "not in the file"
	if again := Compare(file, currentOf(was), true); again.Mark != first.Mark {
		t.Error("a change of something else moves the mark")
	}
}

// TestNewIDs: the same file gets the same ids for the same key.
func TestNewIDs(t *testing.T) {
	file := Decode([]byte("name,price\na,1\na,1\n"), "s")
	a, b, c := file.WithIDs(5, "k"), file.WithIDs(5, "k"), file.WithIDs(5, "l")
	if !commerce.IsID(commerce.PrefixProduct, a.Rows[0].ID) || a.Rows[0].ID == a.Rows[1].ID || a.Rows[0].ID != b.Rows[0].ID || a.Rows[0].ID == c.Rows[0].ID || file.Rows[0].ID != "" {
		t.Errorf("%v, %v, %v", a.Rows, b.Rows, c.Rows)
	}
}

// FuzzDecode: every file is read without a panic, and what comes of it can be written and
// read again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("id,store_id,name,sku,description,category_id,price,active,quantity,featured_image,images\nprd_1,sto_1,a,b,c,cat_1,1.5,yes,3,d,\"e\nf\"\n"))
	f.Add([]byte("\ufeffid;name;price\n'=a;\"b\n\";1,5\n;;\n"))
	f.Add([]byte("id,name\n\"a,b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := Decode(data, "sto_1")
		for _, row := range file.Rows {
			if row.Line < 2 || row.Line > 2+bytes.Count(data, []byte{'\n'}) {
				t.Errorf("line %d of %q", row.Line, data)
			}
		}
		for _, p := range file.Problems {
			if p.Line < 1 || p.Line > 2+bytes.Count(data, []byte{'\n'}) || p.Reason == "" {
				t.Errorf("%v of %q", p, data)
			}
		}
		var items []commerce.Item
		for _, row := range Compare(file.WithIDs(1, "k"), Current{Stores: map[string]bool{"sto_1": true}}, true).Changes {
			p := row.Row
			item := commerce.Item{Product: commerce.Product{StoreID: p.StoreID, ID: p.ID}, Stock: commerce.Stock{StoreID: p.StoreID, ProductID: p.ID, Name: p.Name, PriceCents: *p.PriceCents}}
			if p.Description != nil {
				item.Description = *p.Description
			}
			items = append(items, item)
		}
		data = Header()
		for _, item := range items {
			data = AppendProduct(data, item)
		}
		again := Decode(data, "")
		if p := Compare(again, currentOf(items...), true); len(again.Problems) > 0 || len(p.Changes) > 0 {
			t.Errorf("%q: %v, %+v", data, again.Problems, p.Changes)
		}
	})
}
