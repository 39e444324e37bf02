package importfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

const whole = `{
  "categories": [
    {"id": "cat_a", "name": "A", "active": false}
  ],
  "stores": [
    {"id": "sto_a", "name": "A", "slug": "a", "city": "C", "state": "S", "zip_code": "Z", "address": "1", "active": true,
     "open": false, "pickup_enabled": true, "service_delivery_enabled": false, "updated_on": 5, "lat": 40.5, "lng": -74.25,
     "service_delivery_radius_miles": 2.5, "email": "e", "phone": "p", "tax_rate_bps": 825, "charge_live_quote": true, "time_zone": "America/New_York", "late_minutes": 20, "hold_minutes": 30}
  ],
  "products": [
    {"id": "prd_a", "name": "P", "store_id": "sto_a", "category_id": "cat_a", "description": "d", "sku": "s",
     "featured_image": "f", "images": ["f", "g"], "price": 100, "active": true, "available_quantity": 5, "updated_on": null},
    {"id": "prd_b", "name": "Q", "store_id": "sto_b", "category_id": null, "description": null, "images": null, "price": 0}
  ]
}
`

func TestWholeFile(t *testing.T) {
	file := Parse([]byte(whole))
	c := file.Catalog
	if len(file.Problems) > 0 || len(c.Categories) != 1 || len(c.Stores) != 1 || len(c.Products) != 2 {
		t.Fatalf("%v %+v", file.Problems, c)
	}
	s, p, q := c.Stores[0], c.Products[0], c.Products[1]
	if s.ID != "sto_a" || *s.Slug != "a" || *s.Lat != 40.5 || *s.Lng != -74.25 || *s.RadiusMiles != 2.5 || *s.TaxRateBps != 825 || !*s.ChargesQuote || *s.TimeZone != "America/New_York" || *s.LateMinutes != 20 || *s.HoldMinutes != 30 || *s.Open || *s.DeliveryEnabled || !*s.Active {
		t.Errorf("%+v", s)
	}
	if p.ID != "prd_a" || *p.CategoryID != "cat_a" || *p.PriceCents != 100 || *p.Quantity != 5 || len(*p.Images) != 2 || *p.SKU != "s" {
		t.Errorf("%+v", p)
	}
	if q.CategoryID != nil || q.Description != nil || q.Images != nil || q.Quantity != nil || *q.PriceCents != 0 {
		t.Errorf("%+v", q)
	}
	for path, line := range map[string]int{"categories[0]": 3, "stores[0].name": 6, "products[0].price": 12, "products[0].nothing": 11, "products[1].images[3]": 13, "products[1].store_id": 13, "products[9]": 0} {
		if got := file.LineOf(path); got != line {
			t.Errorf("%s is on line %d, want %d", path, got, line)
		}
	}
}

// element returns a file whose only invalid element is on line 4.
func element(list, bad string) string {
	good := map[string]string{"categories": `{"id":"cat_0","name":"n"}`, "stores": `{"id":"sto_0","name":"n"}`, "products": `{"id":"prd_0","name":"n","store_id":"s"}`}[list]
	return "{\n\"" + list + "\": [\n" + good + ",\n" + bad + "\n]}"
}

