package command

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// given returns T with a value in each of its fields that are pointers: a distinct one for each.
func given[T any](seed int) (v T) {
	fields := reflect.ValueOf(&v).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
			switch e := f.Elem(); e.Kind() {
			case reflect.Bool:
				e.SetBool(seed%2 == 0)
			case reflect.String:
				e.SetString(fmt.Sprint(fields.Type().Field(i).Name, seed))
			case reflect.Float64:
				e.SetFloat(float64(i+seed) / 8)
			case reflect.Int64:
				e.SetInt(int64(i + seed))
			case reflect.Slice:
				e.Set(reflect.ValueOf([]string{fmt.Sprint(seed)}))
			}
		}
	}
	return v
}

// agree checks that each field of got that given names has its value.
func agree(t *testing.T, name string, given any, got ...any) {
	t.Helper()
	fields := reflect.ValueOf(given)
	for i := range fields.NumField() {
		f, field := fields.Field(i), fields.Type().Field(i).Name
		if f.Kind() != reflect.Pointer || f.IsNil() {
			continue
		}
		found := false
		for _, row := range got {
			stored := reflect.ValueOf(row).FieldByName(field)
			if !stored.IsValid() {
				continue
			}
			found = true
			if stored.Kind() == reflect.Pointer {
				stored = stored.Elem()
			}
			if !stored.IsValid() || !reflect.DeepEqual(stored.Interface(), f.Elem().Interface()) {
				t.Errorf("%s: %s is %v, and %v was given", name, field, stored, f.Elem())
			}
		}
		if !found {
			t.Errorf("%s: nothing has the field %s", name, field)
		}
	}
}

// TestImportTakesAllThatIsGiven: each value of a file is stored, in a new row and in one that
// exists; what is not given keeps its value, and has its default in a new row.
func TestImportTakesAllThatIsGiven(t *testing.T) {
	var before commerce.Changes
	for seed := 2; seed < 4; seed++ { // all that is true, and then all that is false
		store, product := given[ImportStore](seed), given[ImportProduct](seed)
		store.ID, store.Name, product.ID, product.Name, product.StoreID = "t", "Store", "a", "Rye", "t"
		product.Was, product.CategoryID = nil, new("cat_1")
		category := ImportCategory{ID: "cat_1", Name: fmt.Sprint("Bread ", seed), Active: new(seed%2 == 0)}
		cmd := ImportCatalog{Actor: "operator:ann", Categories: []ImportCategory{category}, Stores: []ImportStore{store}, Products: []ImportProduct{product}}
		_, changes, err := decided(cmd, before, now+commerce.Millis(seed))
		if err != nil || len(changes.Stores) != 1 || len(changes.Products) != 1 || len(changes.Categories) != 1 || len(changes.StockMoves) != 1 {
			t.Fatalf("%+v, %v", changes, err)
		}
		agree(t, "store", store, changes.Stores[0])
		agree(t, "product", product, changes.Products[0], changes.Stock[0])
		agree(t, "category", category, changes.Categories[0])
		s, p, move := changes.Stores[0], changes.Products[0], changes.StockMoves[0]
		if s.ID != "t" || s.Name != "Store" || s.UpdatedOn != now+commerce.Millis(seed) || p.ID != "a" || p.StoreID != "t" || changes.Stock[0].Name != "Rye" || changes.Stock[0].CategoryID != "cat_1" ||
			changes.Categories[0].Name != category.Name || move.Note == nil || move.Note.Actor != "operator:ann" {
			t.Errorf("%+v", changes)
		}
		result, again, err := decided(cmd, changes, now+9)
		if err != nil || !again.Empty() || result != (ImportResult{CategoriesSame: 1, StoresSame: 1, ProductsSame: 1}) {
			t.Errorf("the same once more: %+v, %+v, %v", result, again, err)
		}
		bare := ImportCatalog{Actor: "operator:ann", Categories: []ImportCategory{{ID: "cat_1", Name: "Other"}}, Stores: []ImportStore{{ID: "t", Name: "Other"}}, Products: []ImportProduct{{ID: "a", StoreID: "t", Name: "Other"}}}
		_, kept, err := decided(bare, changes, now+9)
		if err != nil || len(kept.Stores) != 1 || len(kept.Categories) != 1 || len(kept.Products) != 1 {
			t.Fatalf("%+v, %v", kept, err)
		}
		product.CategoryID = nil
		agree(t, "store kept", store, kept.Stores[0])
		agree(t, "product kept", product, kept.Products[0], kept.Stock[0])
		agree(t, "category kept", ImportCategory{Active: category.Active}, kept.Categories[0])
		before = changes
	}
	_, made, err := decided(ImportCatalog{Categories: []ImportCategory{{ID: "c", Name: "C"}}, Stores: []ImportStore{{ID: "t", Name: "T"}}}, commerce.Changes{}, now)
	want := commerce.Store{ID: "t", No: 7, Name: "T", Slug: "t", Active: true, Open: true, PickupEnabled: true, DeliveryEnabled: true, TimeZone: "UTC", LateMinutes: 15, UpdatedOn: now}
	if err != nil || !reflect.DeepEqual(made.Stores, []commerce.Store{want}) || made.Categories[0] != (commerce.Category{ID: "c", Name: "C", Active: true}) {
		t.Errorf("defaults: %+v, %v", made, err)
	}
	place := ImportCatalog{Stores: []ImportStore{{ID: "t", Name: "T", Lat: new(1.0)}}} // half a place is none
	if _, half, err := decided(place, commerce.Changes{}, now); err != nil || half.Stores[0].Lat != nil {
		t.Errorf("%+v, %v", half.Stores, err)
	}
	place.Stores[0].Lat, place.Stores[0].Lng = nil, new(1.0)
	if _, half, err := decided(place, commerce.Changes{}, now); err != nil || half.Stores[0].Lng != nil {
		t.Errorf("%+v, %v", half.Stores, err)
	}
}

