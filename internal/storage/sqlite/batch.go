package sqlite

import (
	"context"
	"errors"
	"fmt"

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
	for _, n := range needs {
		b.rows.Require(n)
	}
	if err := b.load(); err != nil {
		return nil, unavailable(err)
	}
	loaded = true
	return b, nil
}

func (b *batch) Rows() *commerce.Rows { return &b.rows }

func (b *batch) Stamp() int64 { return b.stamp }

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
	return errors.Join(
		load(b.conn, replies, &r.Replies),
		load(b.conn, partners, &r.Partners),
		load(b.conn, apiKeys, &r.APIKeys),
		load(b.conn, stores, &r.Stores),
		load(b.conn, categories, &r.Categories),
		load(b.conn, productStores, &r.ProductStores),
		load(b.conn, products, &r.Products),
		load(b.conn, stock, &r.Stock),
		load(b.conn, orders, &r.Orders),
		load(b.conn, externalIDs, &r.External),
		load(b.conn, customers, &r.Customers),
		load(b.conn, payments, &r.Payments),
		load(b.conn, refunds, &r.Refunds),
		load(b.conn, deliveries, &r.Deliveries),
		load(b.conn, attention, &r.Attention),
		load(b.conn, places, &r.Places),
		load(b.conn, endpoints, &r.Endpoints),
		load(b.conn, mails, &r.Mails),
		load(b.conn, jobs, &r.Jobs),
		load(b.conn, sandbox, &r.Sandbox),
	)
}

func meta(conn *connection, name string) (value int64, err error) {
	err = query(conn, "SELECT value FROM meta WHERE name = ?",
		func(p schema.Binder) { p.Text(name) }, func(s *scanner) { value = s.Int() })
	return value, err
}

func (b *batch) setMeta(name string, value int64) error {
	return exec(b.conn, "UPDATE meta SET value = ? WHERE name = ?", func(p schema.Binder) { p.Int(value).Text(name) })
}

func load[K comparable, V any](conn *connection, t *table[K, V], rows *commerce.Table[K, V]) error {
	for _, k := range rows.Keys() {
		err := query(conn, t.selectSQL, func(b schema.Binder) { t.BindKey(b, k) }, func(s *scanner) { rows.Fill(k, t.Scan(s, k)) })
		if err != nil {
			return fmt.Errorf("load %s: %w", t.Name, err)
		}
	}
	return nil
}

// Save implements storage.Batch. Parents come before what refers to them.
func (b *batch) Save(context.Context) error {
	if err := b.write(); err != nil {
		b.Discard()
		return b.engine.failed(err)
	}
	err := exec(b.conn, "COMMIT", noArgs)
	if err == nil {
		b.engine.freshness.own.Store(b.stamp)
		b.engine.recent.add(b.before, b.stamp, b.changedProducts())
		b.engine.replies.Add(b.stored)
		b.engine.tellSaved()
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
	if err := firstError(
		save(b.conn, replies, &r.Replies),
		save(b.conn, partners, &r.Partners),
		save(b.conn, apiKeys, &r.APIKeys),
		save(b.conn, stores, &r.Stores),
		save(b.conn, categories, &r.Categories),
		save(b.conn, productStores, &r.ProductStores),
		save(b.conn, products, &r.Products),
		save(b.conn, stock, &r.Stock),
		save(b.conn, orders, &r.Orders),
		save(b.conn, externalIDs, &r.External),
		save(b.conn, customers, &r.Customers),
		save(b.conn, payments, &r.Payments),
		save(b.conn, refunds, &r.Refunds),
		save(b.conn, deliveries, &r.Deliveries),
		save(b.conn, attention, &r.Attention),
		save(b.conn, places, &r.Places),
		save(b.conn, endpoints, &r.Endpoints),
		save(b.conn, mails, &r.Mails),
		save(b.conn, jobs, &r.Jobs),
		save(b.conn, sandbox, &r.Sandbox),
		remove(b.conn, replies, &r.Replies),
		remove(b.conn, jobs, &r.Jobs),
		remove(b.conn, sandbox, &r.Sandbox),
	); err != nil {
		return err
	}
	return b.append()
}

// firstError keeps the cause: what comes after it in a broken transaction
// only follows from it.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func save[K comparable, V any](conn *connection, t *table[K, V], rows *commerce.Table[K, V]) error {
	return rows.EachChanged(func(v, was *V) error {
		sql, bind := t.insertSQL, func(b schema.Binder) { t.Bind(b, v) }
		if was != nil {
			often := t.IsOften(v, was)
			_, written := t.Written(often)
			sql, bind = t.updateSQL[often], func(b schema.Binder) {
				written(b, v)
				t.BindKey(b, t.KeyOf(v))
			}
		}
		if err := exec(conn, sql, bind); err != nil {
			return fmt.Errorf("save %s: %w", t.Name, err)
		}
		return nil
	})
}

func remove[K comparable, V any](conn *connection, t *table[K, V], rows *commerce.Table[K, V]) error {
	return rows.EachDeleted(func(k K) error {
		if err := exec(conn, t.deleteSQL, func(b schema.Binder) { t.BindKey(b, k) }); err != nil {
			return fmt.Errorf("delete from %s: %w", t.Name, err)
		}
		return nil
	})
}

func (b *batch) append() error {
	r := &b.rows
	return firstError(
		appendTo(b.conn, insertMoves, schema.StockMoves.Bind, r.StockMoves),
		appendTo(b.conn, insertNotes, schema.StockNotes.Bind, schema.Noted(r.StockMoves)),
		appendTo(b.conn, insertTimeline, schema.Timeline.Bind, r.Timeline),
		appendTo(b.conn, insertLedger, schema.Ledger.Bind, r.Ledger),
		appendTo(b.conn, insertEvents, schema.WebhookEvents.Bind, r.Webhooks),
		appendTo(b.conn, insertAttempts, schema.Attempts.Bind, r.Attempts),
		appendTo(b.conn, insertCallbacks, schema.StrayCallbacks.Bind, r.StrayCallbacks),
		appendTo(b.conn, insertOutbox, schema.Outbox.Bind, r.Outbox),
		appendTo(b.conn, jobs.insertSQL, jobs.Bind, r.NewJobs),
	)
}

func appendTo[V any](conn *connection, sql string, bind func(schema.Binder, *V), rows []V) error {
	for i := range rows {
		if err := exec(conn, sql, func(b schema.Binder) { bind(b, &rows[i]) }); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
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
		// Should this fail, the next BEGIN fails too and says why.
		_ = exec(b.conn, "ROLLBACK", noArgs)
	}
	b.release()
}

func (b *batch) release() {
	conn := b.conn
	b.conn = nil
	b.engine.writer <- conn
}
