package main

import (
	"fmt"

	"purveyor/bench/internal/load"
)

// payments is one run: everything that is measured against each other.
type payments struct {
	*load.Env
	sizes
	databases *load.Databases
	list      []*contender
}

// contender is a database. The service runs on it only while it is measured.
type contender struct {
	name string
	data *load.Dataset
}

func (p *payments) open() (err error) {
	if p.databases, err = p.OpenDatabases(); err != nil {
		return err
	}
	for _, engine := range []string{load.SQLite, load.Postgres} {
		d, err := p.databases.Empty(engine, p.Size)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		p.list = append(p.list, &contender{engine, d})
	}
	return nil
}

func (p *payments) close() error {
	if p.databases == nil {
		return nil
	}
	return p.databases.Close()
}

// with runs f beside a service on a database.
func (p *payments) with(c *contender, title string, f func(*load.Service) (load.Measurement, error)) (load.Measurement, error) {
	return p.With(c.data, title+" "+c.name, f)
}

// reporters report orders as fast as they can, of which nobody is told.
func (p *payments) reporters(c *contender) []load.Caller {
	return load.Reporters(c.data.Shops, c.data.Key, false, false, load.NewBook(p.Products))
}
