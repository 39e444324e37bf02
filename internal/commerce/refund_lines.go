package commerce

import (
	"fmt"
	"math/big"
	"slices"
)

// RefundLine is a number of pieces of one product whose money goes back.
type RefundLine struct {
	ProductID string
	Quantity  int64
	TaxCents  Cents // their share of the order's tax
}

// LineRefund is what refunds by line have taken of one product of an order.
type LineRefund struct {
	ProductID string
	Quantity  int64 // pieces, of refunds that were made or are on their way
	TaxCents  Cents // in these
	Restock   int64 // of them, the pieces that went into stock, or would if they were not there
	// Returned are the pieces that the order has given back to stock because of its refunds,
	// or will not take from there. It stays when the money of a refund comes back, so that
	// no piece is given back twice.
	Returned int64
}

// LineRefunds has a row for each product of an order that a refund by line was about. No list
// is changed once it is part of an order.
type LineRefunds []LineRefund

// Of returns the row of a product.
func (list LineRefunds) Of(productID string) LineRefund {
	for _, r := range list {
		if r.ProductID == productID {
			return r
		}
	}
	return LineRefund{ProductID: productID}
}

// with returns the list with another row of a product.
func (list LineRefunds) with(r LineRefund) LineRefunds {
	others := slices.DeleteFunc(slices.Clone(list), func(s LineRefund) bool { return s.ProductID == r.ProductID })
	return append(others, r)
}

// Add returns the list with a refund that is on its way.
func (list LineRefunds) Add(lines []RefundLine) LineRefunds {
	for _, l := range lines {
		r := list.Of(l.ProductID)
		r.Quantity, r.TaxCents = r.Quantity+l.Quantity, r.TaxCents+l.TaxCents
		list = list.with(r)
	}
	return list
}

// Remove returns the list without a refund that was not made, or whose money came back.
// restocked says that it was made, and had its pieces given back.
func (list LineRefunds) Remove(lines []RefundLine, restocked bool) LineRefunds {
	for _, l := range lines {
		r := list.Of(l.ProductID)
		r.Quantity, r.TaxCents = r.Quantity-l.Quantity, r.TaxCents-l.TaxCents
		if restocked {
			r.Restock -= l.Quantity
		}
		list = list.with(r)
	}
	return list
}

// PriceRefund is that of the order, which the rest of the payment must cover (409, 400).
func (p Payment) PriceRefund(o Order, lines []RefundLine) (priced []RefundLine, amount Cents, err error) {
	if err = p.Refundable(); err == nil {
		priced, amount, err = o.PriceRefund(lines)
	}
	if left := p.Left(); err == nil && amount > left {
		err = invalidAmount("lines", fmt.Sprintf("these lines are worth %d cents, and %d are left to refund", amount, left))
	}
	return priced, amount, err
}

// PriceRefund returns the lines, each product once, with their shares of the tax, and what they are worth. Each
// share is rounded half up, and the last line of the order takes the rest of the tax. It
// refuses products that the order does not have, and more pieces than are left (400).
func (o Order) PriceRefund(lines []RefundLine) (priced []RefundLine, amount Cents, err error) {
	for i, l := range lines {
		sold, before := o.piecesOf(l.ProductID), o.LineRefunds.Of(l.ProductID).Quantity
		switch left := max(0, sold-before); {
		case sold == 0:
			return nil, 0, Invalid(Index("lines", i, "product_id"), "product %s is not in this order", l.ProductID)
		case l.Quantity < 1 || l.Quantity > left:
			return nil, 0, invalidAmount(Index("lines", i, "quantity"), fmt.Sprintf("%d pieces of %s are left to refund, and %d were asked for", left, l.ProductID, l.Quantity))
		}
		price := o.centsOf(l.ProductID, before+l.Quantity) - o.centsOf(l.ProductID, before)
		l.TaxCents = o.taxOf(price)
		after := o
		after.LineRefunds = o.LineRefunds.Add([]RefundLine{l})
		if rest := after.taxLeft(); rest < 0 || after.allRefunded() {
			l.TaxCents = max(0, l.TaxCents+rest)
		}
		o.LineRefunds = o.LineRefunds.Add([]RefundLine{l})
		priced, amount = addLine(priced, l), amount+price+l.TaxCents
	}
	if amount == 0 { // which would stand for all that is left
		return nil, 0, invalidAmount("lines", "these lines cost nothing, so there is nothing to refund")
	}
	return priced, amount, nil
}

