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
	hold := func(m StockMove, delta, after int64) StockMove { m.Held = &HeldChange{delta, after}; return m }
	held, kept := hold(move(2, MoveHeld, -4, 6), 4, 4), move(3, MoveSold, -1, 5)
	released, bought := hold(move(4, MoveReleased, 3, 8), -3, 1), hold(move(5, MoveSold, 0, 8), -1, 0)
	for _, c := range []struct {
		name            string
		quantity, count int64
		held            int64
		moves           []StockMove // oldest first
		want            []string
	}{
		{"whole", 12, 3, 0, []StockMove{opened, sold, adjusted}, nil},
		{"only opened", 10, 1, 0, []StockMove{opened}, nil},
		{"another quantity", 13, 3, 0, []StockMove{opened, sold, adjusted}, []string{"false the quantity is 13, but the newest move leaves 12"}},
		{"the newest is missing", 12, 3, 0, []StockMove{opened, sold},
			[]string{"false the stock row counts 3 moves, but the newest has the number 2", "false the quantity is 12, but the newest move leaves 7"}},
		{"a hole", 12, 3, 0, []StockMove{opened, adjusted}, []string{"false no moves stand between the numbers 1 and 3"}},
		{"another delta", 12, 3, 0, []StockMove{opened, move(2, MoveSold, -4, 7), adjusted},
			[]string{"false move 2 leaves 7, but its delta -4 on the 10 of move 1 makes 6"}},
		{"no moves", 12, 3, 0, nil, []string{"false the newest of 3 moves is missing"}},
		{"no opening", 12, 3, 0, []StockMove{sold, adjusted}, []string{"false the move before number 2 is missing"}},
		{"repaired", 20, 4, 0, []StockMove{opened, sold, adjusted, repaired},
			[]string{"true move 4 leaves 20, but its delta 0 on the 12 of move 3 makes 12"}},
		{"repaired, and broken again", 19, 5, 0, []StockMove{opened, repaired, move(5, MoveSold, -2, 19)},
			[]string{"false move 5 leaves 19, but its delta -2 on the 20 of move 4 makes 18", "true no moves stand between the numbers 1 and 4"}},
		{"held, released and bought", 8, 5, 0, []StockMove{opened, held, kept, released, bought}, nil},
		{"held still", 5, 3, 4, []StockMove{opened, held, kept}, nil},
		{"fewer are held", 5, 3, 1, []StockMove{opened, held, kept}, []string{"false the row or the moves after number 2 say that 1 pieces are held, but it leaves 4"}},
		{"held by no move", 10, 1, 2, []StockMove{opened}, []string{"false the row or the moves after number 1 say that 2 pieces are held, but it leaves 0"}},
		{"another hold", 8, 4, 1, []StockMove{opened, hold(held, 4, 5), kept, released}, []string{"false the row or the moves after number 2 say that 4 pieces are held, but it leaves 5",
			"false the row or the moves after number 1 say that 1 pieces are held, but it leaves 0"}},
		{"repaired while some are held", 8, 5, 2, []StockMove{opened, held, kept, hold(move(4, MoveRepaired, 0, 5), 0, 5), hold(move(5, MoveReleased, 3, 8), -3, 2)},
			[]string{"true the row or the moves after number 2 say that 5 pieces are held, but it leaves 4"}},
	} {
		var got []string
		check := NewStockCheck(Stock{Quantity: c.quantity, Moves: c.count, Held: c.held}, func(fault string, repaired bool) { got = append(got, fmt.Sprint(repaired, " ", fault)) })
		for _, m := range slices.Backward(c.moves) {
			check.Add(m)
		}
		check.End()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
