package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"

	"github.com/jackc/pgx/v5"
)

// seedStock stores products of one store each.
func seedStock(t *testing.T, e storage.Engine, stores ...string) (keys []commerce.ProductKey) {
	t.Helper()
	for _, s := range stores {
		keys = append(keys, commerce.ProductKey{StoreID: s, ProductID: "prd_of_" + s})
	}
	storagetest.Change(t, e, commerce.Needs{Stock: keys}, func(_ *commerce.Rows, now int64) (c commerce.Changes) {
		for _, k := range keys {
			c.Stock = append(c.Stock, commerce.Stock{StoreID: k.StoreID, ProductID: k.ProductID, Name: "Product", Active: true, Quantity: 100, UpdatedOn: now})
		}
		return c
	})
	return keys
}

// TestFailedBatchLeavesNothing: a batch that a constraint refuses takes its floor
// back, so that feeds do not wait for it, and its connection serves the next one.
func TestFailedBatchLeavesNothing(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	e := address(url).Open(t, time.Now).(*Engine)
	keys := seedStock(t, e, "sto_1")
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for range 3 {
		b, err := e.Load(ctx, commerce.Needs{Stock: keys})
		if err != nil {
			t.Fatal(err)
		}
		used := b.(*batch).writer.conn
		s, _ := b.Rows().Stock.Get(keys[0])
		s.Quantity = -1
		b.Rows().Apply(storagetest.WithMoves(b.Rows(), commerce.Changes{Stock: []commerce.Stock{s}}, b.Stamp()))
		if err := b.Save(ctx); err == nil || errors.Is(err, storage.ErrUnavailable) {
			t.Fatalf("stock below zero: %v", err)
		}
		var floors int
		if err := conn.QueryRow(ctx, "SELECT count(*)::int FROM writers WHERE floor IS NOT NULL AND until > now()").Scan(&floors); err != nil {
			t.Fatal(err)
		}
		w, err := e.takeWriter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.writer <- w
		if floors != 0 || w.conn != used {
			t.Errorf("%d floors are left, and the connection is the same: %v", floors, w.conn == used)
		}
	}
}
