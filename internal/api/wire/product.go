package wire

import (
	"strconv"

	"purveyor/internal/commerce"
)

// AppendProduct appends the read shape (SPEC, Product).
func AppendProduct(b []byte, p commerce.Item) []byte {
	b = AppendString(append(b, `{"id":`...), p.ID)
	b = AppendString(append(b, `,"name":`...), p.Stock.Name)
	b = appendIfAny(b, `,"description":`, p.Description)
	b = AppendString(append(b, `,"store_id":`...), p.StoreID)
	b = appendIfAny(b, `,"category_id":`, p.Stock.CategoryID)
	b = strconv.AppendInt(append(b, `,"price":`...), int64(p.Stock.PriceCents), 10)
	b = appendIfAny(b, `,"sku":`, p.SKU)
	b = strconv.AppendBool(append(b, `,"active":`...), p.Stock.Active)
	b = strconv.AppendInt(append(b, `,"available_quantity":`...), p.Stock.Quantity, 10)
	b = appendImages(b, p)
	b = strconv.AppendInt(append(b, `,"updated_on":`...), int64(p.Stock.UpdatedOn), 10)
	return append(b, '}')
}

// AppendUpserted appends the upsert response shape (SPEC, Product), whose
// price and sold_amount are in major units.
func AppendUpserted(b []byte, p commerce.Item) []byte {
	b = AppendString(append(b, `{"id":`...), p.ID)
	b = AppendString(append(b, `,"name":`...), p.Stock.Name)
	b = AppendString(append(b, `,"description":`...), p.Description)
	b = AppendString(append(b, `,"store_id":`...), p.StoreID)
	b = AppendString(append(b, `,"category_id":`...), p.Stock.CategoryID)
	b = appendImages(b, p)
	b = strconv.AppendBool(append(b, `,"active":`...), p.Stock.Active)
	b = strconv.AppendBool(append(b, `,"hot":`...), p.Hot)
	b = commerce.AppendMajor(append(b, `,"price":`...), p.Stock.PriceCents)
	b = strconv.AppendInt(append(b, `,"available_quantity":`...), p.Stock.Quantity, 10)
	b = AppendString(append(b, `,"sku":`...), p.SKU)
	b = strconv.AppendInt(append(b, `,"sold_count":`...), p.Stock.SoldCount, 10)
	b = commerce.AppendMajor(append(b, `,"sold_amount":`...), p.Stock.SoldCents)
	b = strconv.AppendInt(append(b, `,"created_on":`...), int64(p.CreatedOn), 10)
	b = strconv.AppendInt(append(b, `,"updated_on":`...), int64(p.Stock.UpdatedOn), 10)
	b = appendOrNull(append(b, `,"source":`...), p.Source)
	return append(b, '}')
}

func appendImages(b []byte, p commerce.Item) []byte {
	b = appendOrNull(append(b, `,"featured_image":`...), p.FeaturedImage)
	b = append(b, `,"images":[`...)
	for i, image := range p.Images {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, image)
	}
	return append(b, ']')
}

// appendIfAny appends a member, unless its text is empty. name has the comma and colon
// around it.
func appendIfAny(b []byte, name, v string) []byte {
	if v == "" {
		return b
	}
	return AppendString(append(b, name...), v)
}

// appendOrNull appends null for an empty string.
func appendOrNull(b []byte, v string) []byte {
	if v == "" {
		return append(b, "null"...)
	}
	return AppendString(b, v)
}
