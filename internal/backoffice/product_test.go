package backoffice

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// lastMove is the newest stock move of a product.
func (o *office) lastMove(n int) commerce.StockMove {
	o.t.Helper()
	moves, err := o.Reader.StockMoves(context.Background(), fixture.ProductKey(n), o.Stock(n).NewestMove(), 1)
	if err != nil || len(moves) == 0 {
		o.t.Fatal(moves, err)
	}
	return moves[0]
}

// mustHave checks that a page has texts, and that of those after "-" it has none.
func mustHave(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if not, absent := strings.CutPrefix(text, "-"); absent {
			if strings.Contains(page, not) {
				t.Errorf("the page has %q:\n%s", not, page)
			}
		} else if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
}

// TestProductRights goes through every page of products with every role, and with an owner of
// another store, which finds nothing.
func TestProductRights(t *testing.T) {
	o := openOffice(t)
	for _, r := range productRoutes {
		at := strings.ReplaceAll(r.path, "{id}", fixture.ProductID(0))
		if strings.HasPrefix(at, categoriesPath+"/") {
			at = categoriesPath + "/" + fixture.CategoryID
		}
		send := func(user string) (status int, page string) {
			if r.method == get {
				return o.get(user, at)
			}
			return o.post(user, at, "product", fixture.ProductID(0), "store", fixture.StoreID)
		}
		for _, role := range commerce.Roles {
			status, page := send(string(role))
			may := role.Has(r.may)
			if r.method == post && strings.HasPrefix(at, categoriesPath) {
				may = false // it takes a grant for all stores
			}
			if may == (status == http.StatusForbidden) || status == http.StatusInternalServerError {
				t.Errorf("%s %s by a %s: %d\n%s", r.method, at, role, status, page)
			}
		}
		if status, _ := send("boss"); status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusInternalServerError {
			t.Errorf("%s %s by the boss: %d", r.method, at, status)
		}
		if !strings.Contains(r.path, "{id}") || strings.HasPrefix(r.path, categoriesPath) {
			continue
		}
		if status, page := send("elsewhere"); status != http.StatusNotFound || strings.Contains(page, "Rye") {
			t.Errorf("%s %s by an owner of another store: %d", r.method, at, status)
		}
	}
	for _, at := range []string{"", "/new", "/export"} {
		if status, _ := o.get("elsewhere", productsPath+at+"?store="+fixture.StoreID); status != http.StatusNotFound {
			t.Errorf("%s of a foreign store: %d", at, status)
		}
	}
	for _, at := range []string{stockPath, stockPath + "/check"} {
		if status, _ := o.get("elsewhere", at+"?store="+fixture.StoreID); status != http.StatusNotFound {
			t.Errorf("%s of a foreign store: %d", at, status)
		}
	}
	if status, _ := o.post("elsewhere", stockPath+"/repair", "product", fixture.ProductID(0), "reason", "r"); status != http.StatusNotFound {
		t.Errorf("a repair in a foreign store: %d", status)
	}
	if status, _ := o.post("elsewhere", productsPath+"/new", "store", fixture.StoreID, "name", "x", "price", "1"); status != http.StatusNotFound {
		t.Errorf("a new product in a foreign store: %d", status)
	}
	_, page := o.get("viewer", productPath(fixture.ProductID(0)))
	mustHave(t, page, "Rye", "-Switch off", "-/count", "-/edit")
	_, page = o.get("elsewhere", productsPath)
	mustHave(t, page, "-Rye", "No products yet")
}