// TestImportProblems: what a file refers to may be in the file or in the database, and each problem is told.
func TestImportProblems(t *testing.T) {
	price := commerce.Cents(5)
	product := func(store, category string) ImportProduct {
		return ImportProduct{ID: "x", Name: "X", StoreID: store, CategoryID: &category, PriceCents: &price}
	}
	before := commerce.Changes{Stores: []commerce.Store{{ID: "s", No: 1}}, Categories: []commerce.Category{{ID: "c"}},
		Products: []commerce.Product{{StoreID: "s", ID: "a"}}, Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "A", Quantity: 4}}}
	for _, c := range []struct {
		cmd  ImportCatalog
		want string
	}{
		{ImportCatalog{Products: []ImportProduct{product("s", "c")}}, ""},
		{ImportCatalog{Products: []ImportProduct{product("s", "")}}, ""},
		{ImportCatalog{Products: []ImportProduct{product("t", "d")}, Stores: []ImportStore{{ID: "t", Name: "T"}}, Categories: []ImportCategory{{ID: "d", Name: "D"}}}, ""},
		{ImportCatalog{Products: []ImportProduct{product("t", "c")}}, "products[0].store_id: store t is neither"},
		{ImportCatalog{Products: []ImportProduct{product("s", "d")}}, "products[0].category_id: category d is neither"},
		{ImportCatalog{Products: []ImportProduct{{ID: "x", StoreID: "s", PriceCents: &price}}}, "products[0].name: is missing"},
		{ImportCatalog{Products: []ImportProduct{{ID: "a", StoreID: "s", Was: new(int64(5))}}}, "products[0].id: product a was changed"},
		{ImportCatalog{Products: []ImportProduct{{ID: "a", StoreID: "s", Was: new(int64(4))}}}, ""},
		{ImportCatalog{Products: []ImportProduct{{ID: "a", StoreID: "t"}}, Stores: []ImportStore{{ID: "t", Name: "T"}}}, "products[0].store_id: product a belongs to store s"},
		{ImportCatalog{Products: []ImportProduct{{ID: "a", StoreID: "s", Images: &[]string{strings.Repeat("x", commerce.MaxImages+1)}}}}, "products[0].images: images hold"},
	} {
		_, changes, err := decided(c.cmd, before, now)
		if got := fmt.Sprint(err); err == nil != (c.want == "") || err != nil && (!strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") || !changes.Empty()) {
			t.Errorf("%+v: %v, want %q", c.cmd, err, c.want)
		}
	}
}

