// Package sqlitelog keeps the log of requests in a SQLite file of its own, beside the file of the
// database.
package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Suffix is that of the log's file, behind the name of the database.
const Suffix = "-requests"

// Store implements requestlog.Store. It opens the file when it is needed, so that a log that
// cannot be opened stops nothing else.
//
// Nothing is flushed to the disk: a crash of the process loses nothing that is written, but one of
// the machine may damage the file. A damaged file is removed, and the log begins a new one.
type Store struct {
	path    string
	writing sync.Mutex
	reading sync.Mutex
	writer  *sqlite.Conn // nil: not open; guarded by writing, as is made
	reader  *sqlite.Conn // nil: not open; guarded by reading
	made    map[requestlog.Day]bool
}

var _ requestlog.Store = (*Store)(nil)

// New makes the store of the log of a database file.
func New(database string) *Store {
	return &Store{path: database + Suffix, made: map[requestlog.Day]bool{}}
}

// Nearly all pages that are written are new, and a rollback journal has no new pages: they are
// written once. In a write-ahead log they would be written twice.
const (
	pageSize    = 16 << 10
	cacheKiB    = 2 << 10
	busyTimeout = 3 * time.Second
)

// open opens the file, and makes it for its owner alone if there is none.
func (s *Store) open() (*sqlite.Conn, error) {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	conn, err := sqlite.OpenConn(s.path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(busyTimeout)
	for _, pragma := range []string{fmt.Sprint("page_size=", pageSize), "journal_mode=PERSIST", "synchronous=OFF", fmt.Sprintf("cache_size=-%d", cacheKiB)} {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA "+pragma, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// write lends the connection for writes.
func (s *Store) write(ctx context.Context, f func(*sqlite.Conn) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.with(ctx, &s.writer, f)
}

// read lends the connection for reads.
func (s *Store) read(ctx context.Context, f func(*sqlite.Conn) error) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.with(ctx, &s.reader, f)
}

// with runs f on a connection, which it opens if need be. If the file is damaged, it is removed,
// and both connections are opened again by the next calls.
func (s *Store) with(ctx context.Context, on **sqlite.Conn, f func(*sqlite.Conn) error) (err error) {
	if *on == nil {
		*on, err = s.open()
	}
	if err == nil {
		(*on).SetInterrupt(ctx.Done())
		err = f(*on)
		(*on).SetInterrupt(nil)
	}
	if !damaged(err) {
		return err
	}
	if *on != nil {
		_ = (*on).Close() // nothing of it is kept
		*on = nil
	}
	if on == &s.writer {
		s.remove(err)
	}
	return err
}

func damaged(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB
}

// remove removes the damaged file. The lock for writes is held.
func (s *Store) remove(cause error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.reader != nil {
		_ = s.reader.Close() // as above
		s.reader = nil
	}
	clear(s.made)
	for _, suffix := range []string{"", "-journal"} {
		if err := os.Remove(s.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			cause = errors.Join(cause, err)
		}
	}
	slog.Warn("the log of requests was damaged; it begins again with a new file", "file", s.path, "error", cause)
}

// Close implements requestlog.Store. The next call opens the file again.
func (s *Store) Close() (err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.reading.Lock()
	defer s.reading.Unlock()
	for _, conn := range []**sqlite.Conn{&s.reader, &s.writer} {
		if *conn != nil {
			err = errors.Join(err, (*conn).Close())
			*conn = nil
		}
	}
	return err
}

const tables = `
CREATE TABLE IF NOT EXISTS requests_{day} (
	partner_id TEXT NOT NULL,
	last_at INTEGER NOT NULL, -- Unix ms of the newest row, as first_at of the oldest
	writer INTEGER NOT NULL,
	number INTEGER NOT NULL,
	first_at INTEGER NOT NULL,
	count INTEGER NOT NULL,
	lost INTEGER NOT NULL,
	indexed INTEGER NOT NULL,
	rows BLOB NOT NULL,
	PRIMARY KEY (partner_id, last_at, writer, number)
);
CREATE INDEX IF NOT EXISTS requests_{day}_unindexed ON requests_{day} (partner_id, last_at, writer, number) WHERE indexed = 0;
CREATE TABLE IF NOT EXISTS refs_{day} (
	ref INTEGER NOT NULL,
	last_at INTEGER NOT NULL,
	writer INTEGER NOT NULL,
	number INTEGER NOT NULL,
	PRIMARY KEY (ref, last_at, writer, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counts_{day} (
	partner_id TEXT NOT NULL,
	minute INTEGER NOT NULL,
	mode TEXT NOT NULL,
	requests INTEGER NOT NULL,
	refused INTEGER NOT NULL,
	limited INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	PRIMARY KEY (partner_id, minute, mode)
) WITHOUT ROWID;`

func of(day requestlog.Day, sql string) string {
	return strings.ReplaceAll(sql, "{day}", fmt.Sprint(int(day)))
}

const (
	insertChunk = `INSERT INTO requests_{day} (partner_id, last_at, writer, number, first_at, count, lost, indexed, rows)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	insertRef   = `INSERT INTO refs_{day} (ref, last_at, writer, number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
	insertCount = `INSERT INTO counts_{day} (partner_id, minute, mode, requests, refused, limited, failed) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, refused = refused + excluded.refused,
			limited = limited + excluded.limited, failed = failed + excluded.failed`
)

// Write implements requestlog.Store.
func (s *Store) Write(ctx context.Context, day requestlog.Day, chunks []requestlog.Chunk, counts []requestlog.Count) error {
	err := s.write(ctx, func(conn *sqlite.Conn) (err error) {
		end, err := sqlitex.ImmediateTransaction(conn)
		if err != nil {
			return err
		}
		defer end(&err)
		if !s.made[day] {
			if err = sqlitex.ExecuteScript(conn, of(day, tables), nil); err != nil {
				return err
			}
		}
		chunk, ref, count := of(day, insertChunk), of(day, insertRef), of(day, insertCount)
		for i := range chunks {
			c := &chunks[i]
			if err = execute(conn, chunk, c.PartnerID, int64(c.Last), int64(c.Writer), c.Number, int64(c.First), c.Count, c.Lost, c.Indexed, c.Rows); err != nil {
				return err
			}
			for _, r := range c.Refs {
				if err = execute(conn, ref, r, int64(c.Last), int64(c.Writer), c.Number); err != nil {
					return err
				}
			}
		}
		for _, c := range counts {
			if err = execute(conn, count, c.PartnerID, int64(c.Minute), string(c.Mode), c.Requests, c.Refused, c.Limited, c.Failed); err != nil {
				return err
			}
		}
		s.made[day] = true
		return nil
	})
	if noTable(err) { // another process has dropped the day
		s.writing.Lock()
		delete(s.made, day)
		s.writing.Unlock()
	}
	return err
}

// execute runs a statement that returns no rows.
func execute(conn *sqlite.Conn, sql string, args ...any) error {
	return query(conn, sql, func(*sqlite.Stmt) {}, args...)
}

// query runs a statement and calls row for each of its rows. The connection keeps the statement
// for the next time.
func query(conn *sqlite.Conn, sql string, row func(*sqlite.Stmt), args ...any) error {
	return sqlitex.Execute(conn, sql, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
		row(stmt)
		return nil
	}})
}

const (
	chunkColumns = "c.last_at, c.writer, c.number, c.first_at, c.count, c.lost, c.indexed, c.rows"
	order        = " ORDER BY c.last_at DESC, c.writer DESC, c.number DESC LIMIT ?"
	selectChunks = "SELECT " + chunkColumns + ` FROM requests_{day} AS c
		WHERE c.partner_id = ? AND (c.last_at, c.writer, c.number) < (?, ?, ?) AND c.last_at >= ? AND c.first_at <= ?` + order
	selectByRef = "SELECT " + chunkColumns + ` FROM refs_{day} AS r CROSS JOIN requests_{day} AS c
			ON c.partner_id = ? AND c.last_at = r.last_at AND c.writer = r.writer AND c.number = r.number
		WHERE r.ref = ? AND (r.last_at, r.writer, r.number) < (?, ?, ?) AND r.last_at >= ? AND c.first_at <= ?
		ORDER BY r.last_at DESC, r.writer DESC, r.number DESC LIMIT ?`
	selectUnindexed = "SELECT " + chunkColumns + ` FROM requests_{day} AS c
		WHERE c.indexed = 0 AND c.partner_id = ? AND (c.last_at, c.writer, c.number) < (?, ?, ?) AND c.last_at >= ? AND c.first_at <= ?` + order
)

const selectCounts = "SELECT minute, mode, requests, refused, limited, failed FROM counts_{day} WHERE partner_id = ? AND minute >= ? ORDER BY minute, mode"

// Chunks implements requestlog.Store.
func (s *Store) Chunks(ctx context.Context, q requestlog.Query) (list []requestlog.Chunk, err error) {
	bounds := []any{int64(q.Before.Last), int64(q.Before.Writer), q.Before.Number, int64(q.From), int64(q.Until), q.Limit}
	row := func(stmt *sqlite.Stmt) { list = append(list, scan(stmt, q.PartnerID)) }
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		if q.Ref == 0 {
			return query(conn, of(q.Day, selectChunks), row, append([]any{q.PartnerID}, bounds...)...)
		}
		err := query(conn, of(q.Day, selectByRef), row, append([]any{q.PartnerID, q.Ref}, bounds...)...)
		if err != nil {
			return err
		}
		return query(conn, of(q.Day, selectUnindexed), row, append([]any{q.PartnerID}, bounds...)...)
	})
	if noTable(err) {
		return nil, nil
	}
	return requestlog.Newest(list, q.Limit), err
}

