package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"purveyor/internal/backup"
	"purveyor/internal/config"
	"purveyor/internal/requestlog/sqlitelog"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/sqlite"
)

type restoreCommand struct {
	config.Database `group:"Database:"`
	From            string `help:"The backup." required:"" placeholder:"FILE"`
	Replace         bool   `help:"Replace the database that is there, which goes to PATH.old. Stop its service first."`

	path string // of the database
}

func (c *restoreCommand) prepare() (err error) {
	if c.PostgreSQL() {
		return errors.New("restore is for SQLite; for PostgreSQL see docs/OPERATING.md")
	}
	c.path, err = c.SQLitePath()
	return err
}

// Run puts a checked copy of the backup in the place of the database. The jobs in it that act
// outside are held, because they may have been done since.
func (c *restoreCommand) Run(ctx context.Context) (err error) {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock.Close()) }()
	if err := c.mayReplace(ctx); err != nil {
		return err
	}
	r, held, err := c.makePart(ctx)
	if err == nil {
		err = c.putInPlace()
	}
	if err != nil {
		return errors.Join(err, sqlite.RemovePart(c.path))
	}
	printf("%s has the state of %s: %d orders", c.path, r.TakenOn.Format("2006-01-02 15:04:05 MST"), r.Rows["orders"])
	if r.NewestOrder != nil {
		printf(", the newest of %s", r.NewestOrder.CreatedOn.Format("2006-01-02 15:04:05 MST"))
	}
	printf("\n")
	if c.Replace {
		printf("what was there is %s\n", sqlite.OldOf(c.path))
	}
	if held > 0 {
		printf("%d jobs are held: start the service, compare with `purveyor ledger check`, then `purveyor jobs release`\n", held)
	}
	return nil
}

// lock keeps services from the database until its closer is closed.
func (c *restoreCommand) lock() (io.Closer, error) {
	unlock, locked, err := sqlite.LockDatabase(c.path)
	if err == nil && !locked {
		err = sqlite.ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", c.path, err)
	}
	return unlock, nil
}

// mayReplace refuses to replace a database that is in use, or that was not to be replaced. It runs
// before the backup is copied, which may take long.
func (c *restoreCommand) mayReplace(ctx context.Context) error {
	if c.Replace {
		err := sqlite.CheckOld(c.path)
		if err == nil && isThere(c.path) && errors.Is(sqlite.Settle(c.path), sqlite.ErrInUse) {
			err = fmt.Errorf("database %s: %w", c.path, sqlite.ErrInUse)
		}
		return err
	}
	if isThere(c.path) && !isEmpty(ctx, c.path) {
		return fmt.Errorf("database %s is not empty; with --replace it goes to %s", c.path, sqlite.OldOf(c.path))
	}
	return nil
}

// isThere reports whether there is a database, or a part of one.
func isThere(path string) bool {
	size, log, err := sqlite.Size(path)
	return err != nil || size+log > 0
}

// isEmpty reports whether a database has no row. What cannot be read is not empty, nor is one with a
// log, which may be all that is left of it.
func isEmpty(ctx context.Context, path string) bool {
	if _, log, err := sqlite.Size(path); err != nil || log > 0 {
		return false
	}
	engine, err := sqlite.Open(path, sqlite.Options{Access: toUse})
	if err != nil {
		return false
	}
	rows := int64(0)
	err = engine.Snapshot(ctx, func(s schema.Snapshot) error {
		for _, t := range schema.Plains {
			sums, err := s.Sums(t)
			if err != nil {
				return err
			}
			rows += sums[0]
		}
		return nil
	})
	return errors.Join(err, engine.Close()) == nil && rows == 0
}

// makePart copies the backup beside the database, checks the copy, and holds its jobs.
func (c *restoreCommand) makePart(ctx context.Context) (r backup.Report, held int, err error) {
	size, log, err := sqlite.Size(c.From)
	switch {
	case err != nil:
		return r, 0, err
	case log > 0:
		return r, 0, fmt.Errorf("--from %s has a log beside it, -wal, so the file alone is no backup", c.From)
	}
	if free := sqlite.FreeSpace(filepath.Dir(c.path)); free < size {
		return r, 0, fmt.Errorf("the disk of %s has %d MiB free; the backup needs %d MiB", c.path, free>>20, size>>20)
	}
	said, err := backup.ReadReport(c.From)
	if err != nil {
		return r, 0, err
	}
	p := startProgress()
	defer p.end()
	p.phase("copying", size, "bytes")
	if err := sqlite.CopyPart(ctx, c.From, c.path, p.set); err != nil {
		return r, 0, err
	}
	part := sqlite.PartOf(c.path)
	if r, err = verifyAs(ctx, part, said, c.From, p); err != nil {
		return r, 0, err
	}
	p.phase("holding jobs", 0, "")
	db, err := openDatabase(config.Database{Database: "sqlite:" + part}, toUse)
	if err != nil {
		return r, 0, err
	}
	held, err = db.uses.HoldJobs(ctx, operator())
	if err = errors.Join(err, db.Close()); err == nil {
		err = sqlite.ClosePart(c.path)
	}
	return r, held, err
}

// putInPlace has the copy take the place of the database.
func (c *restoreCommand) putInPlace() error {
	if isThere(c.path) {
		// A database whose log cannot be taken into its file, because it is damaged or the disk is
		// full, goes to its place with its log.
		if err := sqlite.Settle(c.path); errors.Is(err, sqlite.ErrInUse) || err != nil && !c.Replace {
			return fmt.Errorf("database %s: %w", c.path, err)
		}
	}
	for _, step := range sqlite.Replacing(c.path, sqlitelog.Suffix, c.Replace) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