// PiecesLeft are the pieces of each product that can still be in a refund by line, each product once.
func (o Order) PiecesLeft() (list []RefundLine) {
	for _, d := range Demands(o.Lines) {
		list = append(list, RefundLine{ProductID: d.ProductID, Quantity: max(0, o.piecesOf(d.ProductID)-o.LineRefunds.Of(d.ProductID).Quantity)})
	}
	return list
}

// addLine adds a line to a list that has each product once.
func addLine(list []RefundLine, l RefundLine) []RefundLine {
	for i := range list {
		if list[i].ProductID == l.ProductID {
			list[i].Quantity, list[i].TaxCents = list[i].Quantity+l.Quantity, list[i].TaxCents+l.TaxCents
			return list
		}
	}
	return append(list, l)
}

// piecesOf is how many pieces of a product were sold.
func (o Order) piecesOf(productID string) (n int64) {
	for _, l := range o.Lines {
		if l.ProductID == productID {
			n += l.Quantity
		}
	}
	return n
}

// centsOf is the price of the first n pieces of a product.
func (o Order) centsOf(productID string, n int64) (sum Cents) {
	for _, l := range o.Lines {
		if l.ProductID == productID {
			pieces := min(n, l.Quantity)
			sum, n = sum+l.PriceCents*Cents(pieces), n-pieces
		}
	}
	return sum
}

// taxOf is the share of the tax in a price, rounded half up.
func (o Order) taxOf(price Cents) Cents {
	if o.SubtotalCents == 0 {
		return 0
	}
	share := new(big.Int).Mul(big.NewInt(int64(o.TaxCents)), big.NewInt(int64(price))) // may exceed an int64
	share.Add(share, big.NewInt(int64(o.SubtotalCents)/2))
	return Cents(share.Div(share, big.NewInt(int64(o.SubtotalCents))).Int64())
}

// taxLeft is the tax that refunds by line have not taken.
func (o Order) taxLeft() Cents {
	left := o.TaxCents
	for _, r := range o.LineRefunds {
		left -= r.TaxCents
	}
	return left
}

// allRefunded reports whether every piece that costs something is in a refund by line.
func (o Order) allRefunded() bool {
	return !slices.ContainsFunc(Demands(o.Lines), func(d Demand) bool {
		return o.centsOf(d.ProductID, o.LineRefunds.Of(d.ProductID).Quantity) < d.Cents
	})
}

// GiveBack notes that a refund gives its pieces back to stock, and returns those that the
// order still has to give for it. The others were given by a refund whose money came back.
func (o *Order) GiveBack(lines []RefundLine) (back []Demand) {
	for _, l := range lines {
		r := o.LineRefunds.Of(l.ProductID)
		r.Restock += l.Quantity
		if pieces := min(r.Restock, o.piecesOf(l.ProductID)) - r.Returned; pieces > 0 {
			cents := o.centsOf(l.ProductID, r.Returned+pieces) - o.centsOf(l.ProductID, r.Returned)
			back = append(back, Demand{l.ProductID, pieces, cents})
			r.Returned += pieces
		}
		o.LineRefunds = o.LineRefunds.with(r)
	}
	return back
}

// Demands are the quantities of the order's products without those that its refunds have
// given back. It is what the order takes from stock, or gives back when it is stopped.
func (o Order) Demands() []Demand {
	demands := Demands(o.Lines)
	if len(o.LineRefunds) == 0 {
		return demands
	}
	for i, d := range demands {
		returned := o.LineRefunds.Of(d.ProductID).Returned
		demands[i].Quantity, demands[i].Cents = d.Quantity-returned, d.Cents-o.centsOf(d.ProductID, returned)
	}
	return slices.DeleteFunc(demands, func(d Demand) bool { return d.Quantity == 0 })
}