func scan(stmt *sqlite.Stmt, partnerID string) requestlog.Chunk {
	c := requestlog.Chunk{PartnerID: partnerID, First: commerce.Millis(stmt.ColumnInt64(3)), Count: stmt.ColumnInt64(4), Lost: stmt.ColumnInt64(5), Indexed: stmt.ColumnBool(6)}
	c.Place = requestlog.Place{Last: commerce.Millis(stmt.ColumnInt64(0)), Writer: requestlog.Writer(stmt.ColumnInt64(1)), Number: stmt.ColumnInt64(2)}
	c.Rows = make([]byte, stmt.ColumnLen(7))
	stmt.ColumnBytes(7, c.Rows)
	return c
}

// noTable reports that a day has no tables.
func noTable(err error) bool { return err != nil && strings.Contains(err.Error(), "no such table") }

// Counts implements requestlog.Store.
func (s *Store) Counts(ctx context.Context, day requestlog.Day, partnerID string, from commerce.Millis) (list []requestlog.Count, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, of(day, selectCounts),
			func(stmt *sqlite.Stmt) {
				list = append(list, requestlog.Count{PartnerID: partnerID, Minute: commerce.Millis(stmt.ColumnInt64(0)), Mode: commerce.Mode(stmt.ColumnText(1)),
					Requests: stmt.ColumnInt64(2), Refused: stmt.ColumnInt64(3), Limited: stmt.ColumnInt64(4), Failed: stmt.ColumnInt64(5)})
			}, partnerID, int64(from))
	})
	if noTable(err) {
		return nil, nil
	}
	return list, err
}

