package commerce

import "fmt"

// StockCheck proves that the moves of one product chain to its quantity: from
// the newest opening or repair on, no number is missing, each quantity is the
// one before plus the delta, and the newest is the quantity of the stock row.
// It is given the moves newest first, so that no history is read into memory.
type StockCheck struct {
	quantity, count int64
	report          func(fault string, repaired bool)
	newer           *StockMove
	begun           bool
}

// NewStockCheck starts the check of a product whose stock row has this quantity
// and counts so many moves. It calls report with each fault; repaired says that
// the fault lies before the newest opening or repair, and so is mended.
func NewStockCheck(quantity, count int64, report func(fault string, repaired bool)) *StockCheck {
	return &StockCheck{quantity: quantity, count: count, report: report}
}

// Begun reports whether the newest opening or repair was given: what is older
// cannot break the chain any more.
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

// End is called after the oldest move that is found.
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
