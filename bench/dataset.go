package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// dataset is a database that is ready to be served.
type dataset struct {
	Size      size
	Schema    string // of the migrations it was made with
	Key       string // of its one partner
	PartnerID string

	path   string
	shops  []shop
	orders []string // ids
}

// bench is what every part needs: where things are and how long runs take.
type bench struct {
	ctx      context.Context
	program  string // the service
	self     string // this program, for its hidden commands
	root     string // of the module
	work     string // scratch, removed at the end
	dir      string // where large databases stay
	pace     pace
	report   *report
	profiles string // folder for CPU profiles
}

// prepare makes a database of this size: catalog and partner by the service's
// own commands, orders through its engine.
func (b *bench) prepare(folder string, s size) (*dataset, error) {
	d := &dataset{Size: s, path: filepath.Join(folder, "purveyor.db"), shops: shopsOf(s)}
	var err error
	if d.Schema, err = b.schema(); err != nil {
		return nil, err
	}
	catalog := filepath.Join(folder, "catalog.json")
	if err := writeCatalog(catalog, d.shops); err != nil {
		return nil, err
	}
	url := "sqlite:" + d.path
	if _, err := run(b.ctx, b.program, "import", "--database", url, catalog); err != nil {
		return nil, err
	}
	if err := os.Remove(catalog); err != nil {
		return nil, err
	}
	out, err := run(b.ctx, b.program, "partner", "create", "--database", url, "--name", "Bench", "--json", "--rate-limit", "100000000")
	if err != nil {
		return nil, err
	}
	var made struct {
		PartnerID string            `json:"partner_client_id"`
		Keys      map[string]string `json:"keys"`
	}
	if err := json.Unmarshal(out, &made); err != nil {
		return nil, err
	}
	d.PartnerID, d.Key = made.PartnerID, made.Keys["live"]
	if d.orders, err = fill(b.ctx, d.path, d.PartnerID, d.shops, s.Orders); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // a large fill leaves garbage that would look like our own need
	return d, nil
}

// fill reports orders through the engine, in large batches.
func fill(ctx context.Context, path, partnerID string, shops []shop, n int) (orders []string, err error) {
	const batch, workers = 2000, 4000 // two batches: one is saved while the next gathers
	d, closing, err := openDirect(path, partnerID, shops, batch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	orders = make([]string, n)
	var next, aged atomic.Int64
	var group sync.WaitGroup
	errs := make(chan error, workers)
	for range min(workers, n) {
		group.Go(func() {
			rng := newRand()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				id, err := d.report(rng, false)
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					errs <- err
					return
				}
				orders[i] = id
				if i == n-n/keptReplies {
					aged.Store(time.Now().UnixMilli())
				}
				if (i+1)%100_000 == 0 {
					fmt.Fprintf(os.Stderr, "  %d of %d orders\n", i+1, n)
				}
			}
		})
	}
	group.Wait()
	close(errs)
	if err := <-errs; err != nil {
		return orders, err
	}
	return orders, d.sweep(ctx, aged.Load())
}

// keptReplies is the part of the orders whose stored replies are still kept:
// the service keeps them for 72 hours, and these orders are meant to be those
// of a month.
const keptReplies = 10

// schema is the text of all migrations: a database that was made with others
// is of no use.
func (b *bench) schema() (string, error) {
	files, err := filepath.Glob(filepath.Join(b.root, "internal/storage/sqlite/migrations/*.sql"))
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		all.Write(data)
	}
	return all.String(), nil
}

// cached takes the database of this size from the folder, or makes it there.
// Orders that earlier runs added stay in it.
func (b *bench) cached(name string, s size) (*dataset, error) {
	folder := filepath.Join(b.dir, name)
	meta, orders := filepath.Join(folder, "dataset.json"), filepath.Join(folder, "orders.txt")
	schema, err := b.schema()
	if err != nil {
		return nil, err
	}
	d := &dataset{}
	if data, err := os.ReadFile(meta); err == nil && json.Unmarshal(data, d) == nil && d.Size == s && d.Schema == schema {
		ids, err := os.ReadFile(orders)
		if err != nil {
			return nil, err
		}
		d.path, d.shops, d.orders = filepath.Join(folder, "purveyor.db"), shopsOf(s), strings.Fields(string(ids))
		return d, nil
	}
	// Made anew: only what an earlier run left here by these names is replaced.
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	for _, old := range []string{"dataset.json", "orders.txt", "purveyor.db", "purveyor.db-wal", "purveyor.db-shm"} {
		if err := os.Remove(filepath.Join(folder, old)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	if d, err = b.prepare(folder, s); err != nil {
		return nil, err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return d, errors.Join(os.WriteFile(orders, []byte(strings.Join(d.orders, "\n")), 0o600), os.WriteFile(meta, data, 0o600))
}

// copyTo copies a database that nobody has open.
func (d *dataset) copyTo(path string) (*dataset, error) {
	if info, err := os.Stat(d.path + "-wal"); err == nil && info.Size() > 0 {
		return nil, fmt.Errorf("%s is in use", d.path)
	}
	from, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	to, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(to, from)
	c := *d
	c.path = path
	return &c, errors.Join(err, to.Sync(), to.Close())
}
