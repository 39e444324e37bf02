package commerce

import "testing"

// SameFacts and the digests agree, whichever value differs.
func TestSameFacts(t *testing.T) {
	whole := Item{Product: Product{ID: "p", StoreID: "s", Description: "d", SKU: "k", FeaturedImage: "f", Images: []string{"a", "b"}},
		Stock: Stock{Name: "n", CategoryID: "c", PriceCents: 5, Quantity: 7}}
	for name, change := range map[string]func(*Item){
		"nothing": func(*Item) {}, "quantity": func(i *Item) { i.Stock.Quantity++ }, "time": func(i *Item) { i.Stock.UpdatedOn++ }, "source": func(i *Item) { i.Source = "x" },
		"name": func(i *Item) { i.Stock.Name += "x" }, "description": func(i *Item) { i.Description = "" }, "sku": func(i *Item) { i.SKU = "x" },
		"category": func(i *Item) { i.Stock.CategoryID = "" }, "price": func(i *Item) { i.Stock.PriceCents++ }, "active": func(i *Item) { i.Stock.Active = true },
		"hot": func(i *Item) { i.Hot = true }, "picture": func(i *Item) { i.FeaturedImage = "" }, "order": func(i *Item) { i.Images = []string{"b", "a"} },
		"no pictures": func(i *Item) { i.Images = nil },
	} {
		changed := whole
		change(&changed)
		if same := whole.SameFacts(changed); same != (whole.Facts() == changed.Facts()) {
			t.Errorf("%s: the same: %v", name, same)
		}
	}
	none, empty := Item{}, Item{Product: Product{Images: []string{}}}
	if !none.SameFacts(empty) || none.Facts() != empty.Facts() {
		t.Error("no pictures and an empty list of them differ")
	}
}
