package schema

import "purveyor/internal/commerce"

// StockMoves and StockNotes are what batches append. The key of a move begins
// with its time, so that batches write at the end of the index: an index by
// product would be written in another place for each line of an order, and SQLite's
// log grew by a third. PostgreSQL, which keeps rows and keys apart, has an index of
// time and number alone. The moves of a product are a chain: its stock row has the time of
// the newest, and each move that of the one before. Notes stand apart, so that the
// rows of sales, which have none, stay narrow.
var (
	StockMoves = Log[commerce.StockMove]{
		Name: "stock_moves", ID: "at, store_id, product_id, seq", Rest: "kind, delta, quantity_after, previous_at, order_body, noted",
		Bind: func(b Binder, m *commerce.StockMove) {
			b.Int(m.At).Text(m.StoreID).Text(m.ProductID).Int(m.Seq).Text(string(m.Kind)).Int(m.Delta).Int(m.QuantityAfter).Int(m.PreviousAt)
			if m.Order == (commerce.OrderBody{}) {
				b.Blob(nil)
			} else {
				b.Blob(m.Order[:])
			}
			b.Bool(m.Note != nil)
		},
	}
	StockNotes = Log[commerce.StockMove]{
		Name: "stock_notes", ID: "store_id, product_id, seq", Rest: "actor, reason, external_reference",
		Bind: func(b Binder, m *commerce.StockMove) {
			note := commerce.StockNote{}
			if m.Note != nil {
				note = *m.Note
			}
			b.Text(m.StoreID).Text(m.ProductID).Int(m.Seq).Text(note.Actor).Text(note.Reason).Text(note.ExternalReference)
		},
	}
)

// MoveColumns are what ScanStockMove reads: columns of a move m, and of its note n.
var MoveColumns = Join("m.at, m.seq", Qualified("m", StockMoves.Rest), Qualified("n", StockNotes.Rest))

// ScanStockMove reads a move of the product.
func ScanStockMove(s Scanner, k commerce.ProductKey) commerce.StockMove {
	m := commerce.StockMove{StoreID: k.StoreID, ProductID: k.ProductID, At: s.Int(), Seq: s.Int(), Kind: commerce.MoveKind(s.Text()),
		Delta: s.Int(), QuantityAfter: s.Int(), PreviousAt: s.Int()}
	copy(m.Order[:], s.Blob())
	noted, note := s.Bool(), commerce.StockNote{Actor: s.Text(), Reason: s.Text(), ExternalReference: s.Text()}
	if noted {
		m.Note = &note
	}
	return m
}

// Noted are the moves that have a note.
func Noted(moves []commerce.StockMove) (noted []commerce.StockMove) {
	for _, m := range moves {
		if m.Note != nil {
			noted = append(noted, m)
		}
	}
	return noted
}
