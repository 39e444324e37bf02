package sqlite

import (
	"context"
	"errors"
	"fmt"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// A batch can be loaded while the batch before it is being saved, so that the disk and
// other processor cores are not idle meanwhile. Its rows are those of the database and,
// over them, the stock rows that the batch before is about to save. Before the batch is
// saved, or its callers are answered, it takes the lock and makes sure that only the batch
// before has changed the database. Otherwise Save fails with storage.ErrAgain, and the
// next batches are loaded under the lock.

// ahead is the state of the database for which a batch was loaded.
type ahead struct {
	before, after int64 // the newest stamp, without the batch before and with it
	use           use   // of the batch before
	follows       bool  // rows are as the batch before saves them
}

// use is one use of the writing connection. Nothing was written between two successive
// uses with equal versions.
type use struct {
	number  int64
	version int64 // PRAGMA data_version: another number after a commit by another connection
}

// carefulLoads is how many batches are loaded under the lock after one that was loaded
// ahead in vain.
const carefulLoads = 16

// currentUse is for a connection that has the lock of the file.
func (c *connection) currentUse() (u use, err error) {
	u.number = c.uses
	err = query(c, "PRAGMA data_version", noArgs, func(s *scanner) { u.version = s.Int() })
	return u, err
}

// loadAhead reads the rows while prev is being saved. It reports false if that is not
// possible; the rows are then worth nothing.
func (b *batch) loadAhead(prev *batch) bool {
	e := b.engine
	if e.careful.Load() > 0 {
		e.careful.Add(-1)
		return false
	}
	a := &ahead{before: prev.before, after: prev.stamp, use: prev.use}
	if meet(&b.rows, &prev.rows) {
		return false
	}
	var newest int64
	err := e.early.snapshot(func() (err error) {
		if newest, err = e.early.newestStamp(); err != nil {
			return err
		}
		return b.read(e.early)
	})
	switch {
	case err != nil:
		return false // under the lock it fails again, or not
	case newest == a.before:
		a.follows = b.follow(&prev.rows)
	case newest != a.after:
		return false
	}
	b.stamp, b.ahead = max(a.after+1, e.now().UnixMilli()), a
	return true
}

// meet reports whether one batch asks for rows that another one changes. Stock rows are
// left out, because many batches change the same ones. So are the numbers of stores.
func meet(asking, changing *commerce.Rows) bool {
	if asking.NextStoreNo == commerce.NeedStoreNo {
		return true
	}
	for _, t := range schema.Tables {
		if t.Shape().Name != schema.Stock.Name && t.Meet(asking, changing) {
			return true
		}
	}
	return false
}

// follow takes over the stock rows that the batch before changes. It reports whether there
// are such rows. A stock row has no part that is shared with its copy.
func (b *batch) follow(prev *commerce.Rows) (any bool) {
	saved := &prev.Stock
	for i := range saved.Changed() {
		k, v, _ := saved.Change(i)
		if n, asked := b.rows.Stock.AskedAt(k); asked {
			b.rows.Stock.Fill(n, *v)
			any = true
		}
	}
	return any
}

var errOvertaken = errors.New("the rows have changed since they were loaded")

// catchUp takes the lock for a batch that was loaded ahead. It returns storage.ErrAgain if
// the database is not in the state that the batch was loaded for: then the batch before was not saved,
// or something else was written.
func (b *batch) catchUp(ctx context.Context) (err error) {
	e, a := b.engine, b.ahead
	if b.conn, err = e.takeWriter(ctx); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	if err = b.lock(); err != nil {
		return unavailable(err)
	}
	next := b.use.number == a.use.number+1 && b.use.version == a.use.version
	if !next || b.before != a.after && (b.before != a.before || a.follows) {
		e.careful.Store(carefulLoads)
		return fmt.Errorf("%w: %w", storage.ErrAgain, errOvertaken)
	}
	return nil
}
