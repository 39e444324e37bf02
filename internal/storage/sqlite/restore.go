package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// ErrInUse: another process has the database open.
var ErrInUse = errors.New("another process has the database open; stop it first")

const oldSuffix = ".old"

// besideAny are the suffixes of files that belong to a database, and would be taken for those of
// another one at its place. The journal is there only if Settle was cut off.
var besideAny = append([]string{"-journal"}, logSuffixes...)

// LockDatabase takes the lock that a service has for its life, until the closer is closed; false:
// another process has it.
func LockDatabase(path string) (unlock io.Closer, locked bool, err error) {
	if err := checkFiles(path, false); err != nil {
		return nil, false, err
	}
	unlock, locked, err = Lock(path + lockSuffix)
	if err == nil && locked {
		err = giveLikeDatabase(path, path+lockSuffix) // else a service of another user could not take it
	}
	return unlock, locked, err
}

// OldOf is where the database goes whose place another one takes.
func OldOf(path string) string { return path + oldSuffix }

// PartOf is a database that is to take the place of another one, and is not whole yet.
func PartOf(path string) string { return path + partSuffix }

// CopyPart copies a file to PartOf(path), for the owner of the database alone; of a path without a
// database, for the owner of the folder. copied is told how many bytes there are.
func CopyPart(ctx context.Context, from, path string, copied func(int64)) error {
	part := PartOf(path)
	if err := RemovePart(path); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &counted{ctx: ctx, from: in, told: copied})
	return errors.Join(err, out.Sync(), out.Close(), giveLikeDatabase(path, part))
}

// giveLikeDatabase gives a file the owner of the database, or of its folder if there is none.
func giveLikeDatabase(path, file string) error {
	err := GiveLike(path, file)
	if errors.Is(err, fs.ErrNotExist) {
		err = GiveLike(filepath.Dir(path), file)
	}
	return err
}

// counted reads until ctx ends, and tells how much it has read.
type counted struct {
	ctx  context.Context
	from io.Reader
	done int64
	told func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.from.Read(p)
	c.done += int64(n)
	c.told(c.done)
	return n, err
}

// RemovePart deletes PartOf(path) with everything beside it.
func RemovePart(path string) error {
	part := PartOf(path)
	return errors.Join(removeFile(part), removeBeside(part, besideAny), removeBeside(part+ratesSuffix, append([]string{""}, besideAny...)))
}

func removeBeside(path string, suffixes []string) (err error) {
	for _, suffix := range suffixes {
		err = errors.Join(err, removeFile(path+suffix))
	}
	return err
}

// ClosePart ends the work on PartOf(path): its file alone is left, with everything in it, and on the
// disk.
func ClosePart(path string) error {
	part := PartOf(path)
	if err := Settle(part); err != nil {
		return fmt.Errorf("%s: %w", part, err)
	}
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), removeBeside(part+ratesSuffix, append([]string{""}, besideAny...)))
}

// Settle takes the log of a database into its file, which then has everything, and has SQLite
// delete the log. It returns ErrInUse if another process has the database open.
func Settle(path string) (err error) {
	if size, err := sizeOf(path); err != nil || size == 0 {
		return err
	}
	o := Options{}.withDefaults()
	// A connection that can write takes the log into a damaged file when it is closed, or deletes it.
	reader, err := connectTo(logURI(path), sqlite.OpenReadOnly|sqlite.OpenURI, o, true, checkpointCacheKiB)
	if err != nil {
		return err
	}
	_, err = queryInt(reader, "SELECT count(*) FROM sqlite_schema")
	if err = errors.Join(err, reader.Close()); err != nil {
		return err
	}
	conn, err := connect(path, o, false, checkpointCacheKiB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// A database leaves this mode only while nothing else has it open, and only when all of the log
	// is in its file, on the disk. `serve` returns to the mode.
	mode := ""
	err = sqlitex.ExecuteTransient(conn.Conn, "PRAGMA journal_mode=DELETE", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		mode = stmt.ColumnText(0)
		return nil
	}})
	switch code := sqlite.ErrCode(err).ToPrimary(); {
	case code == sqlite.ResultBusy || code == sqlite.ResultLocked:
		return ErrInUse
	case err == nil && mode != "delete":
		err = fmt.Errorf("its log stays in the mode %s", mode)
	}
	return err
}

// CheckOld refuses to keep the files of the database at OldOf(path) if others are there.
func CheckOld(path string) error {
	for _, suffix := range append([]string{""}, besideAny...) {
		old := OldOf(path) + suffix
		there, err := os.Stat(old)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		// A replacement that was cut off has given the same file two names, or has deleted the log.
		is, err := os.Stat(path + suffix)
		if err == nil && !os.SameFile(is, there) || err != nil && suffix == "" {
			return fmt.Errorf("%s is there already; move it elsewhere first", old)
		}
	}
	return nil
}

// Replacing returns the steps, in order, by which PartOf(path), which is whole, takes the place of
// the database. keep: the database that is there goes to OldOf(path), with its log if it still has
// one. requests is the suffix of the log of requests. Nothing else may use the path meanwhile.
//
// Whenever we stop, there is a database at the path, and all that was acknowledged is in it or in
// OldOf(path). The steps may be taken again from the first one.
func Replacing(path, requests string, keep bool) []func() error {
	steps := []func() error{
		// The old database has two names. Stopped here: it is in use as before.
		func() error { return linkOld(path) },
		// Stopped from here on: both names are on the disk.
		func() error { return syncFolder(filepath.Dir(path)) },
		// A log that could not be taken into its file must not be taken into the new one. Stopped
		// here: the old database is at the path without the end of its log; OldOf(path) has it all.
		func() error { return removeBeside(path, besideAny) },
		// Stopped before: the path is the old database; after: it is the new one.
		func() error { return Publish(PartOf(path), path) },
		// They are about the old database. The new one makes them again.
		func() error {
			return errors.Join(removeBeside(path+ratesSuffix, append([]string{""}, besideAny...)), removeBeside(path+requests, append([]string{""}, besideAny...)))
		},
	}
	if !keep {
		return steps[2:]
	}
	return steps
}

// linkOld gives the files of the database a second name each. A rename would leave no database at
// the path for a moment, and a service that starts then would make an empty one.
func linkOld(path string) error {
	if err := CheckOld(path); err != nil {
		return err
	}
	for _, suffix := range append([]string{""}, besideAny...) {
		err := os.Link(path+suffix, OldOf(path)+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) { // CheckOld has seen that it is the same file
			return fmt.Errorf("%w; move %s elsewhere yourself, with its -wal and -shm, and restore without --replace", err, path)
		}
	}
	return nil
}
