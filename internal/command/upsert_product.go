package command

import (
	"cmp"

	"purveyor/internal/commerce"
)

// UpsertProduct creates or updates a product, for a partner or for staff. On update, nil fields keep
// their values; defaults apply on create only.
type UpsertProduct struct {
	Actor         commerce.Actor
	ID            string
	Create        bool // the ID was drawn for a new product
	StoreID       string
	CategoryID    string // empty: none
	Name          string
	Description   *string
	FeaturedImage *string
	Images        *[]string
	Active        *bool
	Hot           *bool
	PriceCents    *commerce.Cents
	Quantity      *int64 // absolute stock, not a delta
	Expected      *int64 // the stored quantity; nil: any. A new product has 0
	SKU           *string
	SoldCount     *int64
	SoldCents     *commerce.Cents
	CreatedOn     *commerce.Millis
	// Facts is the digest of the product that the change was made from; empty: it is not
	// checked. A change with a digest that finds its values stored changes nothing.
	Facts string
}

func (c UpsertProduct) key() commerce.ProductKey {
	return commerce.ProductKey{StoreID: c.StoreID, ProductID: c.ID}
}

// Needs names the product, its stock and store, the category, and the partner.
func (c UpsertProduct) Needs() commerce.Needs {
	keys := []commerce.ProductKey{c.key()}
	return commerce.Needs{
		Partners: []string{c.Actor.PartnerID()}, Stores: []string{c.StoreID}, Categories: []string{c.CategoryID},
		ProductStores: []string{c.ID}, Products: keys, Stock: keys,
	}
}

// Decide records a stock move for a new product, and where the quantity
// changes. It refuses with 404 an id that is not known, with 403 a product of a
// store or a store that the key may not use, and with 400 another store than the
// product's, a category or store that is not known, and images that are too long. It
// refuses with 409 a change that was made from other facts than the stored ones, or that
// expects another quantity.
func (c UpsertProduct) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Item, commerce.Changes, error) {
	if err := c.check(rows); err != nil {
		return commerce.Item{}, commerce.Changes{}, err
	}
	product, _ := rows.Products.Get(c.key())
	stock, _ := rows.Stock.Get(c.key())
	was := commerce.Item{Product: product, Stock: stock}
	item, moves, err := c.merge(was, commerce.MoveSet, c.Actor.Name(), now)
	if err == nil {
		was.Stock.Name = cmp.Or(was.Stock.Name, c.Name) // of a new product
		err = was.Stock.Expect(c.Expected)
	}
	if err != nil {
		return commerce.Item{}, commerce.Changes{}, err
	}
	if c.Facts != "" && item.Facts() == was.Facts() && len(moves) == 0 {
		return was, commerce.Changes{}, nil
	}
	if err := was.CheckFacts(c.Facts); err != nil {
		return commerce.Item{}, commerce.Changes{}, err
	}
	if c.Create && c.Actor.Kind != commerce.ActorStaff {
		item.Source = commerce.SourcePartner
	}
	return item, commerce.Changes{Products: []commerce.Product{item.Product}, Stock: []commerce.Stock{item.Stock}, StockMoves: moves}, nil
}

// merge returns the stored item with the given values, or the new item. A new item and a
// changed quantity have a stock move, for which actor is noted. kind is that of a change.
func (c UpsertProduct) merge(item commerce.Item, kind commerce.MoveKind, actor string, now commerce.Millis) (commerce.Item, []commerce.StockMove, error) {
	if c.Create {
		kind = commerce.MoveOpened
		item.Product = commerce.Product{StoreID: c.StoreID, ID: c.ID, CreatedOn: now}
		item.Stock = commerce.Stock{StoreID: c.StoreID, ProductID: c.ID, Active: true}
	}
	product, stock, was := &item.Product, &item.Stock, item.Stock
	if c.Images != nil {
		if err := product.CheckImages(*c.Images); err != nil {
			return item, nil, err
		}
	}
	set(&product.Description, c.Description)
	set(&product.FeaturedImage, c.FeaturedImage)
	set(&product.Images, c.Images)
	set(&product.Hot, c.Hot)
	set(&product.SKU, c.SKU)
	set(&product.CreatedOn, c.CreatedOn)
	stock.Name, stock.CategoryID = c.Name, c.CategoryID
	set(&stock.PriceCents, c.PriceCents)
	set(&stock.Active, c.Active)
	set(&stock.Quantity, c.Quantity)
	set(&stock.SoldCount, c.SoldCount)
	set(&stock.SoldCents, c.SoldCents)
	stock.UpdatedOn = now
	if !c.Create && stock.Quantity == was.Quantity {
		return item, nil, nil
	}
	next, move := stock.MovedFrom(was, kind, now)
	item.Stock, move.Note = next, &commerce.StockNote{Actor: actor}
	return item, []commerce.StockMove{move}, nil
}

func (c UpsertProduct) check(rows *commerce.Rows) error {
	if err := c.Access(rows); err != nil {
		return err
	}
	if home, known := rows.ProductStores.Get(c.ID); known && home.StoreID != c.StoreID {
		return commerce.Invalid("store_id", "product %s belongs to another store and cannot be moved", c.ID)
	}
	if c.CategoryID == "" {
		return nil
	}
	if _, ok := rows.Categories.Get(c.CategoryID); !ok {
		return commerce.Invalid("category_id", "category %s is not known", c.CategoryID)
	}
	return nil
}

// Access refuses, in this order, a product that is not known (404), one of a
// store that the partner may not use (403), a store that is not known (400), and
// one that the partner may not use (403).
func (c UpsertProduct) Access(rows *commerce.Rows) error {
	stored, _ := rows.Partners.Get(c.Actor.PartnerID())
	partner := stored.Under(c.Actor.Key)
	home, known := rows.ProductStores.Get(c.ID)
	if !known && !c.Create {
		return commerce.NotFound("product")
	}
	if known {
		if err := partner.MayUse(home.StoreID); err != nil {
			return err
		}
	}
	if _, ok := rows.Stores.Get(c.StoreID); !ok {
		return commerce.Invalid("store_id", "store %s is not known", c.StoreID)
	}
	return partner.MayUse(c.StoreID)
}

// set overwrites *to if a value was given.
func set[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}
