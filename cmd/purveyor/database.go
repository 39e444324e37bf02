package main

import (
	"context"
	"fmt"

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

type migrateCommand struct {
	config.Database
	Distribute string `help:"Then spread the tables over the nodes of a cluster: citus." enum:",citus" default:"" env:"PURVEYOR_DISTRIBUTE"`
}

func (m migrateCommand) Run() error {
	if m.Distribute != "" && !m.PostgreSQL() {
		return fmt.Errorf("--distribute %s: this needs a PostgreSQL database with the extension; --database names another", m.Distribute)
	}
	return withDatabase(m.Database, func(ctx context.Context, db *database) error {
		printf("%v is up to date\n", m.Database)
		engine, ok := db.Engine.(*postgres.Engine)
		if m.Distribute == "" || !ok {
			return nil
		}
		tables, err := engine.Distribute(ctx)
		for _, table := range tables {
			printf("distributed %s\n", table)
		}
		if err == nil && len(tables) == 0 {
			printf("everything was distributed already\n")
		}
		return err
	})
}
