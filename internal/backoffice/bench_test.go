package backoffice

import (
	"context"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/database"
	"purveyor/internal/testkit/fixture"
)

// BenchmarkBoardLook is what one look costs at 500 open orders in SQLite, of which one has
// changed.
func BenchmarkBoardLook(b *testing.B) {
	engine, err := sqlite.Open(database.SQLite(b), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	shop := fixture.Open(b, engine, nil, 1, 10_000)
	sold := make([]commerce.Order, 500)
	for i := range sold {
		sold[i] = fixture.Do(shop, shop.Report(0, 1))
	}
	move := func(orders []commerce.Order, change func(i int, o *commerce.Order)) {
		keys := make([]commerce.OrderKey, len(orders))
		for i := range orders {
			keys[i] = orders[i].Key()
		}
		fixture.Change(b, engine, commerce.Needs{Orders: keys}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
			for i := range orders {
				change(i, &orders[i])
				orders[i].UpdatedOn++
			}
			return commerce.Changes{Orders: orders}
		})
	}
	move(sold, func(i int, o *commerce.Order) { o.Status = commerce.OpenStatuses[i%5] })
	h := newBoardHub(env.Env{}, withUsers{shop.Reader, nil})
	for _, f := range []boardFilter{{ActsAll: true}, {}, {Stores: []string{fixture.StoreID}}, {Partner: fixture.PartnerID, ActsAll: true}} {
		if _, err := h.open(context.Background(), f); err != nil {
			b.Fatal(err)
		}
	}
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		move(sold[n%500:n%500+1], func(_ int, o *commerce.Order) { o.RefundedCents++ })
		b.StartTimer()
		if err := h.look(); err != nil {
			b.Fatal(err)
		}
	}
}
