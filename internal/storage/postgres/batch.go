package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// batch is one transaction, in two round trips: one locks and reads, the
// other writes and commits. It owns the writer until it ends.
type batch struct {
	engine *Engine
	writer *writer // nil: the batch is over
	rows   commerce.Rows
	stamp  int64
	guards []guarded
	end    context.CancelFunc // ends the goroutine that prolongs the low watermark
	stored schema.ReplyBytes  // by this batch

	deciding sync.Mutex
	idle     *pgx.Conn // between Load and Save; guarded by deciding; nil: the connection is in use
}

const (
	// saveTime bounds the wait for an answer to a commit.
	saveTime = 20 * time.Second

	uniqueViolation = "23505"
)

// Load implements storage.Engine. The connection may have broken since it was used last, and
// nothing was done yet, so the writer connects again for another try. After a restart of the
// server the connections of all writers are broken.
func (e *Engine) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	w, err := e.takeWriter(ctx)
	if err != nil {
		return nil, err
	}
	b, loaded := &batch{engine: e, writer: w}, false
	defer func() {
		if !loaded { // also after a panic: else no other batch gets the writer
			b.Discard()
		}
	}()
	err = b.loadAll(needs)
	if err != nil && w.conn.IsClosed() {
		b.stop()
		b = &batch{engine: e, writer: w}
		if err = e.ready(ctx, w); err == nil {
			err = b.loadAll(needs)
		}
	}
	if err != nil {
		return nil, err
	}
	loaded = true
	return b, nil
}

func (b *batch) loadAll(needs []commerce.Needs) error {
	for i := range needs {
		schema.Require(&b.rows, &needs[i])
	}
	if err := b.load(); err != nil {
		return unavailable(err)
	}
	return nil
}

// awake tells the server that the transaction is not forgotten while its rows are decided on, which
// takes long for a large import. A process that stands still does not, and the server ends its
// transaction before the low watermark ends.
func (b *batch) awake() {
	b.deciding.Lock()
	defer b.deciding.Unlock()
	if b.idle == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	_, _ = exec(ctx, b.idle, "SELECT 1") // an error comes again when the batch is saved
}

// decided takes the connection back for Save or Discard.
func (b *batch) decided() {
	b.deciding.Lock()
	defer b.deciding.Unlock()
	b.idle = nil
}

// Rows implements storage.Batch.
func (b *batch) Rows() *commerce.Rows { return &b.rows }

// Stamp implements storage.Batch.
func (b *batch) Stamp() commerce.Millis { return commerce.Millis(b.stamp) }

const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

func (b *batch) load() error {
	w, e := b.writer, b.engine
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	now, partners, err := b.before(ctx)
	if err != nil {
		return err
	}
	b.guards = e.guards(&b.rows, partners)
	e.awaitClock(ctx, w.last+1-now)
	watermark := max(w.last+1, now)
	q := request{cluster: e.spread}
	queueEach(&q, b.guards, func(g guarded) string { return g.publish }, w.id, watermark)
	b.queueLoad(&q, &now)
	sending, sent := q.timeout()
	defer sent()
	if err := w.send(sending, &q.Batch).Close(); err != nil {
		return err
	}
	b.stamp = max(watermark, w.last+1, now)
	open, end := context.WithCancel(e.running)
	b.end, b.idle = end, w.conn
	go b.prolong(open, w.id, b.guards)
	return nil
}

// queueLoad locks and reads the rows. now is the time afterwards.
func (b *batch) queueLoad(q *request, now *int64) {
	w, r := b.writer, &b.rows
	q.Queue(seen(begin))
	if b.engine.spread { // the nodes have the locks
		q.Queue(seen("SET LOCAL lock_timeout = '" + lockTime + "'"))
	}
	if r.NextStoreNo == commerce.NeedStoreNo {
		q.Queue(seen("SELECT value FROM meta WHERE name = 'next_store_no' FOR UPDATE")).
			QueryRow(func(row pgx.Row) error { return row.Scan(&r.NextStoreNo) })
	}
	for _, t := range tables {
		if t.keyed != nil && !t.AddedByName {
			t.load(q, r)
		}
	}
	// After the locks: the stamp is above those that the rows got from batches
	// that this one waited for.
	for _, g := range b.guards {
		queue(&q.Batch, func(s *scanner) { w.last = max(w.last, s.Int()) }, g.newest, g.key...)
	}
	if b.engine.spread {
		// Stamps from before the database was copied or distributed are in the coordinator's table.
		queue(&q.Batch, func(s *scanner) { w.last = max(w.last, s.Int()) }, guardOfAll.newest)
		b.engine.queueClock(&q.Batch, now)
	}
	// Rows that are found by name come after the locks, so that a batch that waited
	// for a lock sees what the other batch inserted.
	for _, t := range tables {
		if t.keyed != nil && t.AddedByName {
			t.load(q, r)
		}
	}
}

