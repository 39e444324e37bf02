// Package sqlite keeps the service's rows in one SQLite file. It is the
// embedded default: one writer, a pool of readers, WAL, and a disk flush
// before anything is answered (synchronous=FULL).
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Options of an engine; each zero value is a default.
type Options struct {
	// Now is the clock that stamps batches.
	Now func() time.Time
	// BusyTimeout is how long a batch waits for another process; 3 s.
	BusyTimeout time.Duration
	// Access says which databases are taken.
	Access storage.Access
	// MaxPages bounds the file, so that a test can fill it.
	MaxPages int
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = defaultBusyTimeout
	}
	return o
}

// Engine implements storage.Engine.
type Engine struct {
	path    string
	options Options
	now     func() time.Time
	writer  chan *connection // holds the one writing connection while it is free
	readers chan *connection
	count   int

	freshness freshness
	recent    recentChanges
	replies   schema.ReplyCount
	rates     chan *connection // holds the one connection for leases while it is free
	lock      *os.File         // nil: another process owns the database, or no process does

	checkpointer *connection
	saved        chan struct{} // something is in the log
	full         atomic.Bool   // a write found the disk full, and the log was not copied since
	closing      chan struct{} // closed to end checkpoints
	checkpointed chan struct{} // closed when they have ended
	copied       atomic.Pointer[func(time.Duration)]
}

var _ storage.Engine = (*Engine)(nil)

const defaultBusyTimeout = 3 * time.Second

// Settings of the connections; docs/BENCHMARKS.md has the figures behind them.
const (
	writerCacheKiB     = 16 << 10
	readerCacheKiB     = 2 << 10
	checkpointCacheKiB = 256
)

// Open opens the file, makes it if there is none, and brings its schema up to
// date. Errors: storage.ErrNewerDatabase, storage.ErrOlderDatabase,
// storage.ErrOtherSchema, storage.ErrNoDatabase, or another one whose text says how to
// mend it.
func Open(path string, o Options) (*Engine, error) {
	o = o.withDefaults()
	err := checkFiles(path, o.Access.Existing)
	if err == nil {
		err = makePrivate(path)
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	writer, err := connect(path, o, false, writerCacheKiB)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, explain(err))
	}
	if err := patiently(o, func() error { return prepare(writer, path, o) }); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, explain(err)), writer.Close())
	}
	warnOfReaders(path)
	e := &Engine{path: path, options: o, now: o.Now, writer: make(chan *connection, 1), count: max(4, 2*runtime.GOMAXPROCS(0))}
	e.freshness.index = openWALIndex(writer)
	e.freshness.read = func(ctx context.Context) (stamp int64, err error) {
		err = newReader(e).with(ctx, func(conn *connection) (err error) {
			stamp, err = conn.newestStamp()
			return err
		})
		return stamp, err
	}
	e.writer <- writer
	e.readers = make(chan *connection, e.count)
	e.rates = make(chan *connection, 1)
	for range e.count {
		reader, err := connect(path, o, true, readerCacheKiB)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open database %s: %w", path, explain(err)), e.Close())
		}
		e.readers <- reader
	}
	rates, err := openRates(path, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s%s: %w", path, ratesSuffix, explain(err)), e.Close())
	}
	e.rates <- rates
	checkpointer, err := connect(path, o, false, checkpointCacheKiB)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, explain(err)), e.Close())
	}
	checkpointer.SetBusyTimeout(restartPatience)
	e.checkpointer = checkpointer
	e.saved, e.closing, e.checkpointed = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	e.wakeCheckpoints() // a process that was killed may have left a long log
	go e.checkpoints(checkpointer)
	return e, nil
}

// prepare brings the file up to date.
func prepare(conn *connection, path string, o Options) error {
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		return err
	}
	// Before anything is written: the file of another program, or of a newer
	// one, stays as it is.
	is, err := checkMigrated(conn, known)
	if err == nil {
		err = is.Admit(o.Access, known)
	}
	if err != nil {
		return err
	}
	if _, err := pragma(conn, "journal_mode=WAL"); err != nil {
		return err
	}
	return migrate(conn, path, known, o)
}

