package main

import (
	"context"
	"errors"
	"fmt"

	"purveyor/internal/config"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
)

type migrateCommand struct {
	config.Database `group:"Database:"`
	Check           bool   `help:"Change nothing: list the migrations that the database lacks, and exit with 1 if there are any."`
	Distribute      string `help:"Then distribute the tables over the nodes of a cluster: citus." enum:",citus" default:"" env:"PURVEYOR_DISTRIBUTE"`
}

func (m migrateCommand) prepare() error {
	if m.Distribute != "" && !m.PostgreSQL() {
		return wrong("--distribute %s: this needs a PostgreSQL database with the extension; --database names another", m.Distribute)
	}
	return nil
}

func (m migrateCommand) Run(ctx context.Context) error {
	if m.Check {
		return m.check()
	}
	engine, err := openEngine(m.Database, toServe)
	if err != nil {
		return err
	}
	printf("%v is up to date\n", m.Database)
	if cluster, ok := engine.(*postgres.Engine); ok && m.Distribute != "" {
		err = distribute(ctx, cluster)
	}
	return errors.Join(err, engine.Close())
}

func distribute(ctx context.Context, engine *postgres.Engine) error {
	tables, err := engine.Distribute(ctx)
	for _, table := range tables {
		printf("distributed %s\n", table)
	}
	if err == nil && len(tables) == 0 {
		printf("everything was already distributed\n")
	}
	return err
}

// check lists what a migration would do.
func (m migrateCommand) check() error {
	pending, err := pendingMigrations(m.Database)
	if err != nil {
		return err
	}
	for _, p := range pending {
		printf("pending: %s\n", p.File)
	}
	if len(pending) > 0 {
		return fmt.Errorf("%v lacks %d of the %d migrations of this program; apply them with purveyor migrate", m.Database, len(pending), sqlite.Schema())
	}
	printf("%v is up to date\n", m.Database)
	return nil
}

// pendingMigrations returns what an existing database lacks.
func pendingMigrations(c config.Database) ([]storage.Migration, error) {
	if c.PostgreSQL() {
		return postgres.Pending(c.Database)
	}
	path, err := c.SQLitePath()
	if err != nil {
		return nil, err
	}
	return sqlite.Pending(path)
}
