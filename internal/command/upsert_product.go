package command

import (
	"cmp"
	"errors"
	"slices"

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
	// BySKU finds the product by its store and SKU, or makes it. ID and Create stay empty.
	BySKU *SKUMatch
}

// SKUMatch names the products that an upsert by SKU may be about.
type SKUMatch struct {
	Found []string // had the SKU just before the batch: all, or two of several
	New   []string // the ids that a new product may get, as commerce.ProductIDOfSKU gives them
}

// ErrSKUsMoved means that other products than the command names may have its SKUs by now.
// The caller looks for them and tries again, with more ids for new products.
var ErrSKUsMoved = errors.New("the SKUs have changed meanwhile")

func (c UpsertProduct) key() commerce.ProductKey {
	return commerce.ProductKey{StoreID: c.StoreID, ProductID: c.ID}
}

// Needs names the product, its stock and store, the category, and the partner.
func (c UpsertProduct) Needs() commerce.Needs {
	ids := []string{c.ID}
	if c.BySKU != nil {
		ids = slices.Concat(c.BySKU.Found, c.BySKU.New)
	}
	n := commerce.Needs{Partners: []string{c.Actor.PartnerID()}, Stores: []string{c.StoreID}, Categories: []string{c.CategoryID}, ProductStores: ids}
	for _, id := range ids {
		n.Products = append(n.Products, commerce.ProductKey{StoreID: c.StoreID, ProductID: id})
	}
	n.Stock = n.Products
	return n
}

// Decide records a stock move for a new product, and where the quantity
// changes. It refuses with 404 an id that is not known, with 403 a product of a
// store or a store that the key may not use, and with 400 another store than the
// product's, a category or store that is not known, and images that are too long. It
// refuses with 409 a change that was made from other facts than the stored ones, one that
// expects another quantity, and a SKU that several products of the store have.
func (c UpsertProduct) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.Item, commerce.Changes, error) {
	done, err := c.decide(shelf{rows: rows}, now)
	if err != nil || done.unchanged {
		return done.Item, commerce.Changes{}, err
	}
	return done.Item, commerce.Changes{Products: []commerce.Product{done.Product}, Stock: []commerce.Stock{done.Stock}, StockMoves: done.moves}, nil
}

// shelf has the products of a store as the rows have them, or as earlier upserts of the same
// command left them.
type shelf struct {
	rows *commerce.Rows
	left map[commerce.ProductKey]commerce.Item
}

func (s shelf) item(key commerce.ProductKey) (commerce.Item, bool) {
	if item, ok := s.left[key]; ok {
		return item, true
	}
	product, known := s.rows.Products.Get(key)
	stock, _ := s.rows.Stock.Get(key)
	return commerce.Item{Product: product, Stock: stock}, known
}

// upserted is a product after an upsert.
type upserted struct {
	commerce.Item
	moves     []commerce.StockMove
	created   bool
	unchanged bool
}

func (c UpsertProduct) decide(s shelf, now commerce.Millis) (upserted, error) {
	if err := c.check(s.rows); err != nil {
		return upserted{}, err
	}
	if c.BySKU != nil {
		if err := c.find(s); err != nil {
			return upserted{}, err
		}
	}
	was, _ := s.item(c.key())
	item, moves, err := c.merge(was, commerce.MoveSet, c.Actor.Name(), now)
	if err == nil {
		was.Stock.Name = cmp.Or(was.Stock.Name, c.Name) // of a new product
		err = was.Stock.Expect(c.Expected)
	}
	if err != nil {
		return upserted{}, err
	}
	if c.Facts != "" && item.Facts() == was.Facts() && len(moves) == 0 {
		return upserted{Item: was, unchanged: true}, nil
	}
	if err := was.CheckFacts(c.Facts); err != nil {
		return upserted{}, err
	}
	if c.Create && c.Actor.Kind != commerce.ActorStaff {
		item.Source = commerce.SourcePartner
	}
	return upserted{Item: item, moves: moves, created: c.Create}, nil
}

// find sets the ID to that of the product with the SKU, or to that of a new one. Two
// commands that make the product of one SKU choose the same id, so that the second finds
// the product of the first. A SKU that another command gives to a product meanwhile is as if it
// had been given afterwards.
func (c *UpsertProduct) find(s shelf) error {
	var same []string
	for _, id := range c.BySKU.Found {
		if item, _ := s.item(commerce.ProductKey{StoreID: c.StoreID, ProductID: id}); item.SKU != *c.SKU {
			return ErrSKUsMoved
		}
		same = append(same, id)
	}
	for _, id := range c.BySKU.New {
		item, known := s.item(commerce.ProductKey{StoreID: c.StoreID, ProductID: id})
		switch {
		case !known && len(same) == 0:
			c.ID, c.Create = id, true
			return nil
		case known && item.SKU == *c.SKU && !slices.Contains(same, id):
			same = append(same, id)
		}
	}
	switch len(same) {
	case 0:
		return ErrSKUsMoved
	case 1:
		c.ID = same[0]
		return nil
	}
	return commerce.Conflict("sku_ambiguous", "Several products of store %s have the SKU %s; use the id", c.StoreID, *c.SKU)
}

// merge returns the stored item with the given values, or the new item. A new item and a
// changed quantity have a stock move, for which actor is noted. kind is that of a change.
func (c UpsertProduct) merge(item commerce.Item, kind commerce.MoveKind, actor string, now commerce.Millis) (commerce.Item, []commerce.StockMove, error) {
	if c.Create {
		kind = commerce.MoveOpened
		item.Product = commerce.Product{StoreID: c.StoreID, ID: c.ID, CreatedOn: now}
		item.Stock = commerce.Stock{StoreID: c.StoreID, ProductID: c.ID, Active: true}
	}
	product, stock, was, before := &item.Product, &item.Stock, item.Stock, item
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
	if c.Create || !item.SameFacts(before) {
		product.FactsOn = now
	}
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
	if c.BySKU == nil {
		if home, known := rows.ProductStores.Get(c.ID); known && home.StoreID != c.StoreID {
			return commerce.Invalid("store_id", "product %s belongs to another store and cannot be moved", c.ID)
		}
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
	if c.BySKU == nil {
		home, known := rows.ProductStores.Get(c.ID)
		if !known && !c.Create {
			return commerce.NotFound("product")
		}
		if known {
			if err := partner.MayUse(home.StoreID); err != nil {
				return err
			}
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