func TestProblems(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	for _, c := range []struct{ file, want, says string }{
		{``, "1 file", "ends too early"},
		{"\n\n", "1 file", "ends too early"},
		{`[]`, "1 file", "must be a JSON object"},
		{"\n\n5", "1 file", "must be a JSON object"},
		{"{\n\"stores\": [],\n", "3 file", "ends too early"},
		{"{\n\"products\": [\n{\"id\": \"a\"", "3 products[0]", "ends too early"},
		{"{} {}", "1 file", "after the end"},
		{"{\n\n\"prducts\": []}", "3 prducts", "not known"},
		{"{\n\"stores\":\n 5}", "2 stores", "must be an array"}, // the line of the name
		{"{\n\"stores\": {}}", "2 stores", "must be an array"},
		{"{\n\"stores\": [],\n\"stores\": []}", "3 stores", "duplicate"},
		{"{\n\"stores\": [\n{\"id\": nope}]}", "3 stores[0].id", "not valid JSON"},
		{element("categories", `5`), "4 categories[1]", "must be a JSON object"},
		{element("categories", `{"name":"n"}`), "4 categories[1].id", "is missing"},
		{element("categories", `{"id":"a"}`), "4 categories[1].name", "is missing"},
		{element("categories", `{"id":"a","name":" "}`), "4 categories[1].name", "is missing"},
		{element("categories", `{"id":"cat_0","name":"n"}`), "4 categories[1].id", "categories[0]"},
		{element("categories", `{"id":"a","name":"n","active":"yes"}`), "4 categories[1].active", "true or false"},
		{element("categories", `{"id":5,"name":"n"}`), "4 categories[1].id", "must be a string"},
		{element("categories", `{"id":"a\nb","name":"n"}`), "4 categories[1].id", "control"},
		{element("categories", `{"id":`+long(256)+`,"name":"n"}`), "4 categories[1].id", "longer than 255"},
		{element("categories", `{"id":"a","name":`+long(501)+`}`), "4 categories[1].name", "longer than 500"},
		{element("categories", `{"id":"a","name":"\u0000"}`), "4 categories[1].name", "NUL"},
		{element("stores", `{"id":"a","name":"n","lat":1}`), "4 stores[1].lat", "together"},
		{element("stores", `{"id":"a","name":"n","lng":1}`), "4 stores[1].lat", "together"},
		{element("stores", `{"id":"a","name":"n","lat":90.1,"lng":1}`), "4 stores[1].lat", "from -90 to 90"},
		{element("stores", `{"id":"a","name":"n","lat":1,"lng":-180.5}`), "4 stores[1].lng", "from -180 to 180"},
		{element("stores", `{"id":"a","name":"n","lat":"1","lng":1}`), "4 stores[1].lat", "number"},
		{element("stores", `{"id":"a","name":"n","lat":1e999,"lng":1}`), "4 stores[1].lat", ""},
		{element("stores", `{"id":"a","name":"n","service_delivery_radius_miles":-1}`), "4 stores[1].service_delivery_radius_miles", "from 0"},
		{element("stores", `{"id":"a","name":"n","tax_rate_bps":10001}`), "4 stores[1].tax_rate_bps", "from 0 to 10000"},
		{element("stores", `{"id":"a","name":"n","tax_rate_bps":8.25}`), "4 stores[1].tax_rate_bps", "integer"},
		{element("stores", `{"id":"a","name":"n","phone":`+long(501)+`}`), "4 stores[1].phone", "longer"},
		{element("stores", `{"id":"a","name":"n","time_zone":"New York"}`), "4 stores[1].time_zone", "IANA"},
		{element("stores", `{"id":"a","name":"n","time_zone":"Local"}`), "4 stores[1].time_zone", "IANA"},
		{element("stores", `{"id":"a","name":"n","time_zone":""}`), "4 stores[1].time_zone", "IANA"},
		{element("stores", `{"id":"a","name":"n","time_zone":"../../etc/passwd"}`), "4 stores[1].time_zone", "IANA"},
		{element("stores", `{"id":"a","name":"n","late_minutes":0}`), "4 stores[1].late_minutes", "from 1 to 240"},
		{element("stores", `{"id":"a","name":"n","late_minutes":241}`), "4 stores[1].late_minutes", "from 1 to 240"},
		{element("stores", `{"id":"a","name":"n","late_minutes":1.5}`), "4 stores[1].late_minutes", "integer"},
		{element("stores", `{"id":"a","name":"n","hold_minutes":4}`), "4 stores[1].hold_minutes", "from 5 to 60"},
		{element("stores", `{"id":"a","name":"n","hold_minutes":61}`), "4 stores[1].hold_minutes", "from 5 to 60"},
		{element("stores", `{"id":"a","name":"n","hold_minutes":-1}`), "4 stores[1].hold_minutes", "from 5 to 60"},
		{element("products", `{"id":"a","name":"n"}`), "4 products[1].store_id", "is missing"},
		{element("products", `{"id":"a","store_id":"s"}`), "4 products[1].name", "is missing"},
		{element("products", `{"id":"a","name":"n","store_id":"s","price":6.50}`), "4 products[1].price", "must be cents: 650"},
		{element("products", `{"id":"a","name":"n","store_id":"s","price":0.005}`), "4 products[1].price", "must be an integer"},
		{element("products", `{"id":"a","name":"n","store_id":"s","price":6.00}`), "4 products[1].price", "6.00 may mean 6 or 600"},
		{element("products", `{"id":"a","name":"n","store_id":"s","price":"6.50"}`), "4 products[1].price", "must be an integer"},
		{element("products", `{"id":"a","name":"n","store_id":"s","avaliable_quantity":1}`), "4 products[1].avaliable_quantity", "did you mean available_quantity?"},
		{element("products", `{"id":"a","name":"n","store_id":"s","quantity":1}`), "4 products[1].quantity", "did you mean available_quantity?"},
		{element("products", `{"id":"a","name":"n","store_id":"s","price_cents":1}`), "4 products[1].price_cents", "did you mean price?"},
		{element("products", `{"id":"a","name":"n","store_id":"s","colour":1}`), "4 products[1].colour", "is not a field; the fields are id, name, store_id"},
		{"{\n\"prducts\": []}", "2 prducts", "did you mean products?"},
		{"{\n\"$schema\": 5, \"stores\": []}", "2 $schema", "must be a string"},
		{"{}", "1 file", "has none of the lists"},
		{`{"stores": null, "$schema": "x"}`, "1 file", "has none of the lists"},
		{element("products", `{"id":"a","name":"n","store_id":"s","price":-1}`), "4 products[1].price", "from 0"},
		{element("products", `{"id":"a","name":"n","store_id":"s","price":"1"}`), "4 products[1].price", "integer"},
		{element("products", `{"id":"a","name":"n","store_id":"s","price":10000000000}`), "4 products[1].price", "from 0"},
		{element("products", `{"id":"a","name":"n","store_id":"s","available_quantity":-1}`), "4 products[1].available_quantity", "from 0"},
		{element("products", `{"id":"a","name":"n","store_id":"s","category_id":" "}`), "4 products[1].category_id", "is missing"},
		{element("products", `{"id":"a","name":"n","store_id":"s","images":["a",5]}`), "4 products[1].images[1]", "must be a string"},
		{element("products", `{"id":"a","name":"n","store_id":"s","images":["a"`+strings.Repeat(`,"a"`, 50)+`]}`), "4 products[1].images", "must have at most 50 elements"},
		{element("products", `{"id":"a","name":"n","store_id":"s","sku":`+long(256)+`}`), "4 products[1].sku", "longer"},
		{element("products", `{"id":"a","name":"n","store_id":"s","name":"m"}`), "4 products[1].name", ""},
	} {
		file := Parse([]byte(c.file))
		if len(file.Problems) != 1 {
			t.Errorf("%.80q: %v", c.file, file.Problems)
			continue
		}
		p := file.Problems[0]
		if got := fmt.Sprint(p.Line, " ", p.Path); got != c.want || !strings.Contains(p.Reason, c.says) {
			t.Errorf("%.80q: want %s ... %s, got %v", c.file, c.want, c.says, p)
		}
	}
}

