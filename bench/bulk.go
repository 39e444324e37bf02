package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// A full database is filled in place, by connections that give up durability:
// a database whose filling is interrupted is made again.

// openBulk opens the database for large statements. SQLite writes them into the
// file itself, because a journal would be as large as the database.
func (d *dataset) openBulk() *sql.DB {
	db := d.open()
	if !d.onSQLite() {
		return db
	}
	db.SetMaxOpenConns(1) // the settings are those of the connection
	for _, setting := range []string{"locking_mode = EXCLUSIVE", "journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF", "cache_size = -262144"} {
		must(db.Exec("PRAGMA " + setting))
	}
	return db
}

// closeBulk brings the database into the state in which a service would find it
// after a quiet hour, so that no measurement pays for what the fill left behind.
func (d *dataset) closeBulk(db *sql.DB) {
	last := []string{"VACUUM (ANALYZE)", "CHECKPOINT"}
	if d.onSQLite() {
		last = []string{"PRAGMA journal_mode = WAL"}
	}
	for _, statement := range last {
		must(db.Exec(statement))
	}
	check(db.Close())
	if d.onSQLite() {
		f := must(os.Open(d.path()))
		check(errors.Join(f.Sync(), f.Close()))
	}
}

// loader adds rows to many tables of one database at a time.
type loader struct {
	dataset *dataset
	db      *sql.DB // of openBulk
	group   *errgroup.Group
	ctx     context.Context
	tables  map[schema.Described]*loading
	lanes   map[string]chan *loading
}

// loading is rows on their way into one table.
type loading struct {
	table   string
	columns []string
	rows    [][]any
}

// loadedRows is how many rows of a table are added at a time.
const loadedRows = 1000

func newLoader(ctx context.Context, d *dataset, db *sql.DB) *loader {
	group, ctx := errgroup.WithContext(ctx)
	return &loader{dataset: d, db: db, group: group, ctx: ctx, tables: map[schema.Described]*loading{}, lanes: map[string]chan *loading{}}
}

// add adds a row, which bind binds to the columns of the table.
func (l *loader) add(table schema.Described, bind func(schema.Binder)) {
	t := l.tables[table]
	if t == nil {
		shape := table.Shape()
		t = &loading{table: shape.Name, columns: schema.Split(shape.Columns())}
		l.tables[table] = t
	}
	r := make(row, 0, len(t.columns))
	bind(&r)
	if t.rows = append(t.rows, r); len(t.rows) == loadedRows {
		l.send(t)
	}
}

// send hands the rows of a table over to its lane.
func (l *loader) send(t *loading) {
	name := t.table
	if l.dataset.onSQLite() {
		name = "the only one"
	}
	lane := l.lanes[name]
	if lane == nil {
		lane = make(chan *loading, 1)
		l.lanes[name] = lane
		work := l.copyIn
		if l.dataset.onSQLite() {
			work = l.insert
		}
		l.group.Go(func() error { return work(lane) })
	}
	select {
	case lane <- &loading{t.table, t.columns, t.rows}:
	case <-l.ctx.Done():
		check(errors.Join(l.ctx.Err(), l.end())) // the lane that failed says why
	}
	t.rows = make([][]any, 0, loadedRows)
}

// close waits until all rows are in the database.
func (l *loader) close() {
	for _, t := range l.tables {
		l.send(t)
	}
	check(l.end())
}

func (l *loader) end() error {
	for _, lane := range l.lanes {
		close(lane)
	}
	return l.group.Wait()
}

// copyIn is a lane of PostgreSQL, which takes several tables at a time.
func (l *loader) copyIn(lane <-chan *loading) error {
	conn, err := pgx.Connect(l.ctx, l.dataset.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(l.ctx)) }()
	_, err = conn.Exec(l.ctx, "SET synchronous_commit = off")
	for t := range lane {
		if err == nil {
			_, err = conn.CopyFrom(l.ctx, pgx.Identifier{t.table}, t.columns, pgx.CopyFromRows(t.rows))
		}
		if err != nil {
			return fmt.Errorf("copy into %s: %w", t.table, err)
		}
	}
	return err
}

// insert is the only lane of SQLite. All rows are of one transaction, because a
// commit would write each page that changed since the one before.
func (l *loader) insert(lane <-chan *loading) error {
	tx, err := l.db.BeginTx(l.ctx, nil)
	if err != nil {
		return err
	}
	statements := map[string]*sql.Stmt{}
	for t := range lane {
		s := statements[t.table]
		if s == nil {
			s, err = tx.Prepare("INSERT INTO " + t.table + " (" + strings.Join(t.columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")")
			if err != nil {
				return errors.Join(err, tx.Rollback())
			}
			statements[t.table] = s
		}
		for _, r := range t.rows {
			if _, err := s.Exec(r...); err != nil {
				return errors.Join(fmt.Errorf("insert into %s: %w", t.table, err), tx.Rollback())
			}
		}
	}
	return tx.Commit()
}

// row is a Binder that keeps the values.
type row []any

func (r *row) add(v any) schema.Binder { *r = append(*r, v); return r }

func (r *row) Text(v string) schema.Binder { return r.add(v) }
func (r *row) Int(v int64) schema.Binder   { return r.add(v) }
func (r *row) Bool(v bool) schema.Binder   { return r.add(v) }

func (r *row) Blob(v []byte) schema.Binder {
	if v == nil {
		v = []byte{} // nil would be NULL
	}
	return r.add(v)
}

func (r *row) JSON(v []byte) schema.Binder {
	if v == nil {
		return r.add(nil)
	}
	return r.add(string(v))
}

func (r *row) Float(v *float64) schema.Binder {
	if v == nil {
		return r.add(nil)
	}
	return r.add(*v)
}
