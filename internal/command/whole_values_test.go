package command

import (
	"fmt"
	"reflect"
	"slices"
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

// TestSalesAreWhole: all that a caller says of a new order stands in the order, whichever way it is made.
func TestSalesAreWhole(t *testing.T) {
	sale := Sale{Actor: byPartner, OrderID: "o", CustomerID: "cus_1", StoreID: "s", Fulfillment: commerce.ByDelivery, Lines: []commerce.OrderLine{{ProductID: "a", Quantity: 2, PriceCents: 90}},
		Address: &commerce.DeliveryAddress{Name: "Ann", Email: "ann@x.example"}, PickupInstructions: "ring", DropoffInstructions: "leave it", Metadata: commerce.Metadata{"k": "v"}, ReadyInMinutes: new(int64(20))}
	before := commerce.Changes{Partners: []commerce.Partner{{ID: "p", CallbackURL: "https://p.example"}}, Stores: []commerce.Store{{ID: "s", Name: "Shop", Active: true, DeliveryEnabled: true, TaxRateBps: 1000}},
		Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye", Active: true, PriceCents: 100, Quantity: 5}}}
	staff := sale
	staff.Actor = commerce.Actor{Kind: commerce.ActorStaff, ID: "usr_1", Mode: commerce.Live}
	report := ReportOrder{Sale: sale, ExternalID: "A-1", ExternalPaymentID: "pay_1", Given: commerce.GivenTotals{DeliveryFee: 7}}
	checkout := StartCheckout{Sale: sale, Titles: []commerce.LineTitle{{Name: "Rye"}}, CustomerEmail: "bob@x.example", DeliveryFeeCents: 7, Processor: "stripe", SuccessURL: "https://ok", CancelURL: "https://no"}
	native := CreateNativeOrder{Sale: staff, DeliveryFeeCents: 7, Expected: new(commerce.Cents(227))}
	for _, c := range []struct {
		name   string
		decide func() (commerce.Order, commerce.Changes, error)
		want   commerce.Order
		jobs   []commerce.JobKind
	}{
		{"report", func() (commerce.Order, commerce.Changes, error) { return decided(report, before, now) },
			commerce.Order{PartnerID: "p", Source: commerce.SourcePartner, ExternalID: "A-1", ExternalPaymentID: "pay_1", CustomerEmail: "ann@x.example", Status: commerce.Processed, SubtotalCents: 180, DeliveryFeeCents: 7, TotalCents: 187}, []commerce.JobKind{commerce.JobDispatch}},
		{"checkout", func() (commerce.Order, commerce.Changes, error) { return decided(checkout, before, now) },
			commerce.Order{PartnerID: "p", Source: commerce.SourcePartner, CustomerEmail: "bob@x.example", Status: commerce.PendingPayment, SubtotalCents: 200, TaxCents: 20, DeliveryFeeCents: 7, TotalCents: 227}, []commerce.JobKind{commerce.JobOpenSession}},
		{"native", func() (commerce.Order, commerce.Changes, error) { return decided(native, before, now) },
			commerce.Order{Source: commerce.SourceService, CustomerEmail: "ann@x.example", Status: commerce.Processed, SubtotalCents: 200, TaxCents: 20, DeliveryFeeCents: 7, TotalCents: 227}, []commerce.JobKind{commerce.JobDispatch}},
	} {
		o, changes, err := c.decide()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		w := c.want
		w.StoreID, w.ID, w.Mode, w.Fulfillment, w.CustomerID, w.Address, w.PickupInstructions, w.DropoffInstructions, w.Metadata, w.ReadyInMinutes, w.CreatedOn, w.UpdatedOn =
			"s", "o", commerce.Live, sale.Fulfillment, "cus_1", sale.Address, "ring", "leave it", sale.Metadata, sale.ReadyInMinutes, now, now
		w.InventoryDeducted, w.Lines, w.Events, w.NotifiedOn = o.InventoryDeducted, o.Lines, o.Events, o.NotifiedOn
		if !reflect.DeepEqual(o, w) || !reflect.DeepEqual(changes.Orders, []commerce.Order{o}) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, o, w)
		}
		if o.InventoryDeducted != (c.name != "checkout") || o.InventoryDeducted != (len(changes.Stock) == 1 && changes.Stock[0].Quantity == 3) {
			t.Errorf("%s: deducted %v, %+v", c.name, o.InventoryDeducted, changes.Stock)
		}
		var kinds []commerce.JobKind
		for _, j := range changes.NewJobs {
			if kinds = append(kinds, j.Kind); !j.Awaited || j.RunAt > now {
				t.Errorf("%s: %+v does not begin at once", c.name, j)
			}
		}
		if !slices.Equal(kinds, c.jobs) || len(changes.Timeline) == 0 || changes.Timeline[0].Kind != commerce.TimelineCreated || changes.Timeline[0].CreatedOn != now || changes.Timeline[0].OrderID != "o" {
			t.Errorf("%s: %v, %+v", c.name, kinds, changes.Timeline)
		}
		if len(changes.Customers) != 1 || changes.Customers[0].ID != "cus_1" || changes.Customers[0].Name != "Ann" || changes.Customers[0].CreatedOn != now {
			t.Errorf("%s: %+v", c.name, changes.Customers)
		}
		if d := changes.Deliveries; (len(d) == 1) != (c.name != "checkout") || len(d) == 1 && (d[0].State != commerce.DeliveryDispatching || d[0].CreatedOn != now || d[0].UpdatedOn != now || d[0].TraceID != sale.Actor.TraceID && c.name == "report") {
			t.Errorf("%s: %+v", c.name, d)
		}
		for _, w := range changes.Webhooks {
			if w.PartnerID != "p" || w.Mode != commerce.Live || w.StoreID != "s" || w.OrderID != "o" || w.TraceID != byPartner.TraceID || c.name == "native" {
				t.Errorf("%s: %+v", c.name, w)
			}
		}
	}
	_, changes, _ := decided(report, before, now)
	if want := []commerce.ExternalRef{{ExternalKey: commerce.ExternalKey{PartnerID: "p", Mode: commerce.Live, ExternalID: "A-1"}, Order: commerce.OrderKey{StoreID: "s", OrderID: "o"}}}; !slices.Equal(changes.External, want) {
		t.Errorf("%+v", changes.External)
	}
	if l := changes.Orders[0].Lines[0]; l.PriceCents != 90 || l.OriginalPriceCents == nil || *l.OriginalPriceCents != 100 {
		t.Errorf("reported %+v", l)
	}
	_, changes, _ = decided(checkout, before, now)
	if want := (commerce.Payment{StoreID: "s", OrderID: "o", Processor: "stripe", SuccessURL: "https://ok", CancelURL: "https://no", StoreName: "Shop", Titles: checkout.Titles,
		TraceID: "t", State: commerce.PaymentOpening, CreatedOn: now, UpdatedOn: now}); len(changes.Payments) != 1 || !reflect.DeepEqual(changes.Payments[0], want) {
		t.Errorf("%+v", changes.Payments)
	}
	before.Stores[0].HoldMinutes = 5
	_, changes, err := decided(checkout, before, now)
	if until := now + 300_000; err != nil || changes.Orders[0].HeldUntil != until || len(changes.NewJobs) != 2 || changes.NewJobs[0].Kind != commerce.JobEndHold || changes.NewJobs[0].RunAt != until || changes.NewJobs[0].Awaited {
		t.Errorf("held: %+v, %+v, %v", changes.Orders, changes.NewJobs, err)
	}
}

