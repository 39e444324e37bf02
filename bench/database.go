package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
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
	Schema   string    // the migrations that made it
	Partners []partner // the first gets no webhooks; the last is the dead endpoint's if webhooks are parked
	Orders   []string  // ids

	url   string // for --database
	shops []shop
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

// fill makes catalog and partners by a program's own commands, orders by reports
// to its service, and webhooks by SQL.
func (b *bench) fill(url, program string, s size) *dataset {
	d := &dataset{Size: s, url: url, shops: shopsOf(s)}
	catalog := filepath.Join(b.work, "catalog.json")
	writeCatalog(catalog, d.shops)
	b.output(program, "import", "--database", url, catalog)
	for i := range 1 + s.Receivers + min(1, s.Parked) {
		var made struct {
			PartnerID string            `json:"partner_client_id"`
			Keys      map[string]string `json:"keys"`
		}
		check(json.Unmarshal(b.output(program, "partner", "create", "--database", url, "--name", fmt.Sprintf("Bench %d", i), "--json",
			"--rate-limit", "100000000"), &made))
		d.Partners = append(d.Partners, partner{made.PartnerID, made.Keys["live"], made.Keys["test"]})
	}
	b.fillOrders(d, program)
	d.fillWebhooks()
	debug.FreeOSMemory() // a large fill leaves garbage that would look like our own need
	return d
}

// schema is the text of all migrations of an engine.
func (b *bench) schema(engine string) string {
	folder := map[string]string{sqliteEngine: "sqlite", postgresEngine: "postgres"}[engine]
	var all strings.Builder
	for _, f := range must(filepath.Glob(filepath.Join(b.root, "internal/storage", folder, "migrations/*.sql"))) {
		all.Write(must(os.ReadFile(f)))
	}
	return all.String()
}

const keptFile = "dataset.json" // written last, when all else is in the folder

// recall is what the folder says of a database of this size; nil if there is
// none, if it has another schema, or if its webhooks are nearly so old that the
// service sweeps them.
func recall(folder string, s size, schema string) *dataset {
	const oldestEvents = 20 * 24 * time.Hour
	d := &dataset{}
	path := filepath.Join(folder, keptFile)
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, d) != nil || d.Size != s || d.Schema != schema {
		return nil
	}
	if s.Events > 0 && time.Since(must(os.Stat(path)).ModTime()) > oldestEvents {
		return nil
	}
	d.shops = shopsOf(s)
	return d
}

func (d *dataset) keep(folder string) {
	check(os.WriteFile(filepath.Join(folder, keptFile), must(json.Marshal(d)), 0o600))
}

// kept is a copy of a large database, so that each run begins with the same. The
// original is made once, in a folder of -dir: SQLite's file, and of that one a copy
// in PostgreSQL, as a dump.
func (b *bench) kept(engine, name string, s size) *dataset {
	schema, folder := b.schema(engine), filepath.Join(b.dir, engine+"-"+name)
	file, dump := filepath.Join(b.dir, sqliteEngine+"-"+name, "purveyor.db"), filepath.Join(folder, "dump")
	d := recall(folder, s, schema)
	if d == nil {
		fmt.Fprintf(os.Stderr, "preparing %s: %s, %s\n", engine, s, s.record())
		check(errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o700)))
		if engine == sqliteEngine {
			d = b.fill(sqliteScheme+file, b.program, s)
		} else {
			d = recall(filepath.Dir(file), s, b.schema(sqliteEngine)) // SQLite comes first
			d.url = b.create(engine, name)
			b.output(b.program, "copy", "--from", sqliteScheme+file, "--to", d.url)
			b.output("pg_dump", "--format=directory", "--jobs=2", "--compress=1", "--file="+dump, d.url)
			check(b.drop(engine, name))
		}
		d.Schema = schema
		d.keep(folder)
	}
	d.url = b.create(engine, name)
	if engine == sqliteEngine {
		b.copyFile(file, d.path())
		return d
	}
	b.output("pg_restore", "--jobs=2", "--dbname="+d.url, dump)
	// The server would do this by itself sooner or later, during a measurement.
	b.output("vacuumdb", "--analyze", "--dbname="+d.url)
	check(b.postgres.SQL("CHECKPOINT"))
	return d
}

// copyFile copies a database of SQLite that no process has open.
func (b *bench) copyFile(original, path string) {
	if info, err := os.Stat(original + "-wal"); err == nil && info.Size() > 0 {
		check(fmt.Errorf("%s is in use", original))
	}
	b.output("cp", original, path)
	b.output("sync", path)
}
