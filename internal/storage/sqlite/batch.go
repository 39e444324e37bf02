package sqlite

import (
	"context"
	"fmt"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"zombiezen.com/go/sqlite"
)

// batch is the one writing transaction. It owns the writing connection until
// it ends.
type batch struct {
	engine *Engine
	conn   *connection // nil: the batch is over
	rows   commerce.Rows
	stamp  int64

	before int64             // the stamp that was the newest
	stored schema.ReplyBytes // by this batch
}

// Writers implements storage.Engine: a database file has one writer.
func (e *Engine) Writers() storage.Writers { return storage.Writers{Batches: 1} }

// Load implements storage.Engine. SQLite has one writer: the lock is taken
// first, so that everything that is read stays as it is until the end.
func (e *Engine) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	conn, err := e.takeWriter(ctx)
	if err != nil {
		return nil, err
	}
	b, loaded := &batch{engine: e, conn: conn}, false
	defer func() {
		if !loaded { // also after a panic: else no other batch gets the connection
			b.Discard()
		}
	}()
	for i := range needs {
		schema.Require(&b.rows, &needs[i])
	}
	if err := b.load(); err != nil {
		return nil, unavailable(err)
	}
	loaded = true
	return b, nil
}

func (b *batch) Rows() *commerce.Rows { return &b.rows }

func (b *batch) Stamp() commerce.Millis { return commerce.Millis(b.stamp) }

func (b *batch) load() error {
	if err := exec(b.conn, "BEGIN IMMEDIATE", noArgs); err != nil {
		return err
	}
	var err error
	if b.before, err = meta(b.conn, "stamp"); err != nil {
		return err
	}
	b.stamp = max(b.before+1, b.engine.now().UnixMilli())
	r := &b.rows
	if r.NextStoreNo == commerce.NeedStoreNo {
		if r.NextStoreNo, err = meta(b.conn, "next_store_no"); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if err := t.load(b.conn, r); err != nil {
			return err
		}
	}
	return nil
}

func meta(conn *connection, name string) (value int64, err error) {
	err = query(conn, "SELECT value FROM meta WHERE name = ?",
		func(p schema.Binder) { p.Text(name) }, func(s *scanner) { value = s.Int() })
	return value, err
}

func (b *batch) setMeta(name string, value int64) error {
	return exec(b.conn, "UPDATE meta SET value = ? WHERE name = ?", func(p schema.Binder) { p.Int(value).Text(name) })
}

// Save implements storage.Batch. Tables come before the tables that refer to them.
func (b *batch) Save(context.Context) error {
	if err := b.write(); err != nil {
		b.Discard()
		return b.engine.failed(err)
	}
	err := exec(b.conn, "COMMIT", noArgs)
	if err == nil {
		b.engine.freshness.own.Store(b.stamp)
		b.engine.recent.add(b.before, b.stamp, b.changedProducts(), b.changedOrders())
		b.engine.replies.Add(b.stored)
		b.engine.wakeCheckpoints()
		b.release()
		return nil
	}
	// A full disk or a held lock is found before the commit frame is whole, so
	// the batch is not there. After any other error the frame may have reached
	// the disk, and recovery would take it for committed.
	code := sqlite.ErrCode(err).ToPrimary()
	b.Discard()
	if code == sqlite.ResultFull || code == sqlite.ResultBusy {
		return b.engine.failed(err)
	}
	return fmt.Errorf("%w: %w", storage.ErrOutcomeUnknown, err)
}

func (b *batch) write() error {
	r := &b.rows
	b.stored = schema.PackReplies(&r.Replies)
	if err := b.setMeta("stamp", b.stamp); err != nil {
		return err
	}
	if r.NextStoreNo > 0 {
		if err := b.setMeta("next_store_no", r.NextStoreNo); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if err := t.save(b.conn, r); err != nil {
			return err
		}
	}
	return nil
}

// Discard implements storage.Batch.
func (b *batch) Discard() {
	if b.conn == nil {
		return
	}
	if !b.conn.AutocommitEnabled() {
		// If this fails, the next BEGIN fails too, with the reason.
		_ = exec(b.conn, "ROLLBACK", noArgs)
	}
	b.release()
}

func (b *batch) release() {
	conn := b.conn
	b.conn = nil
	b.engine.writer <- conn
}

// table is a table of the registry with its statements.
type table struct {
	schema.Described
	keyed                           schema.Keyed // nil: a log
	name                            string
	selectSQL, insertSQL, deleteSQL string
	updateSQL                       [3]string // by the part of the row that is written
}

// tables are those of the registry, in its order.
var tables = prepareTables()

func prepareTables() (list []*table) {
	for _, d := range schema.All {
		s := d.Shape()
		where := schema.Each(s.Key, "{c} = ?", " AND ")
		t := &table{Described: d, name: s.Name,
			selectSQL: s.ByKeySQL(),
			insertSQL: insertInto(s.Name, s.Columns()),
			deleteSQL: "DELETE FROM " + s.Name + " WHERE " + where}
		t.keyed, _ = d.(schema.Keyed)
		for _, part := range []schema.Part{schema.Mutable, schema.Hot} {
			if columns := s.Written(part); columns != "" {
				t.updateSQL[part] = "UPDATE " + s.Name + " SET " + schema.Each(columns, "{c} = ?", ", ") + " WHERE " + where
			}
		}
		list = append(list, t)
	}
	return list
}

func insertInto(name, columns string) string {
	return "INSERT INTO " + name + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
}

// load reads the rows that commands asked for.
func (t *table) load(conn *connection, r *commerce.Rows) error {
	if t.keyed == nil {
		return nil
	}
	for i := range t.keyed.Asked(r) {
		err := query(conn, t.selectSQL, func(b schema.Binder) { t.keyed.BindAsked(b, r, i) }, func(s *scanner) { t.keyed.Fill(s, r, i) })
		if err != nil {
			return fmt.Errorf("load %s: %w", t.name, err)
		}
	}
	return nil
}

// save writes the rows that changed or were added, and deletes.
func (t *table) save(conn *connection, r *commerce.Rows) error {
	for i := range t.Changed(r) {
		var err error
		switch t.Change(r, i) {
		case schema.Insert:
			err = exec(conn, t.insertSQL, func(b schema.Binder) { t.BindChanged(b, r, i, schema.Whole) })
		case schema.Update:
			err = t.update(conn, r, i, schema.Mutable)
		case schema.UpdateHot:
			err = t.update(conn, r, i, schema.Hot)
		case schema.Delete:
			err = exec(conn, t.deleteSQL, func(b schema.Binder) { t.keyed.BindChangedKey(b, r, i) })
		}
		if err != nil {
			return fmt.Errorf("save %s: %w", t.name, err)
		}
	}
	return nil
}

func (t *table) update(conn *connection, r *commerce.Rows, i int, part schema.Part) error {
	return exec(conn, t.updateSQL[part], func(b schema.Binder) {
		t.BindChanged(b, r, i, part)
		t.keyed.BindChangedKey(b, r, i)
	})
}
