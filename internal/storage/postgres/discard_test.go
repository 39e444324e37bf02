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
	storagetest.Change(t, e, commerce.Needs{Stock: keys}, func(_ *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
		for _, k := range keys {
			c.Stock = append(c.Stock, commerce.Stock{StoreID: k.StoreID, ProductID: k.ProductID, Name: "Product", Active: true, Quantity: 100, UpdatedOn: now})
		}
		return c
	})
	return keys
}

// TestFailedBatchLeavesNothing: a batch that a constraint refuses withdraws its
// low watermark, so that feeds do not wait for it, and its connection serves the next one.
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
	table := "writers"
	if e.spread {
		table = "store_writers"
	}
	for range 3 {
		b, err := e.Load(ctx, commerce.Needs{Stock: keys})
		if err != nil {
			t.Fatal(err)
		}
		used := b.(*batch).writer.conn
		s, _ := b.Rows().Stock.Get(keys[0])
		s.Quantity = -1
		storagetest.Apply(b, storagetest.WithMoves(b.Rows(), commerce.Changes{Stock: []commerce.Stock{s}}, b.Stamp()))
		if err := b.Save(ctx); err == nil || errors.Is(err, storage.ErrUnavailable) {
			t.Fatalf("stock below zero: %v", err)
		}
		var watermarks int
		if err := conn.QueryRow(ctx, "SELECT count(*)::int FROM "+table+" WHERE floor IS NOT NULL AND until > now()").Scan(&watermarks); err != nil {
			t.Fatal(err)
		}
		w, err := e.takeWriter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.free <- w
		if watermarks != 0 || w.conn != used {
			t.Errorf("%d low watermarks are left, and the connection is the same: %v", watermarks, w.conn == used)
		}
	}
}

// TestCloseEndsABatchLeftOpen: the goroutine of a batch panicked between Load and
// Save. Close ends all the same, and the locks of the batch are free.
func TestCloseEndsABatchLeftOpen(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	seed := address(url).Open(t, time.Now)
	keys := seedStock(t, seed, "sto_1")
	e, err := Open(url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.patience = 10 * time.Millisecond
	if _, err := e.Load(ctx, commerce.Needs{Stock: keys}); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	select {
	case err := <-closed:
		if err == nil {
			t.Error("Close says nothing of the batch that is open")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Close waits for a batch that nothing ends")
	}
	deadline := time.Now().Add(30 * time.Second)
	for { // until the server sees the end of the connection
		b, err := seed.Load(ctx, commerce.Needs{Stock: keys})
		if err == nil {
			b.Discard()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the row is still locked: %v", err)
		}
	}
}

// TestPanicInLoad: a load that panics leaves the writer to the next batch.
func TestPanicInLoad(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	e, err := Open(url, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	keys := seedStock(t, e, "sto_1")
	e.now = func() time.Time { panic("no clock") }
	func() {
		defer func() { _ = recover() }()
		_, _ = e.Load(ctx, commerce.Needs{Stock: keys})
		t.Error("the load did not panic: the test did not test it")
	}()
	e.now = time.Now
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	b, err := e.Load(ctx, commerce.Needs{Stock: keys})
	if err != nil {
		t.Fatalf("the next batch: %v", err)
	}
	b.Discard()
}
