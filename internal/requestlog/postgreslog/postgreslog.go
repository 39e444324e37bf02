// Package postgreslog keeps the log of requests in unlogged tables of the PostgreSQL database: they
// cost the server little, and a crash of it empties them.
package postgreslog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store implements requestlog.Store. It connects when it has something to do, so that a log that
// cannot be used stops nothing else.
type Store struct {
	pool *pgxpool.Pool

	mu   sync.Mutex
	made map[requestlog.Day]bool
}

var _ requestlog.Store = (*Store)(nil)

const (
	// Connections are how many a process uses for its log at most: one writes while the other
	// reads.
	Connections    = 2
	connectTime    = 3 * time.Second
	statementTime  = "6s"
	statementsKept = 128
)

// New makes the store in the database of a URL.
func New(url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the log of requests cannot use this PostgreSQL address: %w", err)
	}
	config.MaxConns, config.MinConns = Connections, 0
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTime
	}
	config.ConnConfig.StatementCacheCapacity = statementsKept
	// Rows are found by an index, in its order, whatever a server thinks of a table that it has
	// no statistics of.
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		for _, setting := range []string{"statement_timeout = '" + statementTime + "'", "jit = off", "enable_seqscan = off", "enable_bitmapscan = off",
			"enable_hashjoin = off", "enable_mergejoin = off", "plan_cache_mode = force_generic_plan"} {
			if _, err := conn.Exec(ctx, "SET "+setting); err != nil {
				return err
			}
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	return &Store{pool: pool, made: map[requestlog.Day]bool{}}, err
}

// Close implements requestlog.Store.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Compressing what is written would cost more than its room.
var tables = []string{`CREATE UNLOGGED TABLE IF NOT EXISTS request_log_{day} (
	partner_id TEXT COLLATE "C" NOT NULL,
	last_at BIGINT NOT NULL, -- Unix ms of the newest row, as first_at of the oldest
	writer BIGINT NOT NULL,
	number BIGINT NOT NULL,
	first_at BIGINT NOT NULL,
	count BIGINT NOT NULL,
	lost BIGINT NOT NULL,
	indexed BOOLEAN NOT NULL,
	rows BYTEA NOT NULL,
	PRIMARY KEY (partner_id, last_at, writer, number)
)`,
	`ALTER TABLE request_log_{day} ALTER COLUMN rows SET STORAGE EXTERNAL`,
	`CREATE INDEX IF NOT EXISTS request_log_{day}_unindexed ON request_log_{day} (partner_id, last_at, writer, number) WHERE NOT indexed`,
	`CREATE UNLOGGED TABLE IF NOT EXISTS request_log_refs_{day} (
	ref BIGINT NOT NULL,
	last_at BIGINT NOT NULL,
	writer BIGINT NOT NULL,
	number BIGINT NOT NULL,
	PRIMARY KEY (ref, last_at, writer, number)
)`,
	`CREATE UNLOGGED TABLE IF NOT EXISTS request_log_counts_{day} (
	partner_id TEXT COLLATE "C" NOT NULL,
	minute BIGINT NOT NULL,
	mode TEXT COLLATE "C" NOT NULL,
	requests BIGINT NOT NULL,
	refused BIGINT NOT NULL,
	limited BIGINT NOT NULL,
	failed BIGINT NOT NULL,
	PRIMARY KEY (partner_id, minute, mode)
)`}

func of(day requestlog.Day, sql string) string {
	return strings.ReplaceAll(sql, "{day}", fmt.Sprint(int(day)))
}

// makeTables makes the tables of a day, once. Processes take turns, because tables of one name
// that are made at the same time are an error.
func (s *Store) makeTables(ctx context.Context, day requestlog.Day) error {
	s.mu.Lock()
	made := s.made[day]
	s.mu.Unlock()
	if made {
		return nil
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('purveyor request log'))"); err != nil {
			return err
		}
		for _, sql := range tables {
			if _, err := tx.Exec(ctx, of(day, sql)); err != nil {
				return err
			}
		}
		return nil
	})
	s.know(day, err == nil)
	return err
}

func (s *Store) know(day requestlog.Day, made bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[day] = made
	if !made {
		delete(s.made, day)
	}
}

const (
	insertChunk = `INSERT INTO request_log_{day} (partner_id, last_at, writer, number, first_at, count, lost, indexed, rows)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`
	insertRefs = `INSERT INTO request_log_refs_{day} (ref, last_at, writer, number) SELECT unnest($1::bigint[]), $2::bigint, $3::bigint, $4::bigint
		ON CONFLICT DO NOTHING`
	// The rows that several processes count in are locked in the order of their keys.
	insertCount = `INSERT INTO request_log_counts_{day} AS c (partner_id, minute, mode, requests, refused, limited, failed) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (partner_id, minute, mode) DO UPDATE SET requests = c.requests + excluded.requests, refused = c.refused + excluded.refused,
			limited = c.limited + excluded.limited, failed = c.failed + excluded.failed`
)

