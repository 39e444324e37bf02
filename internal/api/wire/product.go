package wire

import "purveyor/internal/commerce"

// AppendProduct appends the read shape (SPEC, Product).
func AppendProduct(b []byte, p commerce.Item) []byte {
	o := open(b)
	o.str("id", p.ID)
	o.str("name", p.Stock.Name)
	o.optStr("description", p.Description)
	o.str("store_id", p.StoreID)
	o.optStr("category_id", p.Stock.CategoryID)
	o.num("price", int64(p.Stock.PriceCents))
	o.optStr("sku", p.SKU)
	o.bool("active", p.Stock.Active)
	o.num("available_quantity", p.Stock.Quantity)
	o.nullStr("featured_image", p.FeaturedImage)
	o.strings("images", p.Images)
	o.num("updated_on", int64(p.Stock.UpdatedOn))
	return o.close()
}

// AppendUpserted appends the upsert response shape (SPEC, Product), whose
// price and sold_amount are in major units.
func AppendUpserted(b []byte, p commerce.Item) []byte {
	o := open(b)
	o.str("id", p.ID)
	o.str("name", p.Stock.Name)
	o.str("description", p.Description)
	o.str("store_id", p.StoreID)
	o.str("category_id", p.Stock.CategoryID)
	o.nullStr("featured_image", p.FeaturedImage)
	o.strings("images", p.Images)
	o.bool("active", p.Stock.Active)
	o.bool("hot", p.Hot)
	o.raw("price", commerce.AppendMajor(nil, p.Stock.PriceCents))
	o.num("available_quantity", p.Stock.Quantity)
	o.str("sku", p.SKU)
	o.num("sold_count", p.Stock.SoldCount)
	o.raw("sold_amount", commerce.AppendMajor(nil, p.Stock.SoldCents))
	o.num("created_on", int64(p.CreatedOn))
	o.num("updated_on", int64(p.Stock.UpdatedOn))
	o.nullStr("source", p.Source)
	return o.close()
}
