package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"purveyor/internal/testkit/pg"
)

const (
	sqliteEngine   = "SQLite"
	postgresEngine = "PostgreSQL"
)

var engines = []string{sqliteEngine, postgresEngine}

// postgresSettings are those of a server that loses nothing.
var postgresSettings = []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB", "max_connections=400"}

// dataset is a database that is ready to be served.
type dataset struct {
	Size     size
	Partners []partner // the first gets no webhooks; the last is the dead endpoint's if webhooks are parked

	url      string // for --database
	shops    []shop
	reported []string  // ids of orders, unless they are a history
	filled   time.Time // when the history ended

	customers bool // its orders have some
}

type partner struct{ ID, Key, TestKey string }

const sqliteScheme = "sqlite:"

// path is the file of a database of SQLite.
func (d *dataset) path() string { return strings.TrimPrefix(d.url, sqliteScheme) }

// create makes an empty place for a database and returns its URL. The first one
// of PostgreSQL starts the server.
func (b *bench) create(engine, name string) (url string) {
	if engine == sqliteEngine {
		return sqliteScheme + filepath.Join(b.work, name+".db")
	}
	if b.postgres == nil {
		check(os.Chmod(b.work, 0o711)) // root's PostgreSQL runs as another user
		settings := postgresSettings
		if b.quick {
			settings = append(settings, "shared_buffers=32MB") // each process maps all of them
		}
		b.postgres = must(pg.Start(b.work, settings...))
	}
	check(b.postgres.SQL("CREATE DATABASE " + name))
	return b.postgres.URL(name)
}

// drop removes a database that no process has open.
func (b *bench) drop(engine, name string) error {
	if engine == postgresEngine {
		return b.postgres.SQL("DROP DATABASE " + name + " WITH (FORCE)")
	}
	files, err := filepath.Glob(filepath.Join(b.work, name+".db*"))
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}

// fill makes partners by a program's own commands, and webhooks by SQL. The orders
// of a large database are a history; those of a small one are reported to the
// program's service, and its catalog is imported by the program.
func (b *bench) fill(url, program string, s size) *dataset {
	d := &dataset{Size: s, url: url, shops: shopsOf(s)}
	if !s.History {
		catalog := filepath.Join(b.work, "catalog.json")
		check(os.WriteFile(catalog, catalogOf(d.shops), 0o600))
		b.output(program, "import", "--database", url, catalog)
	}
	for i := range 1 + s.Receivers + min(1, s.Parked) {
		var made struct {
			PartnerID string            `json:"partner_client_id"`
			Keys      map[string]string `json:"keys"`
		}
		check(json.Unmarshal(b.output(program, "partner", "create", "--database", url, "--name", fmt.Sprintf("Bench %d", i), "--json",
			"--rate-limit", "100000000"), &made))
		d.Partners = append(d.Partners, partner{made.PartnerID, made.Keys["live"], made.Keys["test"]})
	}
	if s.History {
		b.fillHistory(d)
	} else {
		b.fillOrders(d, program)
	}
	d.fillWebhooks()
	debug.FreeOSMemory() // a large fill leaves garbage that would look like our own need
	return d
}

// order is the id of order n.
func (d *dataset) order(n int) string {
	if d.Size.History {
		return d.past(n).id
	}
	return d.reported[n]
}

func (d *dataset) onSQLite() bool { return strings.HasPrefix(d.url, sqliteScheme) }

// A large database must fit on the disk of -dir. Of 1,000,000 orders, with their
// products, each took 2,340 bytes on SQLite and 3,190 on PostgreSQL. The margin is
// for PostgreSQL's log, for the empty database, and for what the cases add.
const (
	bytesOfOrder = 3_300
	diskMargin   = 10_000_000_000
)

// fitting is how many of these orders fit into so many bytes.
func fitting(orders, free int) int {
	return max(0, min(orders, (free-diskMargin)/bytesOfOrder))
}

// thatFit is how many of the wanted orders fit on the disk. It says so if not all do.
func (b *bench) thatFit() int {
	var disk syscall.Statfs_t
	check(syscall.Statfs(b.work, &disk))
	free := int(disk.Bavail) * int(disk.Bsize)
	n := fitting(b.orders, free)
	if b.quick {
		return b.orders
	}
	if n < b.orders {
		b.shortage = fmt.Sprintf("%s orders need %d GB of disk, but %d GB are free: %s orders were taken instead.", thousands(b.orders),
			(b.orders*bytesOfOrder+diskMargin)/1e9, free/1e9, thousands(n))
		fmt.Fprintln(os.Stderr, b.shortage)
	}
	if n == 0 {
		check(errors.New("no full database fits on the disk of -dir"))
	}
	return n
}

// bytes is how much of the disk the database takes.
func (d *dataset) bytes() int {
	if d.onSQLite() {
		return int(must(os.Stat(d.path())).Size())
	}
	return d.number("SELECT pg_database_size(current_database())")
}