// TestCountAndAdjust: from the list, a count takes a link and a button. A second click changes
// nothing and says the same; a count from before a sale is refused and keeps what was typed.
func TestCountAndAdjust(t *testing.T) {
	o := openOffice(t)
	path := productPath(fixture.ProductID(0))
	_, list := o.get("manager", productsPath)
	mustHave(t, list, `<a href="`+path+`#count">Count</a>`)
	_, page := o.get("manager", path)
	stale := hidden(t, page, "moves")
	count := []string{"key", hidden(t, page, "key"), "moves", stale, "counted", "97", "reason", "Weekly count"}
	for range 2 {
		if status, to := o.post("manager", path+"/count", count...); status != http.StatusSeeOther || to != path {
			t.Fatalf("%d %s", status, to)
		}
	}
	if s, m := o.Stock(0), o.lastMove(0); s.Quantity != 97 || s.Moves != 2 || m.Kind != commerce.MoveCounted || m.Delta != -3 || m.Note.Actor != "staff:usr_manager" || m.Note.Reason != "Weekly count" {
		t.Errorf("%+v, %+v", s, m)
	}
	_, page = o.get("manager", path)
	mustHave(t, page, "Pieces in stock after each move", "</svg>", "Counted: Weekly count", "The manager", `data-word="Change">-3</td>`)
	sold := fixture.Do(o.Shop, o.Report(0, 2))
	status, page := o.post("manager", path+"/count", "key", "another", "moves", hidden(t, page, "moves"), "counted", "90", "reason", "After <b>lunch</b>")
	mustHave(t, page, "moved since this form was opened: it is 95 now", `value="90"`, "After &lt;b&gt;lunch", `href="/office/orders/`+sold.ID+`"`)
	if status != http.StatusConflict || o.Stock(0).Quantity != 95 {
		t.Errorf("%d, %d are left", status, o.Stock(0).Quantity)
	}
	if status, _ = o.post("manager", path+"/count", "key", "another", "moves", hidden(t, page, "moves"), "counted", "90", "reason", "r"); status != http.StatusSeeOther || o.Stock(0).Quantity != 90 {
		t.Errorf("sent once more: %d, %d are left", status, o.Stock(0).Quantity)
	}
	for _, c := range []struct {
		act, field, value, reason string
		status                    int
		says                      string
	}{
		{"count", "counted", "-1", "r", 400, "cannot be negative"},
		{"count", "counted", "many", "r", 400, "whole number"},
		{"count", "counted", "3", " ", 400, "give a reason"},
		{"adjust", "delta", "0", "r", 400, "how many pieces"},
		{"adjust", "delta", "5", "", 400, "give a reason"},
		{"adjust", "delta", "-91", "r", 409, "available 90"},
	} {
		status, page := o.post("manager", path+"/"+c.act, c.field, c.value, "reason", c.reason)
		if status != c.status || o.Stock(0).Quantity != 90 {
			t.Errorf("%+v: %d", c, status)
		}
		mustHave(t, page, c.says, `value="`+c.value+`"`)
	}
	adjust := []string{"key", "k3", "delta", "-4", "reason", "Damaged", "reference", "note 7"}
	for range 2 {
		if status, _ := o.post("manager", path+"/adjust", adjust...); status != http.StatusSeeOther {
			t.Errorf("%d", status)
		}
	}
	if m := o.lastMove(0); o.Stock(0).Quantity != 86 || m.Kind != commerce.MoveAdjusted || m.Note.ExternalReference != "note 7" || m.Note.Actor != "staff:usr_manager" {
		t.Errorf("%+v", m)
	}
}

