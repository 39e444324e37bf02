package storagetest

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

var histories = map[string]func(*testing.T, Database){
	"moves are read newest first, in pages": movePages,
	"stock is read in the order of keys":    stockPages,
}

// sampleMoves are those of the product of sample, with every field set.
func sampleMoves() []commerce.StockMove {
	order := commerce.OrderBodyOf(commerce.NewOrderID(7, 9, commerce.Entropy{1, 0, 255}))
	return []commerce.StockMove{
		{StoreID: "sto_1", ProductID: "prd_1", Seq: 1, Kind: commerce.MoveOpened, Delta: 11, QuantityAfter: 11, At: 15, PreviousAt: 0,
			Note: &commerce.StockNote{Actor: "operator:ann", Reason: "Ünï", ExternalReference: "count-1"}},
		{StoreID: "sto_1", ProductID: "prd_1", Seq: 2, Kind: commerce.MoveSold, Delta: -2, QuantityAfter: 9, At: 16, PreviousAt: 15, Order: order,
			Held: &commerce.HeldChange{Delta: 4, After: 4}},
	}
}

func wantMoves(t *testing.T, r storage.Reader, c commerce.Changes) {
	t.Helper()
	stock, want := c.Stock[0], slices.Clone(c.StockMoves)
	slices.Reverse(want)
	got, err := r.StockMoves(context.Background(), stock.Key(), stock.NewestMove(), 10)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("moves:\n got %+v, %v\nwant %+v", got, err, want)
	}
}

// numbersOf walks the moves of a product from a position on.
func numbersOf(t *testing.T, r storage.Reader, key commerce.ProductKey, from commerce.MovePosition, page int) (numbers []int64) {
	t.Helper()
	for {
		moves, err := r.StockMoves(context.Background(), key, from, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range moves {
			numbers, from = append(numbers, m.Seq), m.Before()
		}
		if len(moves) < page {
			return numbers
		}
	}
}

// movePages reads a history in pages, while the product and others are moved
// on: it is that of the stock row, and several moves of one batch are in order.
func movePages(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := seedProducts(t, e, 2, 2, 50)
	for i := range int64(8) {
		Change(t, e, stockOf(keys[i%2]), add(keys[i%2], i+1))
	}
	var row commerce.Stock
	Change(t, e, stockOf(keys[0]), func(rows *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
		s, _ := rows.Stock.Get(keys[0])
		for range 3 {
			next, move := s.MovedFrom(s, commerce.MoveAdjusted, now)
			s, c.StockMoves = next, append(c.StockMoves, move)
		}
		row, c.Stock = s, []commerce.Stock{s}
		return c
	})
	for range 3 {
		Change(t, e, stockOf(keys...), add(keys[0], -1))
	}
	for page := 1; page < 10; page++ {
		if got, want := numbersOf(t, e.Reader(), keys[0], row.NewestMove(), page), []int64{8, 7, 6, 5, 4, 3, 2, 1}; !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v, want %v", page, got, want)
		}
	}
	if got := numbersOf(t, e.Reader(), keys[3], row.NewestMove(), 5); len(got) > 0 {
		t.Errorf("another product's moves: %v", got)
	}
}

func stockPages(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	all := seedProducts(t, e, 3, 5, 5)
	for store, want := range map[string][]commerce.ProductKey{"": all, "sto_1": all[5:10], "sto_x": nil} {
		var got []commerce.ProductKey
		var after commerce.ProductKey
		for {
			page, err := e.Reader().StockPage(context.Background(), store, after, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page {
				after = s.Key()
				got = append(got, after)
				if s.Quantity != 5 || s.Moves != 1 || s.MovedOn == 0 {
					t.Errorf("%+v", s)
				}
			}
			if len(page) < 2 {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("of store %q: %v, want %v", store, got, want)
		}
	}
}

// CheckStock holds every product's moves against its quantity, from the first
// move on.
func CheckStock(t testing.TB, r storage.Reader) {
	t.Helper()
	ctx := context.Background()
	stock, err := r.StockPage(ctx, "", commerce.ProductKey{}, 100_000)
	if err != nil {
		t.Error(err)
	}
	for _, s := range stock {
		moves, err := r.StockMoves(ctx, s.Key(), s.NewestMove(), 100_000)
		if err != nil {
			t.Error(err)
			continue
		}
		check := commerce.NewStockCheck(s, func(fault string, _ bool) { t.Errorf("%v: %s", s.Key(), fault) })
		for _, m := range moves {
			check.Add(m)
			if byOrder := slices.Contains([]commerce.MoveKind{commerce.MoveSold, commerce.MoveRestored, commerce.MoveHeld, commerce.MoveReleased}, m.Kind); byOrder == (m.Order == commerce.OrderBody{}) || byOrder == (m.Note != nil) {
				t.Errorf("%v: a move has the order or the note of another kind: %+v", s.Key(), m)
			}
		}
		check.End()
	}
}