// Text after the end is reported with its own line, not with the line of the end.
func TestLineOfWhatStandsBehind(t *testing.T) {
	file := Parse([]byte("{\n}\n\n\nx"))
	if len(file.Problems) != 1 || file.Problems[0].Line != 5 {
		t.Errorf("want line 5, got %v", file.Problems)
	}
}

// A list without a name has a readable path, too.
func TestEmptyName(t *testing.T) {
	file := Parse([]byte(`{"": []}`))
	if len(file.Problems) != 1 || file.Problems[0].Path == "" {
		t.Errorf("%v", file.Problems)
	}
}

// One invalid element does not hide the next.
func TestAllProblemsAtOnce(t *testing.T) {
	file := Parse([]byte("{\"products\": [\n{},\n{\"id\":\"a\",\"name\":\"n\",\"store_id\":\"s\"},\n5,\n{\"id\":\"b\",\"name\":\"n\",\"store_id\":\"s\",\"price\":0.5}],\n" +
		"\"what\": 1,\n\"stores\": [\n{\"id\":\"s\"}]}"))
	var got []string
	for _, p := range file.Problems {
		got = append(got, fmt.Sprint(p.Line, " ", p.Path))
	}
	want := "2 products[0].id; 2 products[0].store_id; 2 products[0].name; 4 products[2]; 5 products[3].price; 6 what; 8 stores[0].name"
	if strings.Join(got, "; ") != want {
		t.Errorf("%v", file.Problems)
	}
}

