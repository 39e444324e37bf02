package schema

import (
	"testing"

	"purveyor/internal/commerce"
)

// TestNoQuantityWithoutAMove: changes that disagree with their moves panic, as a
// bug of the command, and change nothing.
func TestNoQuantityWithoutAMove(t *testing.T) {
	stored := commerce.Stock{StoreID: "s", ProductID: "p", Quantity: 5, Moves: 2}
	renamed := stored
	renamed.Name = "New"
	less := stored
	less.Quantity = 3
	next, good := less.MovedFrom(stored, commerce.MoveSold, 9)
	other := good
	other.ProductID = "q"
	again, second := next.MovedFrom(next, commerce.MoveAdjusted, 9)
	hidden := less
	hidden.Held = 2
	held, hold := hidden.MovedFrom(stored, commerce.MoveHeld, 9)
	unheld, otherHold := hold, hold
	unheld.Held, otherHold.Held = nil, &commerce.HeldChange{Delta: 2, After: 3}
	skips, leaves, jumps := good, good, good
	skips.Seq, leaves.QuantityAfter, jumps.PreviousAt = 4, 4, 1
	for _, c := range []struct {
		name    string
		changes commerce.Changes
		fine    bool
	}{
		{"renamed", commerce.Changes{Stock: []commerce.Stock{renamed}}, true},
		{"moved", commerce.Changes{Stock: []commerce.Stock{next}, StockMoves: []commerce.StockMove{good}}, true},
		{"moved twice", commerce.Changes{Stock: []commerce.Stock{again}, StockMoves: []commerce.StockMove{good, second}}, true},
		{"held", commerce.Changes{Stock: []commerce.Stock{held}, StockMoves: []commerce.StockMove{hold}}, true},
		{"held without saying so", commerce.Changes{Stock: []commerce.Stock{held}, StockMoves: []commerce.StockMove{unheld}}, false},
		{"another number is held", commerce.Changes{Stock: []commerce.Stock{held}, StockMoves: []commerce.StockMove{otherHold}}, false},
		{"no move", commerce.Changes{Stock: []commerce.Stock{less}}, false},
		{"no number", commerce.Changes{Stock: []commerce.Stock{less}, StockMoves: []commerce.StockMove{good}}, false},
		{"another product's move", commerce.Changes{Stock: []commerce.Stock{next}, StockMoves: []commerce.StockMove{other}}, false},
		{"a move too many", commerce.Changes{Stock: []commerce.Stock{next}, StockMoves: []commerce.StockMove{good, second}}, false},
		{"a move alone", commerce.Changes{StockMoves: []commerce.StockMove{good}}, false},
		{"a number is skipped", commerce.Changes{Stock: []commerce.Stock{next}, StockMoves: []commerce.StockMove{skips}}, false},
		{"another quantity", commerce.Changes{Stock: []commerce.Stock{next}, StockMoves: []commerce.StockMove{leaves}}, false},
		{"another move before", commerce.Changes{Stock: []commerce.Stock{next}, StockMoves: []commerce.StockMove{jumps}}, false},
	} {
		var rows commerce.Rows
		Require(&rows, &commerce.Needs{Stock: []commerce.ProductKey{stored.Key()}})
		rows.Stock.Fill(0, stored)
		func() {
			defer func() {
				if v := recover(); (v == nil) != c.fine {
					t.Errorf("%s: %v", c.name, v)
				}
			}()
			Apply(&rows, &c.changes)
		}()
		if got, _ := rows.Stock.Get(stored.Key()); !c.fine && (got != stored || len(rows.Appended.StockMoves) > 0) {
			t.Errorf("%s: became %+v", c.name, got)
		}
	}
}
