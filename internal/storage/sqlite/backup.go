package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"purveyor/internal/storage"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// BackUp copies what is committed to a file that only the owner of the database can read, while
// others write. Meanwhile the log of the database grows. What is left of a copy that failed is
// deleted.
func BackUp(ctx context.Context, path, to string) error {
	err := copyFile(ctx, path, to, Options{}.withDefaults())
	if err == nil {
		err = os.Chmod(to, ownerOnly)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("copy the database to %s: %w", to, explain(err)), removeFile(to))
	}
	return nil
}

// Publish gives a whole file its name. It is there after a loss of power, too.
func Publish(file, name string) error {
	if err := os.Rename(file, name); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(name))
}

// GiveLike gives a file the owner of another one.
func GiveLike(like, file string) error {
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(giveTo(f, info), f.Close())
}

// FreeSpace is the number of bytes that may be added to the disk of a path; a large number if the
// system does not know.
func FreeSpace(path string) int64 { return freeSpace(path) }

// Size is the size of the database, and of its log.
func Size(path string) (database, log int64, err error) {
	database, err = sizeOf(path)
	log, err2 := sizeOf(path + logSuffixes[0])
	return database, log, errors.Join(err, err2)
}

// Lock locks a file, which it makes, until the closer is closed or the process has ended; false:
// another process has it.
func Lock(path string) (unlock io.Closer, locked bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, ownerOnly)
	if err != nil {
		return nil, false, err
	}
	if locked, err = tryLock(f); err != nil || !locked && locks {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, true, nil
}

// copyReaders is how many connections read a copy.
const copyReaders = 2

// OpenCopy opens a file that nothing writes to for reading alone, and makes no file beside it. It
// refuses one whose pages do not fit together.
func OpenCopy(ctx context.Context, path string) (*Engine, error) {
	e, err := openCopy(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, explain(err))
	}
	return e, nil
}

func openCopy(ctx context.Context, path string) (*Engine, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if _, log, err := Size(path); err != nil || log > 0 {
		return nil, errors.Join(err, fmt.Errorf("%s%s is beside it, so it is a database in use, or was cut off, and no backup", path, logSuffixes[0]))
	}
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	o := Options{}.withDefaults()
	e := &Engine{path: path, options: o, now: o.Now, writer: make(chan *connection, 1), readers: make(chan *connection, copyReaders), count: copyReaders}
	conn, err := connectTo(logURI(path)+"&immutable=1", sqlite.OpenReadOnly|sqlite.OpenURI, o, true, readerCacheKiB)
	if err != nil {
		return nil, err
	}
	e.writer <- conn
	is, err := checkMigrated(conn, known)
	if err == nil {
		err = is.Admit(storage.Access{Existing: true, Current: true}, known)
	}
	if err == nil {
		err = integrity(ctx, conn)
	}
	for range copyReaders {
		if err == nil {
			conn, err = connectTo(logURI(path)+"&immutable=1", sqlite.OpenReadOnly|sqlite.OpenURI, o, true, readerCacheKiB)
		}
		if err == nil {
			e.readers <- conn
		}
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// integrity has SQLite look at every page and every index.
func integrity(ctx context.Context, conn *connection) error {
	conn.SetInterrupt(ctx.Done())
	defer conn.SetInterrupt(nil)
	var first string
	err := sqlitex.ExecuteTransient(conn.Conn, "PRAGMA integrity_check(1)", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		first = stmt.ColumnText(0)
		return nil
	}})
	if err == nil && first != "ok" {
		err = fmt.Errorf("the file is damaged: %s", first)
	}
	return err
}
