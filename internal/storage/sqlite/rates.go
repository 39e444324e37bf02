package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Leases of requests stand in a file of their own beside the database, because
// every request needs one now and then, and reads go on while a batch holds the
// database or has filled the disk. The file is made if it is not there.
const (
	ratesSuffix   = "-rates"
	ratesCacheKiB = 256
	ratesSchema   = `CREATE TABLE IF NOT EXISTS rate_windows (
		partner_id TEXT NOT NULL,
		mode TEXT NOT NULL,
		minute INTEGER NOT NULL,
		used INTEGER NOT NULL,
		granted INTEGER NOT NULL, -- by the last lease
		PRIMARY KEY (partner_id, mode, minute)
	) WITHOUT ROWID;
	CREATE TABLE IF NOT EXISTS room (filled BLOB NOT NULL);`
)

// makeRoom makes the file and its log as large as quotas will need, so that quotas work
// on a full disk: SQLite uses the freed pages again.
var makeRoom = []string{
	"PRAGMA wal_autocheckpoint=32",
	"INSERT INTO room (filled) VALUES (zeroblob(256 * 1024))",
	"DELETE FROM room",
}

// openRates opens the file. A damaged one is replaced, because no more than the
// limits of the running minutes is lost with it. On a full disk it does with
// what there is.
func openRates(path string, o Options) (*connection, error) {
	path += ratesSuffix
	conn, err := openRatesFile(path, o)
	if damaged(err) {
		conn, err = remakeRates(path, o, err)
	}
	return conn, err
}

// remakeRates replaces a damaged file.
func remakeRates(path string, o Options, cause error) (*connection, error) {
	slog.Warn("the file of the rate limits is damaged, and is replaced by an empty one", "file", path, "error", cause)
	for _, suffix := range append([]string{""}, logSuffixes...) {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return openRatesFile(path, o)
}

func openRatesFile(path string, o Options) (*connection, error) {
	err := checkRights(path)
	if err == nil {
		err = makePrivate(path)
	}
	if err != nil {
		return nil, err
	}
	o.MaxPages = 0
	conn, err := connect(path, o, false, ratesCacheKiB)
	if err != nil {
		return nil, err
	}
	err = patiently(o, func() error { return prepareRates(conn) })
	if err != nil && sqlite.ErrCode(err).ToPrimary() != sqlite.ResultFull {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func damaged(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB
}

func prepareRates(conn *connection) error {
	_, err := pragma(conn, "journal_mode=WAL")
	if err == nil {
		err = sqlitex.ExecuteScript(conn.Conn, ratesSchema, nil)
	}
	for _, sql := range makeRoom {
		if err == nil {
			err = sqlitex.ExecuteTransient(conn.Conn, sql, nil)
		}
	}
	return err
}

// GrantQuota implements storage.Engine.
func (e *Engine) GrantQuota(ctx context.Context, w commerce.RateWindow, limit, want int64) (granted, used int64, err error) {
	select {
	case conn := <-e.rates:
		defer func() { e.rates <- conn }()
		granted, used, err = lease(conn, w, limit, want)
		if damaged(err) {
			var fresh *connection
			if fresh, err = remakeRates(e.path+ratesSuffix, e.options, err); err == nil {
				_ = conn.Close() // its file is gone
				conn = fresh
				granted, used, err = lease(conn, w, limit, want)
			}
		}
		if err != nil && !conn.AutocommitEnabled() {
			// If this fails, the next BEGIN fails too, with the reason.
			_ = exec(conn, "ROLLBACK", noArgs)
		}
		return granted, used, unavailable(err)
	case <-ctx.Done():
		return 0, 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
	}
}

// lease is one transaction; after an error it may be left open.
func lease(conn *connection, w commerce.RateWindow, limit, want int64) (granted, used int64, err error) {
	if err = exec(conn, "BEGIN IMMEDIATE", noArgs); err != nil {
		return 0, 0, err
	}
	granted, used, err = storage.GrantBy(func(sql string, row func(schema.Scanner), args ...any) error {
		return query(conn, sql, bind(args...), func(s *scanner) { row(s) })
	}, w, limit, want)
	if err == nil {
		err = exec(conn, "COMMIT", noArgs)
	}
	return granted, used, err
}