// Write implements requestlog.Store. All statements are one round trip.
func (s *Store) Write(ctx context.Context, day requestlog.Day, chunks []requestlog.Chunk, counts []requestlog.Count) error {
	if err := s.makeTables(ctx, day); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	chunk, refs, count := of(day, insertChunk), of(day, insertRefs), of(day, insertCount)
	for i := range chunks {
		c := &chunks[i]
		rows := c.Rows
		if rows == nil {
			rows = []byte{}
		}
		batch.Queue(chunk, c.PartnerID, int64(c.Last), int64(c.Writer), c.Number, int64(c.First), c.Count, c.Lost, c.Indexed, rows)
		if len(c.Refs) > 0 {
			batch.Queue(refs, c.Refs, int64(c.Last), int64(c.Writer), c.Number)
		}
	}
	for _, c := range requestlog.InOrder(counts) {
		batch.Queue(count, c.PartnerID, int64(c.Minute), string(c.Mode), c.Requests, c.Refused, c.Limited, c.Failed)
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	if noTable(err) { // it was dropped meanwhile
		s.know(day, false)
	}
	return err
}

func noTable(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "42P01"
}

const (
	chunkColumns = "c.last_at, c.writer, c.number, c.first_at, c.count, c.lost, c.indexed, c.rows"
	inBounds     = " AND (c.last_at, c.writer, c.number) < ($2, $3, $4) AND c.last_at >= $5 AND c.first_at <= $6"
	order        = " ORDER BY c.last_at DESC, c.writer DESC, c.number DESC LIMIT $7"

	selectChunks    = "SELECT " + chunkColumns + " FROM request_log_{day} AS c WHERE c.partner_id = $1" + inBounds + order
	selectUnindexed = "SELECT " + chunkColumns + " FROM request_log_{day} AS c WHERE NOT c.indexed AND c.partner_id = $1" + inBounds + order
	selectByRef     = "SELECT " + chunkColumns + ` FROM request_log_refs_{day} AS r CROSS JOIN LATERAL (SELECT * FROM request_log_{day} AS c
			WHERE c.partner_id = $1 AND c.last_at = r.last_at AND c.writer = r.writer AND c.number = r.number) AS c
		WHERE r.ref = $8 AND (r.last_at, r.writer, r.number) < ($2, $3, $4) AND r.last_at >= $5 AND c.first_at <= $6
		ORDER BY r.last_at DESC, r.writer DESC, r.number DESC LIMIT $7`
)

const selectCounts = "SELECT minute, mode, requests, refused, limited, failed FROM request_log_counts_{day} WHERE partner_id = $1 AND minute >= $2 ORDER BY minute, mode"

// Chunks implements requestlog.Store.
func (s *Store) Chunks(ctx context.Context, q requestlog.Query) ([]requestlog.Chunk, error) {
	bounds := []any{q.PartnerID, int64(q.Before.Last), int64(q.Before.Writer), q.Before.Number, int64(q.From), int64(q.Until), q.Limit}
	if q.Ref == 0 {
		return s.chunks(ctx, q, selectChunks, bounds...)
	}
	list, err := s.chunks(ctx, q, selectByRef, append(bounds[:len(bounds):len(bounds)], q.Ref)...)
	if err != nil {
		return nil, err
	}
	unindexed, err := s.chunks(ctx, q, selectUnindexed, bounds...)
	return requestlog.Newest(append(list, unindexed...), q.Limit), err
}

func (s *Store) chunks(ctx context.Context, q requestlog.Query, sql string, args ...any) ([]requestlog.Chunk, error) {
	rows, err := s.pool.Query(ctx, of(q.Day, sql), args...)
	list, err := collect(rows, err, func(row pgx.CollectableRow) (requestlog.Chunk, error) {
		c := requestlog.Chunk{PartnerID: q.PartnerID}
		err := row.Scan(&c.Last, &c.Writer, &c.Number, &c.First, &c.Count, &c.Lost, &c.Indexed, &c.Rows)
		return c, err
	})
	return list, err
}

// collect reads all rows. A day without tables has none.
func collect[T any](rows pgx.Rows, err error, scan pgx.RowToFunc[T]) ([]T, error) {
	var list []T
	if err == nil {
		list, err = pgx.CollectRows(rows, scan)
	}
	if noTable(err) {
		return nil, nil
	}
	return list, err
}

// Counts implements requestlog.Store.
func (s *Store) Counts(ctx context.Context, day requestlog.Day, partnerID string, from commerce.Millis) ([]requestlog.Count, error) {
	rows, err := s.pool.Query(ctx, of(day, selectCounts), partnerID, int64(from))
	return collect(rows, err, func(row pgx.CollectableRow) (requestlog.Count, error) {
		c := requestlog.Count{PartnerID: partnerID}
		err := row.Scan(&c.Minute, &c.Mode, &c.Requests, &c.Refused, &c.Limited, &c.Failed)
		return c, err
	})
}

// ofDays selects the tables of the log, with their days.
const ofDays = ` FROM pg_class AS c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
	AND c.relname ~ '^request_log_(refs_|counts_)?[0-9]{8}$'`

// Days implements requestlog.Store.
func (s *Store) Days(ctx context.Context) ([]requestlog.Day, error) {
	rows, err := s.pool.Query(ctx, "SELECT right(c.relname, 8)::int"+ofDays+" GROUP BY 1 ORDER BY 1")
	return collect(rows, err, pgx.RowTo[requestlog.Day])
}

// Drop implements requestlog.Store.
func (s *Store) Drop(ctx context.Context, day requestlog.Day) error {
	s.know(day, false)
	_, err := s.pool.Exec(ctx, of(day, "DROP TABLE IF EXISTS request_log_{day}, request_log_refs_{day}, request_log_counts_{day}"))
	return err
}

// Size implements requestlog.Store.
func (s *Store) Size(ctx context.Context) (size int64, err error) {
	err = s.pool.QueryRow(ctx, "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint"+ofDays).Scan(&size)
	return size, err
}
