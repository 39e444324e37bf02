package schema

import "purveyor/internal/commerce"

// Stock has the columns of a product that a sale reads or changes, or that lists filter by.
var Stock = Table[commerce.ProductKey, commerce.Stock]{
	Name: "stock", Key: "store_id, product_id",
	Mutable: "name, price_cents, category_id, active, held, quantity, moves, moved_on, sold_count, sold_cents, updated_on",
	KeyOf:   func(v *commerce.Stock) commerce.ProductKey { return v.Key() },
	BindKey: bindProductKey,
	BindMutable: func(b Binder, v *commerce.Stock) {
		b.Text(v.Name).Int(int64(v.PriceCents)).Text(v.CategoryID).Bool(v.Active).Int(v.Held).Int(v.Quantity).Int(v.Moves).Int(int64(v.MovedOn)).Int(v.SoldCount).Int(int64(v.SoldCents)).Int(int64(v.UpdatedOn))
	},
	HotColumns: "quantity, moves, moved_on, sold_count, sold_cents, updated_on", // what a sale changes
	BindHot: func(b Binder, v *commerce.Stock) {
		b.Int(v.Quantity).Int(v.Moves).Int(int64(v.MovedOn)).Int(v.SoldCount).Int(int64(v.SoldCents)).Int(int64(v.UpdatedOn))
	},
	OnlyHotChanged: func(v, was *commerce.Stock) bool {
		return v.Name == was.Name && v.PriceCents == was.PriceCents && v.CategoryID == was.CategoryID && v.Active == was.Active && v.Held == was.Held
	},
	Scan: func(s Scanner, k commerce.ProductKey) commerce.Stock {
		return commerce.Stock{StoreID: k.StoreID, ProductID: k.ProductID, Name: s.Text(), PriceCents: commerce.Cents(s.Int()), CategoryID: s.Text(), Active: s.Bool(),
			Held: s.Int(), Quantity: s.Int(), Moves: s.Int(), MovedOn: millis(s), SoldCount: s.Int(), SoldCents: commerce.Cents(s.Int()), UpdatedOn: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.ProductKey, commerce.Stock] { return &r.Stock },
	Needs:   func(n *commerce.Needs) *[]commerce.ProductKey { return &n.Stock },
	Changes: func(c *commerce.Changes) *[]commerce.Stock { return &c.Stock },
	Lock:    LockAll,
	Traits:  Traits{Shard: "store_id", Collides: true, Counted: true},
}

// StockMoves has a row for each change of a quantity. The key begins with the
// time, so that batches write at the end of the index. An index by product would be
// written in another place for each line of an order, and made SQLite's log a third
// larger. PostgreSQL, which keeps rows and keys apart, has an index of time and
// number alone. The moves of a product are a chain: the stock row has the time of
// the newest move, and each move has the time of the move before it.
var StockMoves = Log[commerce.StockMove]{
	Name: "stock_moves", ID: "at, store_id, product_id, seq", Rest: "kind, delta, quantity_after, previous_at, order_body, noted",
	Bind: func(b Binder, m *commerce.StockMove) {
		b.Int(int64(m.At)).Text(m.StoreID).Text(m.ProductID).Int(m.Seq).Text(string(m.Kind)).Int(m.Delta).Int(m.QuantityAfter).Int(int64(m.PreviousAt))
		if m.Order == (commerce.OrderBody{}) {
			b.Blob(nil)
		} else {
			b.Blob(m.Order[:])
		}
		b.Bool(m.Beside())
	},
	Changes: func(c *commerce.Changes) *[]commerce.StockMove { return &c.StockMoves },
	Traits:  Traits{Shard: "store_id", Unordered: true},
}

// StockNotes has the notes of the moves that have one, and the held pieces of those that
// changed them. They stand apart, so that the rows of sales, which have neither, stay narrow.
var StockNotes = Log[commerce.StockMove]{
	Name: "stock_notes", ID: "store_id, product_id, seq", Rest: "actor, reason, external_reference, held_delta, held_after",
	Bind: func(b Binder, m *commerce.StockMove) {
		note := commerce.StockNote{}
		if m.Note != nil {
			note = *m.Note
		}
		b.Text(m.StoreID).Text(m.ProductID).Int(m.Seq).Text(note.Actor).Text(note.Reason).Text(note.ExternalReference)
		held := commerce.HeldChange{}
		if m.Held != nil {
			held = *m.Held
		}
		b.Int(held.Delta).Int(held.After)
	},
	Changes: func(c *commerce.Changes) *[]commerce.StockMove { return &c.StockMoves },
	Only:    func(m *commerce.StockMove) bool { return m.Beside() },
	Traits:  Traits{Shard: "store_id"},
}

// MoveColumns are the columns that ScanStockMove reads: of a move m, and of what stands beside it, n.
var MoveColumns = Join("m.at, m.seq", Qualified("m", StockMoves.Rest), Qualified("n", StockNotes.Rest))

// ScanStockMove reads a move of the product.
func ScanStockMove(s Scanner, k commerce.ProductKey) commerce.StockMove {
	m := commerce.StockMove{StoreID: k.StoreID, ProductID: k.ProductID, At: millis(s), Seq: s.Int(), Kind: commerce.MoveKind(s.Text()),
		Delta: s.Int(), QuantityAfter: s.Int(), PreviousAt: millis(s)}
	copy(m.Order[:], s.Blob())
	beside, note := s.Bool(), commerce.StockNote{Actor: s.Text(), Reason: s.Text(), ExternalReference: s.Text()}
	held := commerce.HeldChange{Delta: s.Int(), After: s.Int()}
	if held.Delta != 0 || m.Kind == commerce.MoveRepaired {
		m.Held = &held
	}
	if beside && (m.Held == nil || note.Actor != "") {
		m.Note = &note
	}
	return m
}