// Every field of an element is looked at, each problem on its own line.
func TestAllProblemsOfAnElement(t *testing.T) {
	file := Parse([]byte(`{"products": [
{"id": 5,
 "store_id": "s", "nmae": "P",
 "price": 6.50,
 "images": ["a", " ", ""],
 "available_quantity": -1, "sku": "\u0000"}]}`))
	var got []string
	for _, p := range file.Problems {
		got = append(got, fmt.Sprint(p.Line, " ", p.Path))
	}
	want := "2 products[0].id; 2 products[0].name; 3 products[0].nmae; 4 products[0].price; 5 products[0].images[1]; 5 products[0].images[2]; " +
		"6 products[0].available_quantity; 6 products[0].sku"
	if slices.Sort(got); strings.Join(got, "; ") != want {
		t.Errorf("%v", file.Problems)
	}
}

// A long list of problems ends with their number.
func TestManyProblems(t *testing.T) {
	file := Parse([]byte(`{"products": [` + strings.Repeat(`{"id": "a", "name": "n"},`, 999) + `5]}`))
	if len(file.Problems) != MaxProblems || file.More != 900 {
		t.Errorf("%d problems and %d more", len(file.Problems), file.More)
	}
}

// Fields that are not known are ignored if the operator wants it, and no other problem is.
func TestAllowUnknown(t *testing.T) {
	const text = `{"made": 5, "stores": [{"id": "a", "name": "A", "x": {"y": "\u0000"}}, {"id": "b", "colour": 1}]}`
	if file := Parse([]byte(text)); len(file.Problems) != 4 || len(file.Catalog.Stores) != 0 {
		t.Errorf("%v", file.Problems)
	}
	file := Parser{AllowUnknown: true}.Parse([]byte(text))
	if len(file.Problems) != 1 || file.Problems[0].Path != "stores[1].name" || len(file.Catalog.Stores) != 1 {
		t.Errorf("%v, %+v", file.Problems, file.Catalog.Stores)
	}
}

// Lines are counted as an editor does, with Windows line ends and in a file of one
// line.
func TestLines(t *testing.T) {
	crlf := strings.ReplaceAll(element("categories", `{"id":"a"}`), "\n", "\r\n")
	if file := Parse([]byte(crlf)); len(file.Problems) != 1 || file.Problems[0].Line != 4 {
		t.Errorf("%v", file.Problems)
	}
	one := strings.ReplaceAll(element("categories", `{"id":"a"}`), "\n", "")
	if file := Parse([]byte(one)); len(file.Problems) != 1 || file.Problems[0].Line != 1 {
		t.Errorf("%v", file.Problems)
	}
}

// The demo's catalog has no problems.
func TestDemoCatalog(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "demo", "catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	if file := Parse(data); len(file.Problems) > 0 || len(file.Catalog.Products) == 0 {
		t.Errorf("%v", file.Problems)
	}
}

// FuzzParse checks that no file panics, and that each problem has a line of the file,
// a path and a reason.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	for _, seed := range []string{``, `{`, `[]`, `{"stores":null}`, element("stores", `{"id":"a","name":"n","lat":1}`), element("products", `{"price":1e999}`),
		"{\"stores\":[{\"id\":\"\xff\"}]}", `{"":[]}`, `{"products":[` + strings.Repeat("[", 11_000)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := Parse(data)
		lines := bytes.Count(data, []byte{'\n'}) + 1
		for _, p := range file.Problems {
			if p.Line < 1 || p.Line > lines || p.Path == "" || p.Reason == "" {
				t.Errorf("%q in %q", p, data)
			}
		}
		for list, places := range file.places {
			for i := range places {
				if line := file.LineOf(commerce.Index(list, i, "id")); line < 1 || line > lines {
					t.Errorf("%s[%d] is on line %d in %q", list, i, line, data)
				}
			}
		}
		loose := Parser{AllowUnknown: true}.Parse(data)
		if strict, loose := len(file.Problems)+file.More, len(loose.Problems)+loose.More; strict < loose {
			t.Errorf("%d problems, and %d where unknown fields are allowed: %q", strict, loose, data)
		}
	})
}
