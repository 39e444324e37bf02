package commerce

import "fmt"

// StockCheck proves that the stock moves of one product explain its quantity. From the newest
// opening or repair on, no number may be missing, each quantity must be the one before plus
// the delta, and the newest must be the quantity of the stock row. The caller adds the moves
// newest first, so that a long history need not be held in memory.
type StockCheck struct {
	quantity, count int64
	report          func(fault string, repaired bool)
	newer           *StockMove
	begun           bool
}

// NewStockCheck starts the check of a product whose stock row has this quantity and counts
// this many moves. It calls report with each fault. repaired says that the fault is older
// than the newest opening or repair, so that it has been mended.
func NewStockCheck(quantity, count int64, report func(fault string, repaired bool)) *StockCheck {
	return &StockCheck{quantity: quantity, count: count, report: report}
}

// Begun reports whether the newest opening or repair was added. Older moves cannot break the
// chain any more.
func (c *StockCheck) Begun() bool { return c.begun }

// Add checks the next older move.
func (c *StockCheck) Add(m StockMove) {
	if n := c.newer; n == nil {
		if m.Seq != c.count {
			c.fault("the stock row counts %d moves, but the newest has the number %d", c.count, m.Seq)
		}
		if m.QuantityAfter != c.quantity {
			c.fault("the quantity is %d, but the newest move leaves %d", c.quantity, m.QuantityAfter)
		}
	} else if n.Seq != m.Seq+1 {
		c.fault("no moves stand between the numbers %d and %d", m.Seq, n.Seq)
	} else if n.QuantityAfter != m.QuantityAfter+n.Delta {
		c.fault("move %d leaves %d, but its delta %d on the %d of move %d makes %d",
			n.Seq, n.QuantityAfter, n.Delta, m.QuantityAfter, m.Seq, m.QuantityAfter+n.Delta)
	}
	c.begun = c.begun || m.Kind == MoveOpened || m.Kind == MoveRepaired
	c.newer = &m
}

// End must be called after the oldest move that exists.
func (c *StockCheck) End() {
	switch {
	case c.newer == nil:
		c.fault("the newest of %d moves is missing", c.count)
	case c.newer.Seq != 1 || c.newer.Kind != MoveOpened:
		c.fault("the move before number %d is missing", c.newer.Seq)
	}
}

func (c *StockCheck) fault(format string, args ...any) {
	c.report(fmt.Sprintf(format, args...), c.begun)
}
