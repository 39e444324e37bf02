package commerce

import "fmt"

// CodeInsufficientStock is the code of the refusal of a sale for which stock is short.
const CodeInsufficientStock = "insufficient_stock"

// Insufficient is the refusal of a sale. It names the product, the requested and the
// available quantity (SPEC, Errors).
func Insufficient(name, productID string, requested, available int64) *Error {
	return Conflict(CodeInsufficientStock, "Insufficient stock for %s (%s): requested %d, available %d",
		name, productID, requested, available)
}

// Sell deducts the demand of a new order. It refuses a product that is not active.
func (s Stock) Sell(d Demand, mode Mode) (Stock, error) {
	if !s.Active {
		return s, Conflict("product_inactive", "%s (%s) is not active", s.Name, s.ProductID)
	}
	return s.Deduct(d, mode)
}

// Deduct deducts the demand of an order, whether or not the product is active. A product
// that was switched off is refused to new orders only, never to one that was paid. Sold
// figures change for live orders only.
func (s Stock) Deduct(d Demand, mode Mode) (Stock, error) {
	if d.Quantity > s.Quantity {
		return s, Insufficient(s.Name, s.ProductID, d.Quantity, s.Quantity)
	}
	s.Quantity -= d.Quantity
	return s.sold(d, mode), nil
}

func (s Stock) sold(d Demand, mode Mode) Stock {
	if mode == Live {
		s.SoldCount += d.Quantity
		s.SoldCents += d.Cents
	}
	return s
}

// Hold takes the demand of a checkout out of what may be sold. It refuses what Sell refuses.
// Nothing is sold yet.
func (s Stock) Hold(d Demand) (Stock, error) {
	held, err := s.Sell(d, Test)
	if err == nil {
		held.Held += d.Quantity
	}
	return held, err
}

// Release gives held pieces back. Fewer than these are held only if the row was damaged.
func (s Stock) Release(d Demand) Stock {
	s.Quantity += d.Quantity
	s.Held = max(0, s.Held-d.Quantity)
	return s
}

// SellHeld sells held pieces. They need no check of stock, because Hold has taken them.
func (s Stock) SellHeld(d Demand, mode Mode) Stock {
	s.Held = max(0, s.Held-d.Quantity)
	return s.sold(d, mode)
}

// Restore undoes Deduct. A sold figure that an upsert has lowered meanwhile stops at zero.
func (s Stock) Restore(d Demand, mode Mode) Stock {
	s.Quantity += d.Quantity
	if mode == Live {
		s.SoldCount = max(0, s.SoldCount-d.Quantity)
		s.SoldCents = max(0, s.SoldCents-d.Cents)
	}
	return s
}

// Adjust adds a delta, which may be negative.
func (s Stock) Adjust(delta int64) (Stock, error) {
	next := s.Quantity + delta
	switch {
	case next < 0:
		return s, Insufficient(s.Name, s.ProductID, -delta, s.Quantity)
	case next > MaxStock:
		return s, Invalid("", "%s (%s) would exceed the largest stock of %d", s.Name, s.ProductID, MaxStock)
	}
	s.Quantity = next
	return s, nil
}

// Count sets the quantity to the pieces that were counted.
func (s Stock) Count(pieces int64) (Stock, error) {
	switch {
	case pieces < 0:
		return s, Invalid("counted", "a count cannot be negative")
	case pieces > MaxStock:
		return s, Invalid("counted", "%s (%s) would exceed the largest stock of %d", s.Name, s.ProductID, MaxStock)
	}
	s.Quantity = pieces
	return s, nil
}

// StaleQuantity is a quantity that a caller expected, beside the present one.
type StaleQuantity struct {
	ProductID           string // empty: the product is only about to be created
	Expected, Available int64
}

// Expect refuses a change whose caller expects another quantity than there is. Nil expects
// any.
func (s Stock) Expect(quantity *int64) error {
	if quantity == nil || *quantity == s.Quantity {
		return nil
	}
	e := Conflict("stale_quantity", "The stock of %s is %d, and %d was expected", s.Name, s.Quantity, *quantity)
	e.Stale = &StaleQuantity{s.ProductID, *quantity, s.Quantity}
	return e
}

// MoveKind is the cause of a change of a quantity.
type MoveKind string

// The kinds of stock moves.
const (
	// MoveOpened begins the history of a product when it is created, or, for a product that
	// is older than stock moves, when moves began to be recorded.
	MoveOpened MoveKind = "opened"
	// MoveSold says that an order took goods. Its delta is 0 if they were held for the order.
	MoveSold     MoveKind = "sold"
	MoveRestored MoveKind = "restored" // an order gave them back
	MoveHeld     MoveKind = "held"     // a checkout took goods out of what may be sold
	MoveReleased MoveKind = "released" // they may be sold again
	MoveAdjusted MoveKind = "adjusted" // one line of an adjustment
	MoveSet      MoveKind = "set"      // an upsert named the quantity
	MoveImported MoveKind = "imported" // an import named the quantity
	// MoveCounted sets the quantity to the pieces that staff counted. Its delta is 0 if
	// the count found what was recorded.
	MoveCounted MoveKind = "counted"
	// MoveRepaired changes no quantity. The check of a history begins again here.
	MoveRepaired MoveKind = "repaired"
)

