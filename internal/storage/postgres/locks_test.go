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

// session begins a transaction of another program, which holds its locks until
// the function is called.
func session(t *testing.T, url, sql string, args ...any) (end func()) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	tx, err := conn.Begin(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, sql, args...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(ctx); err != nil {
			t.Error(err)
		}
	}
}

// TestLockedRow: a batch gives up on a row that another session keeps locked,
// both when it loads the row and when it adds one under the same key. It lets
// its own locks go, and the next batch passes on the same connection.
func TestLockedRow(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	e := address(url).Open(t, time.Now).(*Engine)
	other := address(url).Open(t, time.Now)
	keys := seedStock(t, e, "sto_1", "sto_2") // locks are taken in this order
	free, locked := keys[0], keys[1]
	add := func(k commerce.ProductKey) func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			s, _ := rows.Stock.Get(k)
			s.Quantity++
			return storagetest.WithMoves(rows, commerce.Changes{Stock: []commerce.Stock{s}}, now)
		}
	}
	end := session(t, url, "SELECT FROM stock WHERE store_id = $1 AND product_id = $2 FOR UPDATE", locked.StoreID, locked.ProductID)
	_, err := e.Load(ctx, commerce.Needs{Stock: []commerce.ProductKey{free}}, commerce.Needs{Stock: []commerce.ProductKey{locked}})
	if !errors.Is(err, storage.ErrLocked) || !errors.Is(err, storage.ErrUnavailable) {
		t.Fatalf("%v, want storage.ErrLocked", err)
	}
	storagetest.Change(t, other, commerce.Needs{Stock: []commerce.ProductKey{free}}, add(free))
	storagetest.Change(t, e, commerce.Needs{Stock: []commerce.ProductKey{free}}, add(free))
	end()
	storagetest.Change(t, e, commerce.Needs{Stock: keys}, add(locked))

	jo := commerce.CustomerKey{StoreID: "sto_1", PartnerID: "ptn_1", Mode: commerce.Live, Contact: "jo@example.com"}
	end = session(t, url, `INSERT INTO customers (store_id, contact, partner_id, mode, id, name, created_on) VALUES ('sto_1', 'jo@example.com', 'ptn_1', 'live', 'cus_1', 'Jo', 1)`)
	defer end()
	b, err := e.Load(ctx, commerce.Needs{Customers: []commerce.CustomerKey{jo}})
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Apply(b, commerce.Changes{Customers: []commerce.Customer{{CustomerKey: jo, ID: "cus_2"}}})
	if err := b.Save(ctx); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("%v, want storage.ErrLocked", err)
	}
	storagetest.Change(t, e, commerce.Needs{Stock: keys}, add(locked))
	b, err = e.Load(ctx, commerce.Needs{Stock: keys})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	for _, k := range keys {
		if s, _ := b.Rows().Stock.Get(k); s.Quantity != 102 {
			t.Errorf("%d of %v, want 102", s.Quantity, k)
		}
	}
}

// TestSlowStatement: what the server cuts off is told apart from a database that
// is away.
func TestSlowStatement(t *testing.T) {
	ctx := context.Background()
	e := fresh(t).Open(t, time.Now).(*Engine)
	keys := seedStock(t, e, "sto_1")
	w, err := e.takeWriter(ctx)
	if err == nil {
		_, err = w.conn.Exec(ctx, "SET statement_timeout = '1ms'")
		e.free <- w
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, e.writing.ConnString(), "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(30); RETURN NEW; END'",
		"CREATE TRIGGER slow BEFORE UPDATE ON stock FOR EACH ROW EXECUTE FUNCTION slow()")
	for range 100 { // until the load is quick enough
		b, err := e.Load(ctx, commerce.Needs{Stock: keys})
		if errors.Is(err, storage.ErrTimeout) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		s, _ := b.Rows().Stock.Get(keys[0])
		s.Quantity--
		storagetest.Apply(b, storagetest.WithMoves(b.Rows(), commerce.Changes{Stock: []commerce.Stock{s}}, b.Stamp()))
		if err := b.Save(ctx); !errors.Is(err, storage.ErrTimeout) || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%v, want storage.ErrTimeout", err)
		}
		return
	}
	t.Error("no load was quick enough")
}