// patiently tries again while another process holds the file. SQLite waits by
// itself, but not while it changes the journal mode, nor where two would wait
// for each other: processes that open a new file at once meet there.
func patiently(o Options, f func() error) error {
	const pause = 5 * time.Millisecond
	for deadline := time.Now().Add(o.BusyTimeout); ; time.Sleep(pause) {
		err := f()
		if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy || time.Now().After(deadline) {
			return err
		}
	}
}

func connect(path string, o Options, reader bool, cacheKiB int) (*connection, error) {
	return connectTo(logURI(path), sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenURI, o, reader, cacheKiB)
}

func connectTo(uri string, flags sqlite.OpenFlags, o Options, reader bool, cacheKiB int) (*connection, error) {
	if err := registerLogFiles(); err != nil {
		return nil, err
	}
	driver, err := sqlite.OpenConn(uri, flags)
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: driver, prepared: map[string]*sqlite.Stmt{}, storeIDs: map[string]string{}}
	conn.SetBusyTimeout(o.BusyTimeout)
	pragmas := []string{"PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL", fmt.Sprintf("PRAGMA cache_size=-%d", cacheKiB)}
	if reader {
		pragmas = append(pragmas, "PRAGMA query_only=ON")
	} else {
		pragmas = append(pragmas, "PRAGMA wal_autocheckpoint=0", "PRAGMA secure_delete=ON")
		if o.MaxPages > 0 {
			pragmas = append(pragmas, fmt.Sprintf("PRAGMA max_page_count=%d", o.MaxPages))
		}
	}
	for _, p := range pragmas {
		if err := sqlitex.ExecuteTransient(driver, p, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// Close waits for the batch and the reads under way, then closes the file.
func (e *Engine) Close() error {
	var errs []error
	if e.checkpointer != nil {
		close(e.closing)
		<-e.checkpointed
		errs = append(errs, e.checkpointer.Close())
	}
	for range e.count + 1 {
		select {
		case conn := <-e.readers:
			errs = append(errs, conn.Close())
		case conn := <-e.rates:
			errs = append(errs, conn.Close())
		default: // Open failed before it was made, or it is still out
		}
	}
	errs = append(errs, (<-e.writer).Close())
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	return errors.Join(errs...)
}

// Reader implements storage.Engine.
func (e *Engine) Reader() storage.Reader { return newReader(e) }

// Writable implements storage.Engine. It does not find a full disk, because a write that
// is rolled back needs no room.
func (e *Engine) Writable(ctx context.Context) error {
	conn, err := e.takeWriter(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	defer func() { e.writer <- conn }()
	err = exec(conn, "BEGIN IMMEDIATE", noArgs)
	if err == nil {
		err = exec(conn, "UPDATE meta SET value = value WHERE name = 'stamp'", noArgs)
	}
	if !conn.AutocommitEnabled() {
		err = errors.Join(err, exec(conn, "ROLLBACK", noArgs))
	}
	return unavailable(err)
}

func (e *Engine) takeWriter(ctx context.Context) (*connection, error) {
	select {
	case conn := <-e.writer:
		return conn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// unavailable sorts the errors of SQLite: those of the file or the disk are
// the same for every batch; a broken constraint is this batch's own.
func unavailable(err error) error {
	if err == nil || errors.Is(err, storage.ErrUnreadable) || sqlite.ErrCode(err).ToPrimary() == sqlite.ResultConstraint {
		return err
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, explain(err))
}

// explain adds to an error what the operator can do about it.
func explain(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull:
		return fmt.Errorf("the disk or the database file is full; free some space: %w", err)
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return fmt.Errorf("another process holds the database; end it or try again: %w", err)
	case sqlite.ResultNotADB:
		return fmt.Errorf("the file is not a SQLite database; choose another with --database: %w", err)
	case sqlite.ResultReadOnly, sqlite.ResultPerm, sqlite.ResultCantOpen:
		return fmt.Errorf("%w: the file, its -wal and -shm files or their folder cannot be written; check the rights: %w", storage.ErrUnusable, err)
	case sqlite.ResultCorrupt:
		return fmt.Errorf("%w: the file is damaged; restore a backup (docs/OPERATING.md): %w", storage.ErrUnusable, err)
	}
	return err
}
