package main

import (
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/requestlog"
	"purveyor/internal/requestlog/postgreslog"
	"purveyor/internal/requestlog/sqlitelog"
)

// newRequestLog makes the log of partners' requests, beside the database; nil if it is switched
// off.
func newRequestLog(c config.Server, db *database) (*requestlog.Log, error) {
	if c.RequestLogMiB == 0 {
		return nil, nil
	}
	store, err := requestStore(config.Database{Database: db.url})
	if err != nil {
		return nil, err
	}
	return requestlog.New(env.Env{}, store, requestlog.Options{Most: c.RequestLogMiB << 20}), nil
}

func requestStore(c config.Database) (requestlog.Store, error) {
	if c.PostgreSQL() {
		return postgreslog.New(c.Database)
	}
	path, err := c.SQLitePath()
	if err != nil {
		return nil, err
	}
	return sqlitelog.New(path), nil
}