// TestEditProduct: an edit survives sales, one that was overtaken comes back with what was typed
// and what is stored, and texts of partners are no HTML.
func TestEditProduct(t *testing.T) {
	o := openOffice(t)
	path := productPath(fixture.ProductID(0))
	_, page := o.get("manager", path+"/edit")
	facts := hidden(t, page, "facts")
	fixture.Do(o.Shop, o.Report(0, 1)) // a sale is no conflict
	const hostile = `<script>alert(1)</script>"'&`
	first := []string{"facts", facts, "name", "Rye " + hostile, "price", "13.50", "category", fixture.CategoryID, "description", hostile, "sku", hostile,
		"featured_image", "javascript:alert(1)", "images", "https://pictures.example/1\r\n\r\nhttps://pictures.example/2", "active", "yes", "hot", "yes"}
	for range 2 {
		if status, to := o.post("manager", path+"/edit", first...); status != http.StatusSeeOther || to != path {
			t.Fatalf("%d %s", status, to)
		}
	}
	item, _, err := o.Reader.Product(context.Background(), fixture.ProductID(0))
	if err != nil || item.Stock.PriceCents != 1350 || item.Description != hostile || len(item.Images) != 2 || !item.Hot || item.Stock.CategoryID != fixture.CategoryID || item.Stock.Quantity != 99 {
		t.Errorf("%+v, %v", item, err)
	}
	for _, at := range []string{path, path + "/edit", productsPath, stockPath + "?low=1000"} {
		status, page := o.get("manager", at)
		mustHave(t, page, "-<script>alert", `-href="javascript`, "-<img", "&lt;script&gt;")
		if status != http.StatusOK {
			t.Errorf("%s: %d", at, status)
		}
	}
	_, page = o.get("viewer", path)
	mustHave(t, page, "at pictures.example", "Bread")
	status, page := o.post("manager", path+"/edit", "facts", facts, "name", "Another name", "price", "1", "description", "my text")
	mustHave(t, page, "was changed since this form was opened", `value="Another name"`, "my text", "What is stored now", "<dd>13.50</dd>", "<dd>Bread</dd>")
	if status != http.StatusConflict {
		t.Errorf("%d", status)
	}
	if status, _ = o.post("manager", path+"/edit", "facts", hidden(t, page, "facts"), "name", "Another name", "price", "1"); status != http.StatusSeeOther || o.Stock(0).Name != "Another name" || o.Stock(0).Active {
		t.Errorf("sent once more: %d, %+v", status, o.Stock(0))
	}
	for field, value := range map[string]string{"name": " ", "price": "cheap", "category": "cat_none", "sku": strings.Repeat("x", 256)} {
		fields := []string{"name", "Oat", "price", "2", "description", "kept", field, value}
		if field == "name" || field == "price" {
			fields = append([]string{field, value}, fields...)
		}
		status, page := o.post("manager", path+"/edit", fields...)
		mustHave(t, page, "kept", `class="field bad"`)
		if status != http.StatusBadRequest {
			t.Errorf("%s: %d", field, status)
		}
	}
}

// TestSwitch: a product is switched off and on with one button each.
func TestSwitch(t *testing.T) {
	o := openOffice(t)
	path := productPath(fixture.ProductID(1))
	for _, active := range []string{"no", "yes"} {
		_, page := o.get("manager", path)
		for range 2 {
			if status, _ := o.post("manager", path+"/switch", "active", active, "facts", hidden(t, page, "facts")); status != http.StatusSeeOther {
				t.Errorf("%s: %d", active, status)
			}
		}
		if s := o.Stock(1); s.Active != (active == "yes") || s.PriceCents != fixture.Price || s.Quantity != 100 {
			t.Errorf("%+v", s)
		}
	}
	if status, page := o.post("manager", path+"/switch", "active", "no", "facts", "of another time"); status != http.StatusConflict || !strings.Contains(page, "was changed") {
		t.Errorf("from a stale page: %d", status)
	}
}

// TestNewProduct: a double click makes one product, which is the merchant's own.
func TestNewProduct(t *testing.T) {
	o := openOffice(t)
	_, page := o.get("manager", productsPath+"/new")
	form := []string{"key", hidden(t, page, "key"), "store", fixture.StoreID, "name", "Oat", "price", "$4.5", "quantity", "12", "active", "yes"}
	var places []string
	for range 2 {
		status, to := o.post("manager", productsPath+"/new", form...)
		if status != http.StatusSeeOther {
			t.Fatalf("%d %s", status, to)
		}
		places = append(places, to)
	}
	if places[0] != places[1] {
		t.Errorf("a double click leads to %v", places)
	}
	_, page = o.get("viewer", places[0])
	mustHave(t, page, "Oat", "$4.50", "<strong>12</strong>", "The merchant", "Opened")
	_, page = o.get("viewer", productsPath+"?text=oat")
	if strings.Count(page, ">Oat</a>") != 1 {
		t.Errorf("the list:\n%s", page)
	}
	status, page := o.post("manager", productsPath+"/new", "store", fixture.StoreID, "name", "Oat", "price", "1", "quantity", "-1", "description", "kept")
	mustHave(t, page, "kept", "below zero")
	if status != http.StatusBadRequest {
		t.Errorf("%d", status)
	}
}

