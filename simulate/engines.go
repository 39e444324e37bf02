package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"purveyor/internal/simulation"
	"purveyor/internal/testkit/pg"
)

// server is a PostgreSQL server for all histories. It ends with the program.
var server = sync.OnceValues(func() (*pg.Server, error) { return pg.Start("", "fsync=off", "max_connections=400") })

var databases atomic.Int64 // that were made on the server

// play plays a history, on a database of its own unless the options name one.
func play(o simulation.Options) (r simulation.Report, err error) {
	switch o.Database {
	case "sqlite":
		folder, err := os.MkdirTemp("", "simulate-")
		if err != nil {
			return r, err
		}
		o.Database = "sqlite:" + filepath.Join(folder, "purveyor.db")
		return simulation.Run(o), os.RemoveAll(folder)
	case "postgres":
		s, err := server()
		if err != nil {
			return r, err
		}
		name := fmt.Sprint("history_", databases.Add(1))
		if err := s.SQL("CREATE DATABASE " + name); err != nil {
			return r, err
		}
		o.Database = s.URL(name)
		r = simulation.Run(o)
		return r, errors.Join(err, s.SQL("DROP DATABASE "+name+" WITH (FORCE)"))
	}
	return simulation.Run(o), nil
}
