package schema

import "purveyor/internal/commerce"

// Categories of products.
var Categories = Table[string, commerce.Category]{
	Name: "categories", Key: "id", Mutable: "name, active",
	KeyOf:       func(v *commerce.Category) string { return v.ID },
	BindKey:     bindText,
	BindMutable: func(b Binder, v *commerce.Category) { b.Text(v.Name).Bool(v.Active) },
	Scan: func(s Scanner, id string) commerce.Category {
		return commerce.Category{ID: id, Name: s.Text(), Active: s.Bool()}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Category] { return &r.Categories },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Categories },
	Changes: func(c *commerce.Changes) *[]commerce.Category { return &c.Categories },
	Lock:    LockOnRequest,
	Traits:  Traits{Shard: Everywhere, Collides: true},
}

// ProductStores has the store of each product. Rows.Prepare adds a row with each new
// product.
var ProductStores = Table[string, commerce.ProductStore]{
	Name: "product_stores", Key: "product_id", Fixed: "store_id",
	KeyOf:     func(v *commerce.ProductStore) string { return v.ProductID },
	BindKey:   bindText,
	BindFixed: func(b Binder, v *commerce.ProductStore) { b.Text(v.StoreID) },
	Scan: func(s Scanner, id string) commerce.ProductStore {
		return commerce.ProductStore{ProductID: id, StoreID: s.Text()}
	},
	Rows:   func(r *commerce.Rows) *commerce.Table[string, commerce.ProductStore] { return &r.ProductStores },
	Needs:  func(n *commerce.Needs) *[]string { return &n.ProductStores },
	Traits: Traits{Shard: "product_id", Collides: true},
}

// Products has the columns of a product that a sale does not read.
var Products = Table[commerce.ProductKey, commerce.Product]{
	Name: "products", Key: "store_id, id", Fixed: "source",
	Mutable:   "sku, hot, created_on, facts_on, description, featured_image, images",
	KeyOf:     func(v *commerce.Product) commerce.ProductKey { return v.Key() },
	BindKey:   bindProductKey,
	BindFixed: func(b Binder, v *commerce.Product) { b.Text(v.Source) },
	BindMutable: func(b Binder, v *commerce.Product) {
		b.Text(v.SKU).Bool(v.Hot).Int(int64(v.CreatedOn)).Int(int64(v.FactsOn)).
			Text(v.Description).Text(v.FeaturedImage).JSON(encode(v.Images))
	},
	Scan: func(s Scanner, k commerce.ProductKey) commerce.Product {
		return commerce.Product{StoreID: k.StoreID, ID: k.ProductID, Source: s.Text(),
			SKU: s.Text(), Hot: s.Bool(), CreatedOn: millis(s), FactsOn: millis(s), Description: s.Text(), FeaturedImage: s.Text(), Images: decode[[]string](s, "list")}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.ProductKey, commerce.Product] { return &r.Products },
	Needs:   func(n *commerce.Needs) *[]commerce.ProductKey { return &n.Products },
	Changes: func(c *commerce.Changes) *[]commerce.Product { return &c.Products },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id", Collides: true},
}