func TestCategories(t *testing.T) {
	o := openOffice(t)
	if status, page := o.post("manager", categoriesPath, "name", "Cakes"); status != http.StatusForbidden || !strings.Contains(page, "write_products") {
		t.Errorf("by a manager of one store: %d\n%s", status, page)
	}
	_, page := o.get("boss", categoriesPath)
	for range 2 {
		if status, _ := o.post("boss", categoriesPath, "key", hidden(t, page, "key"), "name", "Cakes"); status != http.StatusSeeOther {
			t.Errorf("%d", status)
		}
	}
	facts := hidden(t, page, "facts")
	if status, _ := o.post("boss", categoriesPath+"/"+fixture.CategoryID, "facts", facts, "name", "Loaves <b>"); status != http.StatusSeeOther {
		t.Errorf("%d", status)
	}
	status, page := o.post("boss", categoriesPath+"/"+fixture.CategoryID, "facts", facts, "name", "Rolls", "active", "yes")
	mustHave(t, page, `value="Rolls"`, "Loaves &lt;b&gt;", "was changed since")
	if status != http.StatusConflict || strings.Count(page, ">Cakes</a>") != 1 {
		t.Errorf("%d\n%s", status, page)
	}
	if status, _ := o.post("boss", categoriesPath+"/cat_none", "name", "x"); status != http.StatusNotFound {
		t.Errorf("an unknown category: %d", status)
	}
	_, page = o.get("viewer", categoriesPath)
	mustHave(t, page, "Switched off", "-<form method=\"post\" action=\"/office/categories")
}

// TestProductList walks a catalog by its links, with filters.
func TestProductList(t *testing.T) {
	o := openOffice(t)
	catalog := command.ImportCatalog{Stores: []command.ImportStore{{ID: "sto_2", Name: "Two"}}}
	for i := range 120 {
		catalog.Products = append(catalog.Products, command.ImportProduct{ID: fmt.Sprintf("prd_n%03d", i), StoreID: []string{fixture.StoreID, "sto_2"}[i%2], Name: fmt.Sprintf("Loaf %03d", i),
			PriceCents: new(commerce.Cents(1)), Quantity: new(int64(i)), Active: new(i%3 > 0)})
	}
	fixture.Do(o.Shop, catalog)
	walk := func(user, path string) (names int) {
		for path != "" {
			status, page := o.get(user, path)
			if status != http.StatusOK {
				t.Fatalf("%s: %d\n%s", path, status, page)
			}
			names += strings.Count(page, ">Loaf ")
			_, more, _ := strings.Cut(page, `<nav class="more">`)
			_, more, _ = strings.Cut(more, `<a href="`)
			more, _, _ = strings.Cut(more, `"`)
			base, _, _ := strings.Cut(path, "?")
			if path = ""; more != "" {
				path = base + strings.ReplaceAll(more, "&amp;", "&")
			}
		}
		return names
	}
	for _, c := range []struct {
		user, query string
		want        int
	}{
		{"boss", "", 120}, {"viewer", "", 60}, {"elsewhere", "", 0}, {"boss", "?store=sto_2", 60}, {"boss", "?low=9", 10}, {"boss", "?active=yes", 80}, {"boss", "?active=no&store=sto_2", 20},
		{"boss", "?text=loaf+01", 10}, {"boss", "?category=cat_1", 0}, {"boss", "?text=prd_n007", 1}, {"viewer", "?text=prd_n007", 0}, {"boss", "?low=x", 120},
	} {
		if got := walk(c.user, productsPath+c.query); got != c.want {
			t.Errorf("%s sees %d products of %q, want %d", c.user, got, c.query, c.want)
		}
	}
	if got := walk("boss", stockPath); got != 4 { // six have few pieces, of which two are off sale
		t.Errorf("%d products are low", got)
	}
}