// TestCells: texts of a spreadsheet that it shows as they are stored stay as they are.
func TestCells(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{{"a", "a", true}, {" a ", "a", true}, {"a\r\nb", "a\nb", true}, {"a\r\r\nb", "a\nb", true}, {"a", "b", false}, {"", " ", true}, {"a b", "ab", false}} {
		if SameCell(c.a, c.b) != c.same || SameCell(c.b, c.a) != c.same {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.same)
		}
	}
	before := commerce.Changes{Stores: []commerce.Store{{ID: "s", No: 1}}, Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye  ", Quantity: 4}},
		Products: []commerce.Product{{StoreID: "s", ID: "a", Description: "two\r\nlines", SKU: " 7 ", FeaturedImage: "http://x ", Images: []string{"one", "two\nlines"}}}}
	row := ImportProduct{ID: "a", StoreID: "s", Name: "Rye", Description: new("two\nlines"), SKU: new("7"), FeaturedImage: new("http://x"), Images: &[]string{"one", "two%0Alines"}}
	for name, change := range map[string]func(*ImportProduct){
		"": func(*ImportProduct) {}, "name": func(p *ImportProduct) { p.Name = "Wheat" }, "description": func(p *ImportProduct) { *p.Description = "x" }, "SKU": func(p *ImportProduct) { *p.SKU = "8" },
		"image": func(p *ImportProduct) { *p.FeaturedImage = "http://y" }, "images": func(p *ImportProduct) { p.Images = &[]string{"one"} },
	} {
		p := row
		p.Description, p.SKU, p.FeaturedImage = new(*row.Description), new(*row.SKU), new(*row.FeaturedImage)
		change(&p)
		result, changes, err := decided(ImportCatalog{Cells: true, Products: []ImportProduct{p}}, before, now)
		if err != nil || (name == "") != changes.Empty() || result.ProductsUpdated+result.ProductsSame != 1 {
			t.Errorf("another %s: %+v, %v", name, changes, err)
		}
	}
}

// TestUpsertTakesAllThatIsGiven: the same of an upsert.
func TestUpsertTakesAllThatIsGiven(t *testing.T) {
	before := commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}, Stores: []commerce.Store{{ID: "s"}}, Categories: []commerce.Category{{ID: "c"}, {ID: "d"}}}
	for seed := 2; seed < 4; seed++ {
		cmd := given[UpsertProduct](seed)
		cmd.Actor, cmd.ID, cmd.Create, cmd.StoreID, cmd.CategoryID, cmd.Name, cmd.Facts, cmd.BySKU = byPartner, "a", seed == 2, "s", "c", "Rye", "", nil
		cmd.Expected = nil
		_, changes, err := decided(cmd, before, now)
		if err != nil || len(changes.Products) != 1 || len(changes.StockMoves) != 1 {
			t.Fatalf("%+v, %v", changes, err)
		}
		p, s := changes.Products[0], changes.Stock[0]
		created := cmd.CreatedOn
		cmd.CreatedOn = nil
		agree(t, "product", cmd, p, s)
		if p.ID != "a" || p.StoreID != "s" || p.CreatedOn != *created || p.FactsOn != now || s.Name != "Rye" || s.CategoryID != "c" || s.UpdatedOn != now || s.ProductID != "a" || s.StoreID != "s" {
			t.Errorf("%+v, %+v", p, s)
		}
		if p.Source != commerce.SourcePartner || changes.StockMoves[0].Note.Actor != byPartner.Name() {
			t.Errorf("%+v, %+v", p, changes.StockMoves[0])
		}
		changes.Partners, changes.Stores, changes.Categories = before.Partners, before.Stores, before.Categories
		bare := UpsertProduct{Actor: byPartner, ID: "a", StoreID: "s", CategoryID: "d", Name: "Wheat"}
		_, kept, err := decided(bare, changes, now+1)
		if err != nil || len(kept.StockMoves) != 0 || kept.Stock[0].CategoryID != "d" || kept.Stock[0].Name != "Wheat" || kept.Products[0].CreatedOn != *created || kept.Products[0].FactsOn != now+1 {
			t.Errorf("%+v, %v", kept, err)
		}
		agree(t, "product kept", cmd, kept.Products[0], kept.Stock[0])
		before = changes
	}
	fresh := commerce.Changes{Partners: before.Partners, Stores: before.Stores}
	_, made, err := decided(UpsertProduct{Actor: byPartner, ID: "b", Create: true, StoreID: "s", Name: "B"}, fresh, now)
	if err != nil || !reflect.DeepEqual(made.Products, []commerce.Product{{StoreID: "s", ID: "b", Source: commerce.SourcePartner, CreatedOn: now, FactsOn: now}}) || len(made.StockMoves) != 1 ||
		made.StockMoves[0].Kind != commerce.MoveOpened || !made.Stock[0].Active || made.Stock[0].Name != "B" || made.Stock[0].Quantity != 0 {
		t.Errorf("defaults: %+v, %v", made, err)
	}
}

