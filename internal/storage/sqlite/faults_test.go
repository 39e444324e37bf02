package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
)

// damage writes over the first page of tables or indexes of a file that is closed.
func damage(t *testing.T, path string, names ...string) {
	t.Helper()
	const pageBytes = 4096
	raw := rawFile(path)
	for _, name := range names {
		var page int64
		for _, text := range raw.Query(t, "SELECT rootpage FROM sqlite_schema WHERE name = '"+name+"'") {
			for _, digit := range text {
				page = 10*page + int64(digit-'0')
			}
		}
		if page == 0 {
			t.Fatalf("there is no %s", name)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		noise := make([]byte, pageBytes)
		for i := range noise {
			noise[i] = 0xff
		}
		_, err = f.WriteAt(noise, (page-1)*pageBytes)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadsThatFail: a read that meets a damaged page fails. It never answers
// with what it has found until then, or with nothing.
func TestReadsThatFail(t *testing.T) {
	type read func(ctx context.Context, r storage.Reader) error
	page := func(ctx context.Context, r storage.Reader) error {
		_, err := r.ProductPage(ctx, storage.ProductFilter{Limit: 5}, nil)
		return err
	}
	for _, c := range []struct {
		name, damaged string
		read          read
	}{
		{"versions of a page of products", "stock_feed", page},
		{"the stamp of a page of products", "meta", page},
		{"items of a page of products", "products", page},
		{"one product", "products", func(ctx context.Context, r storage.Reader) error {
			_, _, err := r.Product(ctx, "prd_0_000")
			return err
		}},
		{"stock", "product_stores", func(ctx context.Context, r storage.Reader) error {
			_, err := r.Stock(ctx, []string{"prd_0_000"})
			return err
		}},
		{"what is due", "jobs_waiting", func(ctx context.Context, r storage.Reader) error {
			_, _, err := r.NextDue(ctx, 1000)
			return err
		}},
		{"jobs that wait", "jobs_waiting", func(ctx context.Context, r storage.Reader) error {
			_, err := r.Jobs(ctx, storage.JobFilter{State: commerce.JobWaiting, Owner: "o", Limit: 5})
			return err
		}},
		{"jobs that are dead", "jobs_dead", func(ctx context.Context, r storage.Reader) error {
			_, err := r.Jobs(ctx, storage.JobFilter{State: commerce.JobDead, Limit: 5})
			return err
		}},
		{"stores by id", "stores", func(ctx context.Context, r storage.Reader) error {
			_, err := r.Stores(ctx, storage.StoreFilter{Active: true, IDs: []string{"sto_0"}, Limit: 5})
			return err
		}},
		{"categories of a store", "categories", func(ctx context.Context, r storage.Reader) error {
			_, err := r.Categories(ctx, storage.CategoryFilter{StoreIDs: []string{"sto_0"}})
			return err
		}},
		{"a key", "partner_keys_hash", func(ctx context.Context, r storage.Reader) error {
			_, _, err := r.KeyHolder(ctx, commerce.KeyHash{1})
			return err
		}},
		{"a timeline", "timeline_order_id", func(ctx context.Context, r storage.Reader) error {
			_, err := r.Timeline(ctx, commerce.OrderKey{StoreID: "sto_0", OrderID: "ord_1"}, 5)
			return err
		}},
		{"readiness", "partners", func(ctx context.Context, r storage.Reader) error { return r.Ping(ctx) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			e, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			storagetest.SeedProducts(t, e, 1, 3, 5)
			if err := c.read(t.Context(), e.Reader()); err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("before: %v", err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			atOpening := c.damaged == "meta" // which is read at opening, too
			if !atOpening {
				damage(t, path, c.damaged)
			}
			if e, err = Open(path, Options{}); err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if atOpening {
				damage(t, path, c.damaged)
				if _, err := Open(path, Options{}); !errors.Is(err, storage.ErrUnusable) {
					t.Errorf("opened: %v", err)
				}
			}
			if err := c.read(t.Context(), e.Reader()); !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, storage.ErrUnusable) {
				t.Errorf("after: %v", err)
			}
		})
	}
}

// TestStampIsReadOnce: the newest stamp is read again only after a batch.
func TestStampIsReadOnce(t *testing.T) {
	e := fresh(t).Open(t, time.Now).(*Engine)
	look := func() {
		if _, err := e.freshness.stamp(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if first, second := sent(look), sent(look); first == 0 || second > 0 {
		t.Errorf("%d statements, then %d; want some, then none", first, second)
	}
	if err := saveReply(e, "a"); err != nil {
		t.Fatal(err)
	}
	if sent(look) == 0 {
		t.Error("a batch was saved, and the stamp is not read again")
	}
}

// sent counts the statements that f sends. Checkpoints, which may run beside it,
// do not count.
func sent(f func()) int {
	var n atomic.Int64
	count := func(sql string) {
		if !strings.Contains(sql, "wal_checkpoint") {
			n.Add(1)
		}
	}
	observe.Store(&count)
	defer observe.Store(nil)
	f()
	return int(n.Load())
}