// TestStockCheck: the page of the check says how far it is, shows each break with its form, and
// ends whole. A repair that is sent twice is one.
func TestStockCheck(t *testing.T) {
	o := openOffice(t)
	catalog := command.ImportCatalog{}
	for i := range 1100 {
		catalog.Products = append(catalog.Products, command.ImportProduct{ID: fmt.Sprintf("prd_n%04d", i), StoreID: fixture.StoreID, Name: "Loaf", PriceCents: new(commerce.Cents(1))})
	}
	fixture.Do(o.Shop, catalog)
	_, page := o.get("manager", stockPath+"/check")
	mustHave(t, page, "500 products are checked", "1000 products are checked", "1102 products with 1102 moves", "every chain is whole", "</html>", "-Repair")
	o.broken = fixture.ProductID(0)
	_, page = o.get("manager", stockPath+"/check?store="+fixture.StoreID)
	mustHave(t, page, "the quantity is 100, but the newest move leaves 99", `name="product" value="prd_0"`, "the moves of 1 do not lead", "</html>")
	if status, page := o.post("manager", stockPath+"/repair", "product", "prd_0", "reason", ""); status != http.StatusBadRequest || !strings.Contains(page, "give a reason") {
		t.Errorf("without a reason: %d", status)
	}
	for range 2 {
		if status, to := o.post("manager", stockPath+"/repair", "product", "prd_0", "reason", "A restored backup"); status != http.StatusSeeOther || to != stockPath+"/check?store="+fixture.StoreID {
			t.Errorf("%d %s", status, to)
		}
	}
	if m := o.lastMove(0); m.Kind != commerce.MoveRepaired || m.Seq != 2 || m.Note.Actor != "staff:usr_manager" || m.Note.Reason != "A restored backup" {
		t.Errorf("%+v", m)
	}
	_, page = o.get("manager", stockPath+"/check?all=yes")
	mustHave(t, page, "(repaired since)", "every chain is whole")
}

// TestStockCheckStreams: a browser sees how far the check is while it runs.
func TestStockCheckStreams(t *testing.T) {
	o := openOffice(t)
	catalog := command.ImportCatalog{}
	for i := range 700 {
		catalog.Products = append(catalog.Products, command.ImportProduct{ID: fmt.Sprintf("prd_n%04d", i), StoreID: fixture.StoreID, Name: "Loaf", PriceCents: new(commerce.Cents(1))})
	}
	fixture.Do(o.Shop, catalog)
	seen := make(chan struct{})
	o.reading = func(key commerce.ProductKey) {
		if key.ProductID == "prd_n0600" {
			<-seen
		}
	}
	answer, err := http.Get(o.serving("manager").URL + stockPath + "/check")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, part := "", make([]byte, 4096)
	for open := true; ; {
		n, err := answer.Body.Read(part)
		text += string(part[:n])
		if open && strings.Contains(text, "500 products are checked") {
			close(seen)
			open = false
		}
		if err != nil {
			break
		}
	}
	mustHave(t, text, "702 products with 702 moves", "</html>")
}

// holdGoods has checkouts of the store hold their goods.
func (o *office) holdGoods(minutes int64) {
	o.t.Helper()
	store, err := o.Reader.Store(o.t.Context(), fixture.StoreID)
	if err != nil {
		o.t.Fatal(err)
	}
	store.HoldMinutes = minutes
	fixture.Do(o.Shop, command.UpdateStore{Store: store})
}

// TestHeldGoods: the pages of the product and of the stock show what checkouts hold, and its
// history tells of it.
func TestHeldGoods(t *testing.T) {
	o := openOffice(t)
	_, page := o.get("manager", productPath(fixture.ProductID(0)))
	mustHave(t, page, "-held", "-Held")
	o.holdGoods(15)
	fixture.Do(o.Shop, o.Checkout(0, 2))
	_, page = o.get("manager", productPath(fixture.ProductID(0)))
	mustHave(t, page, "<dt>Held</dt><dd>2 for customers", "98 are recorded, without the 2 that are held: do not count them", `>-2 <small>2 held</small>`, ">Held</td>")
	_, page = o.get("manager", stockPath+"?low=100")
	mustHave(t, page, `data-word="Held">2</td>`)
	_, page = o.get("manager", Prefix+"/stores/"+fixture.StoreID)
	mustHave(t, page, "<dt>Checkouts hold goods</dt><dd>For 15 minutes</dd>")
}