// TestSalesAreRefused: what cannot be sold, and that nothing changes then.
func TestSalesAreRefused(t *testing.T) {
	far := &commerce.Place{Point: commerce.Point{Lat: 50, Lng: 50}}
	for _, c := range []struct {
		name  string
		spoil func(*commerce.Changes, *Sale)
		want  string
	}{
		{"nothing", func(*commerce.Changes, *Sale) {}, ""},
		{"an unknown store", func(c *commerce.Changes, s *Sale) { c.Stores = nil }, "store_id"},
		{"a store of others", func(c *commerce.Changes, s *Sale) { c.Partners[0].StoreIDs = []string{"x"} }, "store_not_allowed"},
		{"an inactive store", func(c *commerce.Changes, s *Sale) { c.Stores[0].Active = false }, "store_id"},
		{"no pickup", func(c *commerce.Changes, s *Sale) { c.Stores[0].PickupEnabled = false }, "fulfillment_type"},
		{"an unknown product", func(c *commerce.Changes, s *Sale) {
			s.Lines = []commerce.OrderLine{{ProductID: "x", Quantity: 1, PriceCents: 5}}
		}, "items[0].product_id"},
		{"want of stock", func(c *commerce.Changes, s *Sale) { c.Stock[0].Quantity = 1 }, commerce.CodeInsufficientStock},
		{"an inactive product", func(c *commerce.Changes, s *Sale) { c.Stock[0].Active = false }, "product_inactive"},
	} {
		for name, decide := range map[string]func(Sale, commerce.Changes) (commerce.Order, commerce.Changes, error){
			"report": func(s Sale, b commerce.Changes) (commerce.Order, commerce.Changes, error) {
				return decided(ReportOrder{Sale: s, ExternalID: "A"}, b, now)
			},
			"checkout": func(s Sale, b commerce.Changes) (commerce.Order, commerce.Changes, error) {
				return decided(StartCheckout{Sale: s}, b, now)
			},
			"native": func(s Sale, b commerce.Changes) (commerce.Order, commerce.Changes, error) {
				s.Actor = commerce.Actor{Kind: commerce.ActorStaff, ID: "usr_1", Mode: commerce.Live}
				return decided(CreateNativeOrder{Sale: s}, b, now)
			},
		} {
			before := commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}, Stores: []commerce.Store{{ID: "s", Active: true, PickupEnabled: true}},
				Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye", Active: true, PriceCents: 100, Quantity: 5}}}
			sale := Sale{Actor: byPartner, OrderID: "o", StoreID: "s", Fulfillment: commerce.ByPickup, Lines: []commerce.OrderLine{{ProductID: "a", Quantity: 2, PriceCents: 90}}}
			c.spoil(&before, &sale)
			want := c.want
			if name == "native" && want == "store_not_allowed" {
				want = "" // the rights of staff are the front's
			}
			_, changes, err := decide(sale, before)
			if got := refusedFor(err); got != want || err != nil && !changes.Empty() {
				t.Errorf("%s, %s: %v, want %q", name, c.name, err, want)
			}
		}
	}
	near := commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}, Stores: []commerce.Store{{ID: "s", Active: true, DeliveryEnabled: true, Lat: new(40.0), Lng: new(-75.0), RadiusMiles: new(5.0)}},
		Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Active: true, PriceCents: 100, Quantity: 5}}}
	sale := Sale{Actor: byPartner, OrderID: "o", StoreID: "s", Fulfillment: commerce.ByDelivery, Lines: []commerce.OrderLine{{ProductID: "a", Quantity: 1}}}
	if _, _, err := decided(StartCheckout{Sale: sale, Place: far}, near, now); codeOf(err) != "out_of_radius" {
		t.Error(err)
	}
	taken := commerce.Changes{Partners: near.Partners, Stores: near.Stores, Stock: near.Stock, External: []commerce.ExternalRef{{ExternalKey: commerce.ExternalKey{PartnerID: "p", Mode: commerce.Live, ExternalID: "A"}, Order: commerce.OrderKey{StoreID: "s", OrderID: "first"}}}}
	_, _, err := decided(ReportOrder{Sale: sale, ExternalID: "A"}, taken, now)
	if refusal, ok := err.(*commerce.Error); !ok || refusal.Code != "external_order_id_taken" || refusal.OrderID != "first" {
		t.Error(err)
	}
	free := near
	free.Stock = []commerce.Stock{{StoreID: "s", ProductID: "a", Active: true, Quantity: 5}}
	if _, _, err := decided(StartCheckout{Sale: sale}, free, now); refusedFor(err) != "items" {
		t.Errorf("there is nothing to pay: %v", err)
	}
	huge := commerce.MaxTotal + 1
	if _, _, err := decided(ReportOrder{Sale: sale, ExternalID: "B", Given: commerce.GivenTotals{Total: &huge}}, near, now); refusedFor(err) != "items" {
		t.Errorf("beyond the largest total: %v", err)
	}
	mismatch := commerce.Cents(5)
	_, changes, err := decided(ReportOrder{Sale: sale, ExternalID: "B", Given: commerce.GivenTotals{Total: &mismatch}}, near, now)
	if got := noteCodes(changes.Timeline); err != nil || !slices.Contains(got, "totals_mismatch") {
		t.Errorf("%v, %v", got, err)
	}
	_, changes, err = decided(ReportOrder{Sale: sale, ExternalID: "B"}, near, now)
	if got := noteCodes(changes.Timeline); err != nil || slices.Contains(got, "totals_mismatch") {
		t.Errorf("%v, %v", got, err)
	}
	staff := sale
	staff.Actor = commerce.Actor{Kind: commerce.ActorStaff, ID: "usr_1", Mode: commerce.Live}
	wrong := commerce.Cents(99)
	if _, _, err := decided(CreateNativeOrder{Sale: staff, Expected: &wrong}, near, now); codeOf(err) != "changed_meanwhile" {
		t.Error(err)
	}
}

