package command

import (
	"errors"

	"purveyor/internal/commerce"
)

// AdjustInventory adds deltas to the stock of products: all of them, or none.
type AdjustInventory struct {
	Actor commerce.Actor
	Lines []AdjustmentLine
}

// AdjustmentLine is one delta. Several lines may name the same product; they apply in
// order.
type AdjustmentLine struct {
	Product           commerce.ProductKey
	Delta             int64
	Expected          *int64 // the quantity just before this line; nil: any
	Reason            string
	ExternalReference string
}

// Adjusted is the outcome of one line.
type Adjusted struct {
	ProductID      string
	Previous, Next int64
	Delta          int64
}

// Needs names the stock of the products, and the partner.
func (c AdjustInventory) Needs() commerce.Needs {
	keys := make([]commerce.ProductKey, len(c.Lines))
	for i, l := range c.Lines {
		keys[i] = l.Product
	}
	return commerce.Needs{Partners: []string{c.Actor.PartnerID()}, Stock: keys}
}

// Access refuses all lines if the partner may not use the store of one product.
func (c AdjustInventory) Access(rows *commerce.Rows) error {
	stored, _ := rows.Partners.Get(c.Actor.PartnerID())
	partner := stored.Under(c.Actor.Key)
	for _, l := range c.Lines {
		if err := partner.MayUse(l.Product.StoreID); err != nil {
			return err
		}
	}
	return nil
}

// Decide refuses the whole when one line would leave the stock below zero, or expects
// another quantity. Each line is a stock move, with its reason and external reference.
func (c AdjustInventory) Decide(rows *commerce.Rows, now commerce.Millis) ([]Adjusted, commerce.Changes, error) {
	if err := c.Access(rows); err != nil {
		return nil, commerce.Changes{}, err
	}
	done := make([]Adjusted, 0, len(c.Lines))
	stocks := make(map[commerce.ProductKey]commerce.Stock, len(c.Lines))
	moves := make(map[commerce.ProductKey][]commerce.StockMove, len(c.Lines))
	var order []commerce.ProductKey
	for i, l := range c.Lines {
		stock, seen := stocks[l.Product]
		if !seen {
			stock, _ = rows.Stock.Get(l.Product)
			order = append(order, l.Product)
		}
		if err := stock.Expect(l.Expected); err != nil {
			return nil, commerce.Changes{}, err
		}
		next, err := stock.Adjust(l.Delta)
		var e *commerce.Error
		if errors.As(err, &e) && e.Kind == commerce.KindInvalid {
			e.Field = commerce.Index("adjustments", i, "delta")
		}
		if err != nil {
			return nil, commerce.Changes{}, err
		}
		next, move := next.MovedFrom(stock, commerce.MoveAdjusted, now)
		move.Note = &commerce.StockNote{Actor: c.Actor.Name(), Reason: l.Reason, ExternalReference: l.ExternalReference}
		stocks[l.Product], moves[l.Product] = next, append(moves[l.Product], move)
		done = append(done, Adjusted{l.Product.ProductID, stock.Quantity, next.Quantity, l.Delta})
	}
	var changes commerce.Changes
	for _, key := range order {
		changes.Stock = append(changes.Stock, stocks[key])
		changes.StockMoves = append(changes.StockMoves, moves[key]...)
	}
	return done, changes, nil
}
