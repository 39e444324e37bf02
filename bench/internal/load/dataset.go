package load

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

// Dataset is a database that is ready to be served.
type Dataset struct {
	Size      Size
	Schema    string // of the migrations it was made with
	Key       string // of its one partner
	TestKey   string
	PartnerID string

	URL    string   `json:"-"` // for --database
	Shops  []Shop   `json:"-"`
	Orders []string `json:"-"` // ids
}

const sqliteScheme = "sqlite:"

// Path is the file of a database of SQLite.
func (d *Dataset) Path() string { return strings.TrimPrefix(d.URL, sqliteScheme) }

// Prepare makes a database of this size: catalog and partner by the service's
// own commands, orders through its engine.
func (e *Env) Prepare(url string, s Size) (*Dataset, error) {
	d := &Dataset{Size: s, URL: url, Shops: ShopsOf(s)}
	var err error
	if d.Schema, err = e.schema(url); err != nil {
		return nil, err
	}
	catalog := filepath.Join(e.Work, "catalog.json")
	if err := WriteCatalog(catalog, d.Shops); err != nil {
		return nil, err
	}
	if _, err := Output(e.Ctx, e.Program, "import", "--database", url, catalog); err != nil {
		return nil, err
	}
	if err := os.Remove(catalog); err != nil {
		return nil, err
	}
	out, err := Output(e.Ctx, e.Program, "partner", "create", "--database", url, "--name", "Bench", "--json", "--rate-limit", fmt.Sprint(rateLimit))
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
	d.PartnerID, d.Key, d.TestKey = made.PartnerID, made.Keys["live"], made.Keys["test"]
	if s.Orders > 0 { // else an older program's database keeps its schema
		const batch = 2000
		if d.Orders, err = FillOrders(e.Ctx, url, d.PartnerID, d.Shops, s.Orders, batch); err != nil {
			return nil, err
		}
	}
	if s.Events+s.Parked > 0 {
		if err := d.fillRecord(e.Ctx); err != nil {
			return nil, err
		}
	}
	debug.FreeOSMemory() // a large fill leaves garbage that would look like our own need
	return d, nil
}

// rateLimit is one that nobody reaches.
const rateLimit = 100_000_000

// FillOrders reports orders through the engine, so many a transaction. What
// they have to be sent waits for a service.
func FillOrders(ctx context.Context, url, partnerID string, shops []Shop, n, batch int) (orders []string, err error) {
	workers := 2 * batch // one batch is saved while the next gathers
	d, closing, err := OpenDirect(url, partnerID, shops, batch)
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
			rng := NewRand()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				id, err := d.Report(rng, false)
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

// schema is the text of all migrations of an engine: a database that was made
// with others is of no use.
func (e *Env) schema(url string) (string, error) {
	engine, _, _ := strings.Cut(url, ":")
	files, err := filepath.Glob(filepath.Join(e.Root, "internal/storage", engine, "migrations/*.sql"))
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

// The files in which a folder says what else is in it.
const (
	metaFile   = "dataset.json"
	ordersFile = "orders.txt"
)

// Kept is what the folder says of a database of this size that is reached by
// the URL; nil if it says nothing, or the schema is another one now.
func (e *Env) Kept(folder, url string, s Size) (*Dataset, error) {
	schema, err := e.schema(url)
	if err != nil {
		return nil, err
	}
	d := &Dataset{}
	meta := filepath.Join(folder, metaFile)
	data, err := os.ReadFile(meta)
	if err != nil || json.Unmarshal(data, d) != nil || d.Size != s || d.Schema != schema {
		return nil, nil
	}
	if info, err := os.Stat(meta); err != nil || s.Events > 0 && time.Since(info.ModTime()) > oldestEvents {
		return nil, err
	}
	ids, err := os.ReadFile(filepath.Join(folder, ordersFile))
	if err != nil {
		return nil, err
	}
	d.URL, d.Shops, d.Orders = url, ShopsOf(s), strings.Fields(string(ids))
	return d, nil
}

// oldestEvents is well before the service sweeps them.
const oldestEvents = 20 * 24 * time.Hour

// Keep writes down what Kept reads. It comes last, when all else is there.
func (d *Dataset) Keep(folder string) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, ordersFile), []byte(strings.Join(d.Orders, "\n")), 0o600),
		os.WriteFile(filepath.Join(folder, metaFile), data, 0o600))
}

// Forget removes what an earlier run left in a folder by these names, and
// first of all what it said about them. It makes the folder if there is none.
func Forget(folder string, names ...string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, old := range append([]string{metaFile, ordersFile}, names...) {
		if err := os.RemoveAll(filepath.Join(folder, old)); err != nil {
			return err
		}
	}
	return nil
}

// Cached takes the SQLite database of this size from the folder for large
// ones, or makes it there. Orders that earlier runs added stay in it.
func (e *Env) Cached(name string, s Size) (*Dataset, error) {
	const file = "purveyor.db"
	folder := filepath.Join(e.Dir, name)
	url := sqliteScheme + filepath.Join(folder, file)
	if d, err := e.Kept(folder, url, s); d != nil || err != nil {
		return d, err
	}
	if err := Forget(folder, file, file+"-wal", file+"-shm"); err != nil {
		return nil, err
	}
	d, err := e.Prepare(url, s)
	if err != nil {
		return nil, err
	}
	return d, d.Keep(folder)
}

// CopyTo copies a database of SQLite that nobody has open.
func (d *Dataset) CopyTo(path string) (*Dataset, error) {
	if info, err := os.Stat(d.Path() + "-wal"); err == nil && info.Size() > 0 {
		return nil, fmt.Errorf("%s is in use", d.Path())
	}
	from, err := os.Open(d.Path())
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
	c.URL = sqliteScheme + path
	return &c, errors.Join(err, to.Sync(), to.Close())
}
