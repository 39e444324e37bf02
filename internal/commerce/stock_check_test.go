package commerce

import (
	"fmt"
	"slices"
	"testing"
)

// move makes one move of a history.
func move(seq int64, kind MoveKind, delta, after int64) StockMove {
	return StockMove{Seq: seq, Kind: kind, Delta: delta, QuantityAfter: after}
}

// TestStockCheck: each way in which a chain can be broken is a fault, and what
// lies before the newest opening or repair is mended.
func TestStockCheck(t *testing.T) {
	opened, sold, adjusted := move(1, MoveOpened, 10, 10), move(2, MoveSold, -3, 7), move(3, MoveAdjusted, 5, 12)
	repaired := move(4, MoveRepaired, 0, 20)
	for _, c := range []struct {
		name            string
		quantity, count int64
		moves           []StockMove // oldest first
		want            []string
	}{
		{"whole", 12, 3, []StockMove{opened, sold, adjusted}, nil},
		{"only opened", 10, 1, []StockMove{opened}, nil},
		{"another quantity", 13, 3, []StockMove{opened, sold, adjusted}, []string{"false the quantity is 13, but the newest move leaves 12"}},
		{"the newest is missing", 12, 3, []StockMove{opened, sold},
			[]string{"false the stock row counts 3 moves, but the newest has the number 2", "false the quantity is 12, but the newest move leaves 7"}},
		{"a hole", 12, 3, []StockMove{opened, adjusted}, []string{"false no moves stand between the numbers 1 and 3"}},
		{"another delta", 12, 3, []StockMove{opened, move(2, MoveSold, -4, 7), adjusted},
			[]string{"false move 2 leaves 7, but its delta -4 on the 10 of move 1 makes 6"}},
		{"no moves", 12, 3, nil, []string{"false the newest of 3 moves is missing"}},
		{"no opening", 12, 3, []StockMove{sold, adjusted}, []string{"false the move before number 2 is missing"}},
		{"repaired", 20, 4, []StockMove{opened, sold, adjusted, repaired},
			[]string{"true move 4 leaves 20, but its delta 0 on the 12 of move 3 makes 12"}},
		{"repaired, and broken again", 19, 5, []StockMove{opened, repaired, move(5, MoveSold, -2, 19)},
			[]string{"false move 5 leaves 19, but its delta -2 on the 20 of move 4 makes 18", "true no moves stand between the numbers 1 and 4"}},
	} {
		var got []string
		check := NewStockCheck(c.quantity, c.count, func(fault string, repaired bool) { got = append(got, fmt.Sprint(repaired, " ", fault)) })
		for _, m := range slices.Backward(c.moves) {
			check.Add(m)
		}
		check.End()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNoQuantityWithoutAMove: changes that disagree with their moves panic, as a
// bug of the command, and change nothing.
func TestNoQuantityWithoutAMove(t *testing.T) {
	stored := Stock{StoreID: "s", ProductID: "p", Quantity: 5, Moves: 2}
	renamed := stored
	renamed.Name = "New"
	less := stored
	less.Quantity = 3
	next, good := less.MovedFrom(stored, MoveSold, 9)
	other := good
	other.ProductID = "q"
	again, second := next.MovedFrom(next, MoveAdjusted, 9)
	skips, leaves, jumps := good, good, good
	skips.Seq, leaves.QuantityAfter, jumps.PreviousAt = 4, 4, 1
	for _, c := range []struct {
		name    string
		changes Changes
		fine    bool
	}{
		{"renamed", Changes{Stock: []Stock{renamed}}, true},
		{"moved", Changes{Stock: []Stock{next}, StockMoves: []StockMove{good}}, true},
		{"moved twice", Changes{Stock: []Stock{again}, StockMoves: []StockMove{good, second}}, true},
		{"no move", Changes{Stock: []Stock{less}}, false},
		{"no number", Changes{Stock: []Stock{less}, StockMoves: []StockMove{good}}, false},
		{"another product's move", Changes{Stock: []Stock{next}, StockMoves: []StockMove{other}}, false},
		{"a move too many", Changes{Stock: []Stock{next}, StockMoves: []StockMove{good, second}}, false},
		{"a move alone", Changes{StockMoves: []StockMove{good}}, false},
		{"a number is skipped", Changes{Stock: []Stock{next}, StockMoves: []StockMove{skips}}, false},
		{"another quantity", Changes{Stock: []Stock{next}, StockMoves: []StockMove{leaves}}, false},
		{"another move before", Changes{Stock: []Stock{next}, StockMoves: []StockMove{jumps}}, false},
	} {
		var rows Rows
		rows.Require(Needs{Stock: []ProductKey{stored.Key()}})
		rows.Stock.Fill(stored.Key(), stored)
		func() {
			defer func() {
				if v := recover(); (v == nil) != c.fine {
					t.Errorf("%s: %v", c.name, v)
				}
			}()
			rows.Apply(c.changes)
		}()
		if got, _ := rows.Stock.Get(stored.Key()); !c.fine && (got != stored || len(rows.StockMoves) > 0) {
			t.Errorf("%s: became %+v", c.name, got)
		}
	}
}
