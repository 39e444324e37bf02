package sqlite

import (
	"context"
	"errors"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// snapshot implements schema.Snapshot in a transaction of a reader.
type snapshot struct{ conn *connection }

// Snapshot implements storage.Engine.
func (e *Engine) Snapshot(ctx context.Context, f func(schema.Snapshot) error) error {
	var failed error // of f, and so perhaps of another database
	err := newReader(e).snapshot(ctx, func(conn *connection) error {
		failed = f(snapshot{conn})
		return nil
	})
	return errors.Join(failed, err)
}

func (s snapshot) State() (state schema.State, err error) {
	if state.Stamp, err = meta(s.conn, "stamp"); err == nil {
		state.NextStoreNo, err = meta(s.conn, "next_store_no")
	}
	if err == nil {
		err = query(s.conn, "SELECT secret FROM meta WHERE name = 'tracking'", noArgs, func(r *scanner) { state.TrackingSecret = string(r.Blob()) })
	}
	return state, err
}

func (s snapshot) Each(t *schema.Plain, row func(schema.Scanner) error) error {
	return query(s.conn, "SELECT "+t.Columns+" FROM "+t.Name, noArgs, func(r *scanner) {
		if err := row(r); err != nil {
			r.Fail(err)
		}
	})
}

func (s snapshot) Items(storeID string, item func(commerce.Item) error) error {
	sql, bind := schema.ItemsSQL(""), noArgs
	if storeID != "" {
		sql, bind = schema.ItemsSQL(" WHERE products.store_id = ?"), func(b schema.Binder) { b.Text(storeID) }
	}
	return query(s.conn, sql, bind, func(r *scanner) {
		if err := item(schema.ScanItem(r)); err != nil {
			r.Fail(err)
		}
	})
}

func (s snapshot) Sums(t *schema.Plain) (sums []int64, err error) {
	err = query(s.conn, t.SumsSQL(), noArgs, func(r *scanner) { sums = t.ReadSums(r) })
	return sums, err
}

// filling implements schema.Filling in a batch that loads nothing.
type filling struct {
	snapshot
	batch *batch
}

// Fill implements storage.Engine.
func (e *Engine) Fill(ctx context.Context, f func(schema.Filling) error) error {
	loaded, err := e.Load(ctx)
	if err != nil {
		return err
	}
	b := loaded.(*batch)
	defer b.Discard()
	if err := f(filling{snapshot{b.conn}, b}); err != nil {
		return err
	}
	return b.Save(ctx)
}

func (f filling) SetState(s schema.State) error {
	f.batch.stamp = max(f.batch.stamp, s.Stamp)
	f.batch.rows.NextStoreNo = s.NextStoreNo
	return exec(f.conn, "UPDATE meta SET secret = ? WHERE name = 'tracking'", func(b schema.Binder) { b.Blob([]byte(s.TrackingSecret)) })
}

func (f filling) Insert(t *schema.Plain, each func(row func(schema.Scanner) error) error) error {
	sql := insertInto(t.Name, t.Columns)
	return each(func(s schema.Scanner) error {
		return exec(f.conn, sql, func(b schema.Binder) { t.Move(s, b) })
	})
}
