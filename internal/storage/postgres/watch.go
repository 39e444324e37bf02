package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"purveyor/internal/storage"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Vitals implements storage.Engine. How far a standby is behind is seen by users alone that may
// read pg_stat_replication; a standby that has nothing to catch up with is not behind.
func (e *Engine) Vitals(ctx context.Context) (storage.Vitals, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	stat := e.readers.Stat()
	v := storage.Vitals{Idle: int(stat.IdleConns()), Used: int(stat.AcquiredConns()), Most: int(stat.MaxConns())}
	var standbys int
	var lag float64
	asked := e.now()
	var clock time.Time
	err := e.readers.QueryRow(ctx, `SELECT pg_database_size(current_database()), clock_timestamp(), (SELECT value FROM meta WHERE name = $1),
		(SELECT count(*) FROM pg_stat_replication), (SELECT coalesce(max(extract(epoch FROM replay_lag)), 0)::float8 FROM pg_stat_replication)`, storage.SchemaNumber).
		Scan(&v.Bytes, &clock, &v.Schema, &standbys, &lag)
	if err != nil {
		return v, unavailable(err)
	}
	answered := e.now()
	v.ClockOffset = clock.Sub(asked.Add(answered.Sub(asked) / 2))
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
