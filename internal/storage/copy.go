package storage

import (
	"context"
	"errors"

	"purveyor/internal/storage/schema"
)

// Transfer copies whole databases.
type Transfer interface {
	// Snapshot calls f with one state of the database. Fill calls its function with an
	// empty database to add rows to: if both return nil, all rows are durable, else none
	// is kept. Fill needs a database that no process writes to.
	Snapshot(ctx context.Context, f func(schema.Snapshot) error) error
	Fill(ctx context.Context, f func(schema.Filling) error) error
}

// ErrChanged is the refusal to copy a database that is in use.
var ErrChanged = errors.New("the database was written to while it was copied, and nothing was kept; stop its services and try again")

// Copy copies everything into an empty database, all or nothing, and returns the number of
// rows of each table. It refuses a source that changes meanwhile, because the copy would
// lack the rows that came after the snapshot without a sign of it.
func Copy(ctx context.Context, from, to Transfer) (rows map[string]int64, err error) {
	err = from.Snapshot(ctx, func(s schema.Snapshot) error {
		return to.Fill(ctx, func(f schema.Filling) error {
			if rows, err = schema.Copy(s, f); err != nil {
				return err
			}
			return unchanged(ctx, from, s)
		})
	})
	return rows, err
}

func unchanged(ctx context.Context, from Transfer, s schema.Snapshot) error {
	before, err := s.State()
	if err != nil {
		return err
	}
	return from.Snapshot(ctx, func(s schema.Snapshot) error {
		after, err := s.State()
		if err == nil && after != before {
			err = ErrChanged
		}
		return err
	})
}
