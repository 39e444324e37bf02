package main

import (
	"errors"
	"fmt"
	"os"

	"purveyor/bench/internal/load"
)

// limits is one run: everything that is measured against each other.
type limits struct {
	*load.Env
	size      load.Size // of the empty databases
	orders    int       // in the full ones; 0: there are none
	old       string    // an older program of the service; empty: there is none
	databases *load.Databases
	list      []*contender
}

// contender is the service on one database.
type contender struct {
	*load.Service
	name   string
	engine string
	empty  *contender // what a full one is compared with; else nil
	newer  *contender // what is compared with this one, of an older program; else nil

	// What was sold from start on must be missing from the stock.
	goods []load.Good
	start []int64 // their stock, by the index of the product
	book  *load.Book
}

const (
	sqlite   = load.SQLite
	postgres = load.Postgres
)

// open starts PostgreSQL and the service on every database.
func (l *limits) open() error {
	var err error
	if l.databases, err = l.OpenDatabases(); err != nil {
		return err
	}
	if err := l.openPgbench(); err != nil {
		return err
	}
	for _, engine := range []string{sqlite, postgres} {
		empty, err := l.addEmpty(engine)
		if err == nil && l.orders > 0 {
			err = l.addFull(empty)
		}
		if err == nil && l.old != "" {
			err = l.addOld(empty)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	return nil
}

func (l *limits) close() error {
	var err error
	for _, c := range l.list {
		err = errors.Join(err, c.Stop())
	}
	if l.databases != nil {
		err = errors.Join(err, l.databases.Close())
	}
	return err
}

func (l *limits) addEmpty(engine string) (*contender, error) {
	d, err := l.databases.Empty(engine, l.size)
	if err != nil {
		return nil, err
	}
	return l.add(&contender{name: engine, engine: engine}, l.Env, d)
}

func (l *limits) addFull(empty *contender) error {
	s := l.size
	s.Orders = l.orders
	fmt.Fprintf(os.Stderr, "preparing %s: %s\n", empty.engine, s)
	d, err := l.databases.Full(empty.engine, fmt.Sprintf("limits-%s-%d", empty.engine, l.orders), s)
	if err != nil {
		return err
	}
	_, err = l.add(&contender{name: empty.engine + " full", engine: empty.engine, empty: empty}, l.Env, d)
	return err
}

// addOld has the older program make a database and serve it.
func (l *limits) addOld(newer *contender) error {
	env := *l.Env
	env.Program = l.old
	databases := load.Databases{Env: &env, Server: l.databases.Server}
	d, err := databases.Named(newer.engine, "old", l.size)
	if err != nil {
		return err
	}
	_, err = l.add(&contender{name: newer.engine + " old", engine: newer.engine, newer: newer}, &env, d)
	return err
}

// add serves the database and reads the stock with which it begins.
func (l *limits) add(c *contender, env *load.Env, d *load.Dataset) (*contender, error) {
	var err error
	if c.Service, _, err = env.Serve(c.name, "info", d); err != nil {
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
