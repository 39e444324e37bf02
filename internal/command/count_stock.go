package command

import "purveyor/internal/commerce"

// CountStock sets the quantity of a product to the pieces that staff counted.
type CountStock struct {
	Actor   commerce.Actor
	Product commerce.ProductKey
	Counted int64
	Reason  string
	// Moves is the number of stock moves when the form was opened; 0: it is not checked.
	// A sale since then would be undone by the count.
	Moves int64
}

// Counted is the outcome of a count.
type Counted struct {
	Previous, Quantity int64
}

// Difference is how many pieces more were counted than were recorded; below 0: fewer.
func (c Counted) Difference() int64 { return c.Quantity - c.Previous }

// Needs names the stock of the product.
func (c CountStock) Needs() commerce.Needs {
	return commerce.Needs{Stock: []commerce.ProductKey{c.Product}}
}

// Access implements commit.Keyed. Staff are checked by the front.
func (c CountStock) Access(*commerce.Rows) error { return nil }

// Decide records the count, also one that finds no difference. It refuses a count below
// zero or without a reason, and with 409 a count from before other moves, unless the
// quantity is the counted one.
func (c CountStock) Decide(rows *commerce.Rows, now commerce.Millis) (Counted, commerce.Changes, error) {
	stock, ok := rows.Stock.Get(c.Product)
	if !ok {
		return Counted{}, commerce.Changes{}, commerce.NotFound("product")
	}
	if err := needReason(c.Reason); err != nil {
		return Counted{}, commerce.Changes{}, err
	}
	next, err := stock.Count(c.Counted)
	if err != nil {
		return Counted{}, commerce.Changes{}, err
	}
	done := Counted{Previous: stock.Quantity, Quantity: next.Quantity}
	if c.Moves != 0 && c.Moves != stock.Moves {
		if done.Difference() == 0 {
			return done, commerce.Changes{}, nil
		}
		return Counted{}, commerce.Changes{}, commerce.Conflict("changed_meanwhile",
			"The stock of %s moved since this form was opened: it is %d now. Count again if those pieces are in your count, or send the form once more", stock.Name, stock.Quantity)
	}
	next, move := next.MovedFrom(stock, commerce.MoveCounted, now)
	move.Note = &commerce.StockNote{Actor: c.Actor.Name(), Reason: c.Reason}
	return done, commerce.Changes{Stock: []commerce.Stock{next}, StockMoves: []commerce.StockMove{move}}, nil
}

// needReason refuses an empty reason.
func needReason(reason string) error {
	if reason == "" {
		return commerce.Invalid("reason", "reason is missing")
	}
	return nil
}