// Days implements requestlog.Store.
func (s *Store) Days(ctx context.Context) (list []requestlog.Day, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, `SELECT substr(name, 10) + 0 FROM sqlite_schema WHERE type = 'table' AND name GLOB 'requests_[0-9]*' ORDER BY 1`,
			func(stmt *sqlite.Stmt) { list = append(list, requestlog.Day(stmt.ColumnInt64(0))) })
	})
	return list, err
}

// Drop implements requestlog.Store. The next calls open the connections again, because these keep
// the statements of the day.
func (s *Store) Drop(ctx context.Context, day requestlog.Day) error {
	err := s.write(ctx, func(conn *sqlite.Conn) error {
		delete(s.made, day)
		return sqlitex.ExecuteScript(conn, of(day, "DROP TABLE IF EXISTS requests_{day}; DROP TABLE IF EXISTS refs_{day}; DROP TABLE IF EXISTS counts_{day};"), nil)
	})
	return errors.Join(err, s.Close())
}

// Size implements requestlog.Store. Pages of days that were dropped are used again, so they do
// not count.
func (s *Store) Size(ctx context.Context) (size int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count AS p, pragma_freelist_count AS f, pragma_page_size AS s",
			func(stmt *sqlite.Stmt) { size = stmt.ColumnInt64(0) })
	})
	return size, err
}
