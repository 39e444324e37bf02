package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"
)

// Vitals implements storage.Engine.
func (e *Engine) Vitals(ctx context.Context) (storage.Vitals, error) {
	v, err := e.files()
	if err == nil {
		s := schemaNumber(&v)
		err = newReader(e).rows(ctx, s.SQL, s.Args, s.Row)
	}
	return v, err
}

// Gauges implements storage.Reader.
func (r reader) Gauges(ctx context.Context, most int) (g storage.Gauges, err error) {
	if g.Vitals, err = r.e.files(); err != nil {
		return g, err
	}
	list, complete := r.Reader.Gauges(&g, most)
	err = r.snapshot(ctx, func(conn *connection) error {
		for _, s := range append(list, schemaNumber(&g.Vitals)) {
			if err := query(conn, s.SQL, bind(s.Args...), func(v *scanner) { s.Row(v) }); err != nil {
				return err
			}
		}
		return nil
	})
	complete()
	return g, err
}

func schemaNumber(v *storage.Vitals) reads.Statement {
	return reads.Statement{SQL: "SELECT value FROM meta WHERE name = ?", Args: []any{storage.SchemaNumber}, Row: func(s schema.Scanner) { v.Schema = int(s.Int()) }}
}

// files are the vitals that the files tell.
func (e *Engine) files() (storage.Vitals, error) {
	file, log, err := Size(e.path)
	v := storage.Vitals{Bytes: file + log, LogBytes: log}
	if free := freeSpace(e.path); free != math.MaxInt64 {
		v.FreeBytes = free
	}
	return v, err
}

// sizeOf is the size of a file; 0 for one that is not there.
func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// WatchCheckpoints has f told how long each copy of the log into the file took. f must not block.
func (e *Engine) WatchCheckpoints(f func(took time.Duration)) { e.copied.Store(&f) }

// tellCopied tells of a copy that began then.
func (e *Engine) tellCopied(began time.Time) {
	if f := e.copied.Load(); f != nil {
		(*f)(time.Since(began))
	}
}