// StockMove is one change of a product's quantity. Moves are written in the
// batch of the change, and never changed or deleted.
type StockMove struct {
	StoreID, ProductID string
	Seq                int64 // 1, 2, 3 and so on for each product
	Kind               MoveKind
	Delta              int64
	QuantityAfter      int64
	At                 Millis
	PreviousAt         Millis      // of the product's move before; 0: there is none
	Order              OrderBody   // the order that caused the move; zero: none
	Note               *StockNote  // nil for a move that an order caused
	Held               *HeldChange // nil: as many are held as before, or as at the opening: none
}

// HeldChange is the change of the held pieces by a stock move. A repair has one with a delta
// of 0, from which the check begins.
type HeldChange struct{ Delta, After int64 }

// Beside reports whether the move has more than fits into its row.
func (m StockMove) Beside() bool { return m.Note != nil || m.Held != nil }

// MovePosition is a position in the history of a product. Reading continues with the newest
// move of that time that has a lower number.
type MovePosition struct {
	At  Millis
	Seq int64
}

// NewestMove is the position from which the whole history is read, newest first.
func (s Stock) NewestMove() MovePosition { return MovePosition{s.MovedOn, s.Moves + 1} }

// Before is the position from which the older moves are read.
func (m StockMove) Before() MovePosition { return MovePosition{m.PreviousAt, m.Seq} }

// Key of the product.
func (m StockMove) Key() ProductKey { return ProductKey{m.StoreID, m.ProductID} }

// StockNote names the actor and the reason of a stock move. Moves of an order have no note,
// because the order shows both.
type StockNote struct {
	// Actor is partner:ID/MODE, staff:ID, or operator:LOGIN with the login name of the
	// shell.
	Actor             string
	Reason            string
	ExternalReference string
}

// MovedFrom returns the row to save when s replaces the stored row was, and the stock move
// that explains the change of the quantity.
func (s Stock) MovedFrom(was Stock, kind MoveKind, now Millis) (Stock, StockMove) {
	s.Moves, s.MovedOn, s.UpdatedOn = was.Moves+1, now, now
	m := StockMove{StoreID: s.StoreID, ProductID: s.ProductID, Seq: s.Moves, Kind: kind,
		Delta: s.Quantity - was.Quantity, QuantityAfter: s.Quantity, At: now, PreviousAt: was.MovedOn}
	if s.Held != was.Held || kind == MoveRepaired {
		m.Held = &HeldChange{s.Held - was.Held, s.Held}
	}
	return s, m
}

// checkMoves panics unless the moves explain each change of a quantity. No quantity may
// change without a move, and no move may be recorded without a change. The moves must be in
// the order of the stock rows.
func (r *Rows) checkMoves(stock []Stock, moves []StockMove) {
	for _, v := range stock {
		s, _ := r.Stock.Get(v.Key())
		quantity, held, seq, at := s.Quantity, s.Held, s.Moves, s.MovedOn
		for len(moves) > 0 && moves[0].Key() == v.Key() {
			m := moves[0]
			quantity, seq, moves = quantity+m.Delta, seq+1, moves[1:]
			if m.Held != nil {
				held += m.Held.Delta
			}
			if m.QuantityAfter != quantity || m.Held != nil && m.Held.After != held || m.PreviousAt != at || m.Seq < seq || m.Seq > seq && m.Kind != MoveRepaired {
				panic(fmt.Sprintf("commerce: stock move %+v does not follow on %+v", m, s))
			}
			seq, at = m.Seq, m.At
		}
		if v.Quantity != quantity || v.Held != held || v.Moves != seq || v.MovedOn != at {
			panic(fmt.Sprintf("commerce: %+v becomes %+v without a stock move", s, v))
		}
	}
	if len(moves) > 0 {
		panic(fmt.Sprintf("commerce: stock move %+v comes without its stock row", moves[0]))
	}
}

// StockCheck proves that the stock moves of one product explain its quantity, and how many
// pieces are held. From the newest opening or repair on, no number may be missing, each
// quantity must be the one before plus the delta, and the newest must be the quantity of the
// stock row. The caller adds the moves newest first, so that a long history need not be kept
// in memory.
type StockCheck struct {
	quantity, count int64
	held            int64 // after the next move that is added, as newer ones say
	report          func(fault string, repaired bool)
	newer           *StockMove
	begun           bool
}

// NewStockCheck starts the check of a product with this stock row. It calls report with each
// fault. repaired says that the fault is older than the newest opening or repair, so that it
// has been mended.
func NewStockCheck(s Stock, report func(fault string, repaired bool)) *StockCheck {
	return &StockCheck{quantity: s.Quantity, count: s.Moves, held: s.Held, report: report}
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
	begins := m.Kind == MoveOpened || m.Kind == MoveRepaired
	c.addHeld(m, begins)
	c.begun = c.begun || begins
	c.newer = &m
}

func (c *StockCheck) addHeld(m StockMove, begins bool) {
	change := HeldChange{0, c.held}
	switch {
	case m.Held != nil:
		change = *m.Held
	case begins:
		change.After = 0
	}
	if change.After != c.held {
		c.fault("the row or the moves after number %d say that %d pieces are held, but it leaves %d", m.Seq, c.held, change.After)
	}
	c.held = change.After - change.Delta
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
