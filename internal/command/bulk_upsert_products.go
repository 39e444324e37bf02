package command

import (
	"errors"

	"purveyor/internal/commerce"
)

// BulkUpsertProducts upserts products one after another. Each is accepted or refused alone.
type BulkUpsertProducts struct {
	Actor commerce.Actor
	Items []BulkItem
}

// BulkItem is one product. The use case sets Actor, and the ID of a new product.
type BulkItem struct {
	UpsertProduct
	Refused *commerce.Error // the item cannot be read, and the product is empty; nil: it can
}

// Upserted is the outcome of one item.
type Upserted struct {
	ProductID string
	Created   bool
	UpdatedOn commerce.Millis
	Refused   *commerce.Error // nil: accepted
}

// Needs names what the items that can be read need.
func (c BulkUpsertProducts) Needs() commerce.Needs {
	n := commerce.Needs{Partners: []string{c.Actor.PartnerID()}}
	for _, item := range c.Items {
		if item.Refused != nil {
			continue
		}
		of := item.UpsertProduct.Needs()
		n.Stores, n.Categories = append(n.Stores, of.Stores...), append(n.Categories, of.Categories...)
		n.ProductStores, n.Products = append(n.ProductStores, of.ProductStores...), append(n.Products, of.Products...)
	}
	n.Stock = n.Products
	return n
}

// Access refuses nothing: items are refused alone, and an answer has no content of a
// product.
func (c BulkUpsertProducts) Access(*commerce.Rows) error { return nil }

// Decide refuses items for the causes of UpsertProduct. An item sees what those before it
// have changed.
func (c BulkUpsertProducts) Decide(rows *commerce.Rows, now commerce.Millis) ([]Upserted, commerce.Changes, error) {
	done := make([]Upserted, len(c.Items))
	s := shelf{rows, make(map[commerce.ProductKey]commerce.Item, len(c.Items))}
	moves := make(map[commerce.ProductKey][]commerce.StockMove, len(c.Items))
	var order []commerce.ProductKey
	for i, in := range c.Items {
		if in.Refused != nil {
			done[i].Refused = in.Refused
			continue
		}
		item, err := in.decide(s, now)
		if refusal, ok := errors.AsType[*commerce.Error](err); ok {
			if refusal.Field != "" {
				refusal.Field = commerce.Index("products", i, refusal.Field)
			}
			done[i].Refused = refusal
			continue
		}
		if err != nil {
			return nil, commerce.Changes{}, err
		}
		key := item.Product.Key()
		if _, again := s.left[key]; !again {
			order = append(order, key)
		}
		s.left[key], moves[key] = item.Item, append(moves[key], item.moves...)
		done[i] = Upserted{ProductID: item.ID, Created: item.created, UpdatedOn: item.Stock.UpdatedOn}
	}
	var changes commerce.Changes
	for _, key := range order {
		item := s.left[key]
		changes.Products, changes.Stock = append(changes.Products, item.Product), append(changes.Stock, item.Stock)
		changes.StockMoves = append(changes.StockMoves, moves[key]...)
	}
	return done, changes, nil
}
