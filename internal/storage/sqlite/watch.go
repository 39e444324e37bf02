package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Vitals implements storage.Engine.
func (e *Engine) Vitals(ctx context.Context) (storage.Vitals, error) {
	file, log, err := Size(e.path)
	v := storage.Vitals{Bytes: file + log, LogBytes: log}
	if free := freeSpace(e.path); free != math.MaxInt64 {
		v.FreeBytes = free
	}
	if err == nil {
		err = newReader(e).rows(ctx, "SELECT value FROM meta WHERE name = ?", []any{storage.SchemaNumber}, func(s schema.Scanner) { v.Schema = int(s.Int()) })
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
