package command

import "purveyor/internal/commerce"

// RepairStock repairs a broken chain of stock moves: the check of the product begins again
// from the current quantity of its stock row. Sales are not affected.
type RepairStock struct {
	Actor   string // operator:LOGIN
	Product commerce.ProductKey
	Reason  string
	// After is the highest number among the product's moves, which a broken stock
	// row may not know.
	After int64
}

// Needs names the stock of the product.
func (c RepairStock) Needs() commerce.Needs {
	return commerce.Needs{Stock: []commerce.ProductKey{c.Product}}
}

// Decide records the repair.
func (c RepairStock) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.StockMove, commerce.Changes, error) {
	stock, ok := rows.Stock.Get(c.Product)
	if !ok {
		return commerce.StockMove{}, commerce.Changes{}, commerce.NotFound("product")
	}
	was := stock
	was.Moves = max(was.Moves, c.After)
	next, move := stock.MovedFrom(was, commerce.MoveRepaired, now)
	move.Note = &commerce.StockNote{Actor: c.Actor, Reason: c.Reason}
	return move, commerce.Changes{Stock: []commerce.Stock{next}, StockMoves: []commerce.StockMove{move}}, nil
}
