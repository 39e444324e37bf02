package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"purveyor/internal/storage"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Gauges implements storage.Reader in one round trip.
func (r reader) Gauges(ctx context.Context, most int) (g storage.Gauges, err error) {
	err = r.read(ctx, func(ctx context.Context) error {
		g = storage.Gauges{}
		list, complete := r.Reader.Gauges(&g, most)
		asked := r.e.now()
		var q pgx.Batch
		q.Queue(seen(beginSnapshot))
		q.Queue(vitals, storage.SchemaNumber).QueryRow(func(row pgx.Row) (err error) {
			g.Vitals, err = r.e.vitals(row, asked)
			return err
		})
		for _, s := range list {
			q.Queue(seen(s.SQL), s.Args...).Query(func(rows pgx.Rows) error { return each(rows, func(v *scanner) { s.Row(v) }) })
		}
		q.Queue(seen(endSnapshot))
		err := r.e.readers.SendBatch(ctx, &q).Close()
		complete()
		return err
	})
	return g, err
}

const vitals = `SELECT pg_database_size(current_database()), clock_timestamp(), (SELECT value FROM meta WHERE name = $1),
	(SELECT count(*) FROM pg_stat_replication), (SELECT coalesce(max(extract(epoch FROM replay_lag)), 0)::float8 FROM pg_stat_replication)`

// Vitals implements storage.Engine. How far a standby is behind is seen by users alone that may
// read pg_stat_replication; a standby that has nothing to catch up with is not behind.
func (e *Engine) Vitals(ctx context.Context) (storage.Vitals, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	asked := e.now()
	v, err := e.vitals(e.readers.QueryRow(ctx, vitals, storage.SchemaNumber), asked)
	if err != nil {
		return v, unavailable(err)
	}
	return v, nil
}

// vitals reads the row that was asked for then.
func (e *Engine) vitals(row pgx.Row, asked time.Time) (storage.Vitals, error) {
	stat := e.readers.Stat()
	v := storage.Vitals{Idle: int(stat.IdleConns()), Used: int(stat.AcquiredConns()), Most: int(stat.MaxConns())}
	var standbys int
	var lag float64
	var clock time.Time
	if err := row.Scan(&v.Bytes, &clock, &v.Schema, &standbys, &lag); err != nil {
		return v, err
	}
	v.ClockOffset = clock.Sub(asked.Add(e.now().Sub(asked) / 2))
	if standbys > 0 {
		behind := time.Duration(lag * float64(time.Second))
		v.StandbyLag = &behind
	}
	return v, nil
}

// WatchWaits has f told how long each read waited for a connection. f must not block.
func (e *Engine) WatchWaits(f func(waited time.Duration)) { e.waits.told.Store(&f) }

// waits measures how long reads wait for a connection.
type waits struct {
	now  func() time.Time
	told atomic.Pointer[func(time.Duration)]
}

type askedKey struct{}

// TraceAcquireStart implements pgxpool.AcquireTracer.
func (w *waits) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	if w.told.Load() == nil {
		return ctx
	}
	return context.WithValue(ctx, askedKey{}, w.now())
}

// TraceAcquireEnd implements pgxpool.AcquireTracer.
func (w *waits) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireEndData) {
	if asked, ok := ctx.Value(askedKey{}).(time.Time); ok {
		(*w.told.Load())(w.now().Sub(asked))
	}
}

// TraceQueryStart implements pgx.QueryTracer, without which pgx takes no tracer.
func (w *waits) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (w *waits) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