// Save implements storage.Batch: all writes and the commit in one round trip, but those of a large
// import in several.
// An error of a statement before the commit is definite, because the server
// skips the following statements. Any other error may have come after the commit.
func (b *batch) Save(context.Context) error {
	w := b.writer
	if err := b.unguarded(); err != nil {
		b.Discard()
		return err
	}
	q := request{cluster: b.engine.spread}
	b.write(&q)
	for _, g := range b.guards {
		q.Queue(seen(g.save), append([]any{w.id, b.stamp}, g.key...)...)
	}
	q.Queue(seen("COMMIT"))
	ctx, cancel := q.timeout()
	defer cancel()
	b.decided()
	done, err := w.execute(ctx, &q)
	if err == nil {
		b.engine.replies.Add(b.stored)
		w.last = b.stamp
		if b.engine.spread {
			b.withdraw(ctx)
		}
		b.analyze(ctx)
		b.release()
		return nil
	}
	b.Discard()
	if pg, definite := errors.AsType[*pgconn.PgError](err); definite && done < q.Len() {
		if pg.Code == uniqueViolation { // the batch looked for the row, and another batch has added it since
			return fmt.Errorf("%w: %w", storage.ErrAgain, err)
		}
		if err = unavailable(err); errors.Is(err, storage.ErrNode) && slices.Contains(q.anew, done-1) {
			return fmt.Errorf("%w: %w", storage.ErrAgain, err)
		}
		return err
	}
	return fmt.Errorf("%w: %w", storage.ErrOutcomeUnknown, explain(err))
}

// analyze updates the server's statistics when this process has added many products since it did
// so last, and as many as it had before. Until the server does so by itself, its plans are made for
// small tables.
func (b *batch) analyze(ctx context.Context) {
	const many = 500
	var added int64
	for i := range b.rows.Stock.Changed() {
		if _, _, was := b.rows.Stock.Change(i); was == nil {
			added++
		}
	}
	known := b.engine.known.Load()
	if sum := b.engine.added.Add(added); added == 0 || sum < max(many, 2*known) || !b.engine.known.CompareAndSwap(known, sum) {
		return
	}
	for _, t := range []string{"stock", "products", "product_stores"} {
		_, _ = exec(ctx, b.writer.conn, "ANALYZE "+t) // the batch is saved even if this fails
	}
}

func (b *batch) write(q *request) {
	r := &b.rows
	b.stored = schema.PackReplies(&r.Replies)
	if r.NextStoreNo > 0 {
		q.Queue(seen("UPDATE meta SET value = $1 WHERE name = 'next_store_no'"), r.NextStoreNo)
	}
	for _, t := range tables {
		t.save(q, r)
	}
}

// Discard implements storage.Batch. A connection that does not answer to the
// rollback is given up, and the server ends its transaction.
func (b *batch) Discard() {
	if b.writer == nil {
		return
	}
	b.decided()
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	if conn := b.writer.conn; conn != nil && !conn.IsClosed() {
		// One after the other: a statement that the connection has not sent before is
		// prepared first, and a failed transaction prepares nothing but its end.
		if _, err := exec(ctx, conn, "ROLLBACK"); err != nil {
			_ = conn.Close(ctx) // it is given up
		} else {
			b.withdraw(ctx)
		}
	}
	b.release()
}

// stop ends what goes on beside the batch.
func (b *batch) stop() {
	if b.end != nil {
		b.end()
	}
}

func (b *batch) release() {
	b.stop()
	w := b.writer
	b.writer = nil
	b.engine.free <- w
}
