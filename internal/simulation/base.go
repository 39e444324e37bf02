package simulation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/testkit/faultproxy"
	"purveyor/internal/testkit/memory"
)

// base is a database, with what is asked of it when everything has come to rest.
type base interface {
	// open opens the database for a process. worker is the name under which it leases jobs.
	open(worker string, e env.Env) (storage.Engine, error)
	Orders() []commerce.Order
	OpenReplies() []commerce.Reply
	SandboxObjects() []commerce.SandboxObject
}

type inMemory struct{ *memory.Database }

func (d inMemory) open(_ string, e env.Env) (storage.Engine, error) { return d.Open(e, e.Now), nil }

// stored is a database of one of the engines that the program has.
type stored struct {
	w      *world
	url    string // as --database takes it
	served string // the same for processes, which may reach a server through the proxy
	proxy  *faultproxy.Proxy
	reader storage.Engine
}

const sqliteScheme = "sqlite:"

// OneProcess reports whether only one process serves the database at a time.
func OneProcess(database string) bool { return strings.HasPrefix(database, sqliteScheme) }

func (d *stored) isFile() bool { return OneProcess(d.url) }

func (d *stored) open(worker string, e env.Env) (storage.Engine, error) {
	if !d.isFile() {
		url := d.served
		if worker == "" {
			url = d.url
		}
		return postgres.Open(url, postgres.Options{Now: e.Now, Writers: 2})
	}
	path := strings.TrimPrefix(d.url, sqliteScheme)
	engine, err := sqlite.Open(path, sqlite.Options{Now: e.Now})
	if err != nil || worker == "" {
		return engine, err
	}
	owner, err := engine.Own(context.Background(), worker)
	if err == nil && !owner {
		err = errors.New("another process serves the file")
	}
	return engine, err
}

// openBase opens the database, for what is outside of all processes.
func (w *world) openBase() (engine storage.Engine, err error) {
	if !w.parallel() {
		w.db = inMemory{memory.New()}
		return w.db.open("", w.env)
	}
	d := &stored{w: w, url: w.Database, served: w.Database}
	w.db = d
	if d.reader, err = d.open("", w.env); err == nil && !d.isFile() && !w.Calm {
		err = d.throughProxy()
	}
	return d.reader, err
}

// closeShop ends all processes that run beside each other.
func (w *world) closeShop() {
	d, ok := w.db.(*stored)
	if !ok {
		return
	}
	for len(w.servers) > 0 {
		w.end(0)
	}
	err := d.reader.Close()
	if d.proxy != nil {
		err = errors.Join(err, d.proxy.Close())
	}
	if err != nil {
		w.broke("the database could not be closed: %v", err)
	}
}

// Orders are all that there are, in the order of their ids.
func (d *stored) Orders() []commerce.Order {
	list := rowsOf(d, schema.Orders.Name, func(s schema.Scanner) commerce.Order {
		return schema.Orders.Scan(s, commerce.OrderKey{StoreID: s.Text(), OrderID: s.Text()})
	})
	slices.SortFunc(list, func(a, b commerce.Order) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// OpenReplies are the stored replies whose answer is not decided yet.
func (d *stored) OpenReplies() []commerce.Reply {
	list := rowsOf(d, schema.Replies.Name, func(s schema.Scanner) commerce.Reply {
		key := commerce.ReplyKey{PartnerID: s.Text(), Key: told(s.Blob())} // a digest
		return schema.Replies.Scan(s, key)
	})
	return slices.DeleteFunc(list, func(r commerce.Reply) bool { return !r.Open() })
}

// SandboxObjects are all that there are.
func (d *stored) SandboxObjects() []commerce.SandboxObject {
	return rowsOf(d, schema.SandboxObjects.Name, func(s schema.Scanner) commerce.SandboxObject {
		return schema.SandboxObjects.Scan(s, s.Text())
	})
}

// rowsOf are the rows of a table.
func rowsOf[V any](d *stored, table string, scan func(schema.Scanner) V) (list []V) {
	at := slices.IndexFunc(schema.Plains, func(p *schema.Plain) bool { return p.Name == table })
	err := d.reader.Snapshot(context.Background(), func(s schema.Snapshot) error {
		return s.Each(schema.Plains[at], func(row schema.Scanner) error {
			list = append(list, scan(row))
			return nil
		})
	})
	if err != nil {
		d.w.broke("the rows of %s could not be read: %v", table, err)
	}
	return list
}