// TestAdjustments: each line is a move with its reason, and one that fails stops all.
func TestAdjustments(t *testing.T) {
	line := func(store, product string, delta int64) AdjustmentLine {
		return AdjustmentLine{Product: commerce.ProductKey{StoreID: store, ProductID: product}, Delta: delta, Reason: "r" + product, ExternalReference: "x" + product}
	}
	before := commerce.Changes{Partners: []commerce.Partner{{ID: "p", StoreIDs: []string{"s"}}},
		Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Quantity: 5}, {StoreID: "s", ProductID: "b", Quantity: commerce.MaxStock}, {StoreID: "t", ProductID: "c", Quantity: 5}}}
	done, changes, err := decided(AdjustInventory{Actor: byPartner, Lines: []AdjustmentLine{line("s", "a", -2), line("s", "b", 0), line("s", "a", 4)}}, before, now)
	if want := []Adjusted{{"a", 5, 3, -2}, {"b", commerce.MaxStock, commerce.MaxStock, 0}, {"a", 3, 7, 4}}; err != nil || !slices.Equal(done, want) {
		t.Errorf("%+v, %v", done, err)
	}
	if len(changes.Stock) != 2 || changes.Stock[0].Quantity != 7 || len(changes.StockMoves) != 3 {
		t.Fatalf("%+v", changes)
	}
	for i, product := range []string{"a", "a", "b"} {
		if n := changes.StockMoves[i].Note; n == nil || *n != (commerce.StockNote{Actor: byPartner.Name(), Reason: "r" + product, ExternalReference: "x" + product}) {
			t.Errorf("move %d: %+v", i, n)
		}
	}
	stale := line("s", "a", 1)
	stale.Expected = new(int64(4))
	for want, lines := range map[string][]AdjustmentLine{
		"store_not_allowed": {line("s", "a", 1), line("t", "c", 1)}, commerce.CodeInsufficientStock: {line("s", "a", -3), line("s", "a", -3)},
		"adjustments[1].delta": {line("s", "a", 1), line("s", "b", 1)}, "stale_quantity": {stale},
	} {
		_, changes, err := decided(AdjustInventory{Actor: byPartner, Lines: lines}, before, now)
		if got := refusedFor(err); got != want || !changes.Empty() {
			t.Errorf("%+v: %v, want %q", lines, err, want)
		}
	}
}