// TestUpsertIsRefused: in the order of BEHAVIOUR's checks.
func TestUpsertIsRefused(t *testing.T) {
	before := commerce.Changes{Partners: []commerce.Partner{{ID: "p", StoreIDs: []string{"s"}}}, Stores: []commerce.Store{{ID: "s"}, {ID: "t"}}, Categories: []commerce.Category{{ID: "c"}},
		Products: []commerce.Product{{StoreID: "s", ID: "a"}, {StoreID: "t", ID: "b"}}, Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "A", Quantity: 4}, {StoreID: "t", ProductID: "b"}},
	}
	for _, c := range []struct {
		name string
		cmd  UpsertProduct
		want string // code, or field
	}{
		{"known", UpsertProduct{ID: "a", StoreID: "s", CategoryID: "c", Name: "A"}, ""},
		{"unknown", UpsertProduct{ID: "x", StoreID: "s", Name: "A"}, "not_found"},
		{"new", UpsertProduct{ID: "x", Create: true, StoreID: "s", Name: "A"}, ""},
		{"of a store of others", UpsertProduct{ID: "b", StoreID: "t", Name: "A"}, "store_not_allowed"},
		{"of a store of others, moved", UpsertProduct{ID: "b", StoreID: "s", Name: "A"}, "store_not_allowed"},
		{"new in a store of others", UpsertProduct{ID: "x", Create: true, StoreID: "t", Name: "A"}, "store_not_allowed"},
		{"unknown store", UpsertProduct{ID: "x", Create: true, StoreID: "u", Name: "A"}, "store_id"},
		{"unknown category", UpsertProduct{ID: "a", StoreID: "s", CategoryID: "d", Name: "A"}, "category_id"},
		{"images", UpsertProduct{ID: "a", StoreID: "s", Name: "A", Images: &[]string{strings.Repeat("x", commerce.MaxImages+1)}}, "images"},
		{"another quantity", UpsertProduct{ID: "a", StoreID: "s", Name: "A", Expected: new(int64(5))}, "stale_quantity"},
		{"the quantity", UpsertProduct{ID: "a", StoreID: "s", Name: "A", Expected: new(int64(4))}, ""},
		{"a new one has none", UpsertProduct{ID: "x", Create: true, StoreID: "s", Name: "A", Expected: new(int64(1))}, "stale_quantity"},
	} {
		c.cmd.Actor = byPartner
		_, changes, err := decided(c.cmd, before, now)
		if got := refusedFor(err); got != c.want || err != nil && !changes.Empty() {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// refusedFor is the field at fault, or else the code of a refusal.
func refusedFor(err error) string {
	refusal, ok := err.(*commerce.Error)
	switch {
	case !ok && err == nil:
		return ""
	case !ok:
		return err.Error()
	case refusal.Field != "":
		return refusal.Field
	}
	return refusal.Code
}
