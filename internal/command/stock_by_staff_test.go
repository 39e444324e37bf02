package command

import (
	"errors"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// refusalOf is the code of a refusal.
func refusalOf(err error) string {
	if refusal, ok := errors.AsType[*commerce.Error](err); ok {
		return refusal.Code
	}
	return ""
}

func TestCountStock(t *testing.T) {
	for _, c := range []struct {
		name       string
		counted    int64
		reason     string
		moves      int64 // that the form was made from
		refused    string
		difference int64
		moved      bool
	}{
		{"fewer", 3, "shelf", 4, "", -2, true},
		{"more, unchecked", 9, "shelf", 0, "", 4, true},
		{"as recorded", 5, "shelf", 4, "", 0, true},
		{"none left", 0, "shelf", 4, "", -5, true},
		{"negative", -1, "shelf", 4, "invalid_body", 0, false},
		{"too many", commerce.MaxStock + 1, "shelf", 4, "invalid_body", 0, false},
		{"without a reason", 3, "", 4, "invalid_body", 0, false},
		{"from before a sale", 3, "shelf", 3, "changed_meanwhile", 0, false},
		{"from before a sale, but right", 5, "shelf", 3, "", 0, false},
	} {
		have := commerce.Changes{Stock: []commerce.Stock{{StoreID: "s", ProductID: "a", Name: "Rye", Quantity: 5, Moves: 4, MovedOn: 8, SoldCount: 7}}}
		cmd := CountStock{Actor: byStaff, Product: commerce.ProductKey{StoreID: "s", ProductID: "a"}, Counted: c.counted, Reason: c.reason, Moves: c.moves}
		rows := fill(cmd.Needs(), have)
		done, changes, err := cmd.Decide(rows, now)
		if refusalOf(err) != c.refused || done.Difference() != c.difference || (len(changes.Stock) == 1) != c.moved || len(changes.Stock) != len(changes.StockMoves) {
			t.Errorf("%s: %+v, %+v, %v", c.name, done, changes, err)
			continue
		}
		if !c.moved {
			continue
		}
		schema.Apply(rows, &changes) // panics if the move does not explain the change
		s, m := changes.Stock[0], changes.StockMoves[0]
		if s.Quantity != c.counted || s.SoldCount != 7 || s.UpdatedOn != now || m.Kind != commerce.MoveCounted || m.Delta != c.difference || m.Seq != 5 ||
			m.Note == nil || m.Note.Actor != "staff:usr_1" || m.Note.Reason != "shelf" {
			t.Errorf("%s: %+v, %+v", c.name, s, m)
		}
	}
	unknown := CountStock{Product: commerce.ProductKey{StoreID: "s", ProductID: "x"}, Reason: "r"}
	if _, _, err := decided(unknown, commerce.Changes{}, now); refusalOf(err) != "not_found" {
		t.Errorf("of an unknown product: %v", err)
	}
}

// theProduct is a product with a store and a category.
func theProduct() (commerce.Changes, commerce.Item) {
	item := commerce.Item{Product: commerce.Product{StoreID: "s", ID: "a", Description: "d", Source: commerce.SourcePartner},
		Stock: commerce.Stock{StoreID: "s", ProductID: "a", Name: "Rye", CategoryID: "c", PriceCents: 100, Active: true, Quantity: 5, Moves: 2, MovedOn: 8, UpdatedOn: 9}}
	return commerce.Changes{Stores: []commerce.Store{{ID: "s"}}, Categories: []commerce.Category{{ID: "c", Name: "C", Active: true}},
		Products: []commerce.Product{item.Product}, Stock: []commerce.Stock{item.Stock}}, item
}

// TestEditProduct: staff edit the facts that they saw. Sales since then do not matter, and
// an edit that is sent twice changes nothing.
func TestEditProduct(t *testing.T) {
	have, item := theProduct()
	sold := item
	sold.Stock.Quantity, sold.Stock.UpdatedOn, sold.Stock.SoldCount = 1, 99, 4
	renamed := item
	renamed.Stock.Name = "Rye loaf"
	other := item
	other.Stock.Active = false
	for _, c := range []struct {
		name, to, category string
		facts, refused     string
		changed            bool
	}{
		{"a new name", "Rye loaf", "c", item.Facts(), "", true},
		{"after a sale", "Rye loaf", "c", sold.Facts(), "", true},
		{"unchecked", "Rye loaf", "c", "", "", true},
		{"no category", "Rye", "", item.Facts(), "", true},
		{"another category", "Rye", "x", item.Facts(), "invalid_body", false},
		{"as it is", "Rye", "c", item.Facts(), "", false},
		{"sent twice", "Rye", "c", renamed.Facts(), "", false},
		{"switched off meanwhile", "Rye loaf", "c", other.Facts(), "changed_meanwhile", false},
	} {
		cmd := UpsertProduct{Actor: byStaff, ID: "a", StoreID: "s", Name: c.to, CategoryID: c.category, Facts: c.facts}
		rows := fill(cmd.Needs(), have)
		got, changes, err := cmd.Decide(rows, now)
		if refusalOf(err) != c.refused || (len(changes.Stock) == 1) != c.changed || len(changes.StockMoves) != 0 {
			t.Errorf("%s: %+v, %v", c.name, changes, err)
		}
		if err == nil && (got.Stock.Name != c.to || got.Stock.CategoryID != c.category || got.Source != commerce.SourcePartner || got.Stock.Quantity != 5) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	made := UpsertProduct{Actor: byStaff, Create: true, ID: "b", StoreID: "s", Name: "New", Quantity: new(int64(3))}
	got, changes, err := decided(made, have, now)
	if err != nil || got.Source != "" || !got.Stock.Active || len(changes.StockMoves) != 1 || changes.StockMoves[0].Kind != commerce.MoveOpened || changes.StockMoves[0].Note.Actor != "staff:usr_1" {
		t.Errorf("a new product: %+v, %+v, %v", got, changes, err)
	}
}

// TestFacts: each thing that people edit is in the digest, and nothing that a sale changes.
func TestFacts(t *testing.T) {
	_, item := theProduct()
	seen := map[string]string{item.Facts(): "the product"}
	for name, change := range map[string]func(*commerce.Item){
		"name": func(p *commerce.Item) { p.Stock.Name = "x" }, "description": func(p *commerce.Item) { p.Description = "x" },
		"sku": func(p *commerce.Item) { p.SKU = "x" }, "category": func(p *commerce.Item) { p.Stock.CategoryID = "x" },
		"price": func(p *commerce.Item) { p.Stock.PriceCents++ }, "active": func(p *commerce.Item) { p.Stock.Active = false },
		"hot": func(p *commerce.Item) { p.Hot = true }, "picture": func(p *commerce.Item) { p.FeaturedImage = "x" },
		"pictures": func(p *commerce.Item) { p.Images = []string{"x"} }, "two pictures": func(p *commerce.Item) { p.Images = []string{"x", "y"} },
		"a picture with a space": func(p *commerce.Item) { p.Images = []string{"x y"} },
	} {
		other := item
		change(&other)
		if same, twice := seen[other.Facts()]; twice {
			t.Errorf("%s has the digest of %s", name, same)
		}
		seen[other.Facts()] = name
	}
	item.Stock.Quantity, item.Stock.Moves, item.Stock.MovedOn, item.Stock.SoldCount, item.Stock.SoldCents, item.Stock.UpdatedOn = 9, 9, 9, 9, 9, 9
	if seen[item.Facts()] != "the product" {
		t.Error("a sale changes the digest")
	}
	item.Images = []string{}
	if seen[item.Facts()] != "the product" {
		t.Error("an empty list of pictures is not as good as none")
	}
}

func TestUpdateCategory(t *testing.T) {
	have := commerce.Changes{Categories: []commerce.Category{{ID: "c", Name: "Bread", Active: true}}}
	was := have.Categories[0]
	for _, c := range []struct {
		name, id, to, facts, refused string
		changed                      bool
	}{
		{"renamed", "c", "Loaves", was.Facts(), "", true},
		{"as it is", "c", "Bread", "older", "", false},
		{"changed meanwhile", "c", "Loaves", "older", "changed_meanwhile", false},
		{"unknown", "x", "Loaves", "", "not_found", false},
	} {
		cmd := UpdateCategory{ID: c.id, Name: c.to, Active: true, Facts: c.facts}
		_, changes, err := decided(cmd, have, now)
		if refusalOf(err) != c.refused || (len(changes.Categories) == 1) != c.changed {
			t.Errorf("%s: %+v, %v", c.name, changes, err)
		}
	}
}

// TestImportFromPreview: an import that was prepared from other rows is refused as a whole.
func TestImportFromPreview(t *testing.T) {
	have, item := theProduct()
	other := item
	other.Description = "changed"
	for _, c := range []struct {
		name, facts string
		was         *int64
		refused     bool
	}{
		{"unchecked", "", nil, false},
		{"as it is", item.Facts(), new(int64(5)), false},
		{"edited meanwhile", other.Facts(), new(int64(5)), true},
		{"sold meanwhile", item.Facts(), new(int64(6)), true},
		{"made meanwhile", commerce.Item{}.Facts(), nil, true},
	} {
		cmd := ImportCatalog{Products: []ImportProduct{
			{ID: "a", StoreID: "s", Name: "Rye", Quantity: new(int64(7)), CategoryID: new(""), Facts: c.facts, Was: c.was},
			{ID: "b", StoreID: "s", Name: "New", PriceCents: new(commerce.Cents(1)), Facts: commerce.Item{}.Facts()}}}
		_, changes, err := decided(cmd, have, now)
		refused, _ := errors.AsType[*ImportRefused](err)
		if (refused != nil) != c.refused || refused == nil && (err != nil || len(changes.Products) != 2 || changes.Stock[0].CategoryID != "") {
			t.Errorf("%s: %+v, %v", c.name, changes, err)
		}
		if refused != nil && (len(refused.Problems) != 1 || refused.Problems[0].Path != "products[0].id" || len(changes.Products) != 0) {
			t.Errorf("%s: %+v, %+v", c.name, refused, changes)
		}
	}
}
