package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"purveyor/bench/internal/load"
	"purveyor/internal/pgtest"
)

// limits is one run: everything that is measured against each other.
type limits struct {
	*load.Env
	size   load.Size // of the empty databases
	orders int       // in the full ones; 0: there are none
	server *pgtest.Server
	list   []*contender
}

// contender is the service on one database.
type contender struct {
	*load.Service
	name   string
	engine string
	empty  *contender // what a full one is compared with; else nil

	// What was sold from start on must be missing from the stock.
	goods []load.Good
	start []int64 // their stock, by the index of the product
	book  *load.Book
}

const (
	sqlite   = "SQLite"
	postgres = "PostgreSQL"

	emptyDatabase = "purveyor_empty"
	fullDatabase  = "purveyor_full"
)

// settings are those of a server that loses nothing.
var settings = []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB", "max_connections=400"}

// open starts PostgreSQL and the service on every database.
func (l *limits) open() error {
	err := os.Chmod(l.Work, 0o711) // of root's folder PostgreSQL gets a part, as another user
	if err != nil {
		return err
	}
	if l.server, err = pgtest.Start(l.Work, settings...); err != nil {
		return err
	}
	if err := l.openPgbench(); err != nil {
		return err
	}
	for _, e := range []struct {
		name, url string
		full      func(load.Size) (*load.Dataset, error)
	}{
		{sqlite, "sqlite:" + filepath.Join(l.Work, "empty.db"), l.fullSQLite},
		{postgres, l.server.URL(emptyDatabase), l.fullPostgres},
	} {
		empty, err := l.addEmpty(e.name, e.url)
		if err == nil && l.orders > 0 {
			err = l.addFull(empty, e.full)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

func (l *limits) close() error {
	var err error
	for _, c := range l.list {
		err = errors.Join(err, c.Stop())
	}
	if l.server != nil {
		err = errors.Join(err, l.server.Close())
	}
	return err
}

func (l *limits) addEmpty(engine, url string) (*contender, error) {
	if engine == postgres {
		if err := l.server.SQL("CREATE DATABASE " + emptyDatabase); err != nil {
			return nil, err
		}
	}
	d, err := l.Prepare(url, l.size)
	if err != nil {
		return nil, err
	}
	return l.add(&contender{name: engine, engine: engine}, d)
}

func (l *limits) addFull(empty *contender, database func(load.Size) (*load.Dataset, error)) error {
	s := l.size
	s.Orders = l.orders
	fmt.Fprintf(os.Stderr, "preparing %s: %s\n", empty.engine, s)
	d, err := database(s)
	if err != nil {
		return err
	}
	_, err = l.add(&contender{name: empty.engine + " full", engine: empty.engine, empty: empty}, d)
	return err
}

// add serves the database and reads the stock with which it begins.
func (l *limits) add(c *contender, d *load.Dataset) (*contender, error) {
	var err error
	if c.Service, _, err = l.Serve(c.name, "info", d); err != nil {
		return nil, err
	}
	l.list = append(l.list, c)
	for _, s := range d.Shops {
		c.goods = append(c.goods, s.Goods...)
	}
	stock, err := load.StockOf(c.Addr, d.Key, c.goods)
	if err != nil {
		return nil, err
	}
	c.start, c.book = make([]int64, len(stock)), load.NewBook(len(stock))
	for i, g := range c.goods {
		c.start[g.Index] = stock[i]
	}
	return c, nil
}

// verify checks all that the service acknowledged.
func (c *contender) verify() (string, error) {
	before := make([]int64, len(c.goods))
	for i, g := range c.goods {
		before[i] = c.start[g.Index]
	}
	return c.book.Verify(c.Addr, c.Data.Key, c.goods, before)
}

// kept is the folder of a full database.
func (l *limits) kept(engine string) string {
	return filepath.Join(l.Dir, fmt.Sprintf("limits-%s-%d", engine, l.orders))
}

// fullSQLite is a copy, so that each run begins with the same.
func (l *limits) fullSQLite(s load.Size) (*load.Dataset, error) {
	d, err := l.Cached(filepath.Base(l.kept(sqlite)), s)
	if err != nil {
		return nil, err
	}
	return d.CopyTo(filepath.Join(l.Work, "full.db"))
}

// fullPostgres is restored from a dump, for the server goes with the run.
func (l *limits) fullPostgres(s load.Size) (*load.Dataset, error) {
	const dump = "dump"
	folder, url := l.kept(postgres), l.server.URL(fullDatabase)
	d, err := l.Kept(folder, url, s)
	if err != nil {
		return nil, err
	}
	if d == nil {
		if d, err = l.dumpFull(s, folder, dump, url); err != nil {
			return nil, err
		}
	}
	if err := l.server.SQL("CREATE DATABASE " + fullDatabase); err != nil {
		return nil, err
	}
	if _, err := load.Output(l.Ctx, "pg_restore", "--jobs=2", "--dbname="+url, filepath.Join(folder, dump)); err != nil {
		return nil, err
	}
	// What the server does by itself sooner or later, it shall not do meanwhile.
	if _, err := load.Output(l.Ctx, "vacuumdb", "--analyze", "--dbname="+url); err != nil {
		return nil, err
	}
	return d, l.server.SQL("CHECKPOINT")
}

// dumpFull makes the database once and leaves its dump in the folder.
func (l *limits) dumpFull(s load.Size, folder, dump, url string) (*load.Dataset, error) {
	if err := load.Forget(folder, dump); err != nil {
		return nil, err
	}
	if err := l.server.SQL("CREATE DATABASE " + fullDatabase); err != nil {
		return nil, err
	}
	d, err := l.Prepare(url, s)
	if err != nil {
		return nil, err
	}
	_, err = load.Output(l.Ctx, "pg_dump", "--format=directory", "--jobs=2", "--compress=1", "--file="+filepath.Join(folder, dump), url)
	if err == nil {
		err = d.Keep(folder)
	}
	return d, errors.Join(err, l.server.SQL("DROP DATABASE "+fullDatabase))
}
