package main

import (
	"context"
	"fmt"
	"os"

	"purveyor/internal/commit"
	"purveyor/internal/config"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
)

// database is an open engine with its committer.
type database struct {
	storage.Engine
	committer *commit.Committer
}

// openDatabase opens the database and brings it up to date.
func openDatabase(c config.Database) (*database, error) {
	engine, err := openEngine(c)
	if err != nil {
		return nil, err
	}
	return &database{engine, commit.New(engine, 0)}, nil
}

func openEngine(c config.Database) (storage.Engine, error) {
	if c.PostgreSQL() {
		return postgres.Open(c.Database, postgres.Options{})
	}
	path, err := c.SQLitePath()
	if err != nil {
		return nil, err
	}
	return sqlite.Open(path, sqlite.Options{})
}

// Close answers every admitted command, then closes the engine.
func (d *database) Close() error {
	d.committer.Close()
	return d.Engine.Close()
}

// withDatabase opens the database for one command of the operator.
func withDatabase(c config.Database, f func(context.Context, *database) error) error {
	db, err := openDatabase(c)
	if err != nil {
		return err
	}
	err = f(context.Background(), db)
	if closing := db.Close(); err == nil {
		err = closing
	}
	return err
}

type migrateCommand struct{ config.Database }

func (m migrateCommand) Run() error {
	return withDatabase(m.Database, func(context.Context, *database) error {
		fmt.Fprintln(os.Stdout, m.Database, "is up to date")
		return nil
	})
}
