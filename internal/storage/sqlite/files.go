package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// A database holds secrets and customers' data, so only the owner of its files may read
// them. SQLite gives the -wal and -shm files the mode of the file
// that they belong to.
const (
	ownerOnly = 0o600
	forOthers = 0o007
)

// logSuffixes are the suffixes of the files that SQLite keeps beside a database.
var logSuffixes = []string{"-wal", "-shm"}

// checkFiles refuses a path where a database cannot be opened and written; the error gives
// the reason. A database that does not exist yet is accepted, unless existing is set.
func checkFiles(path string, existing bool) error {
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case err != nil:
		return fmt.Errorf("the folder %s does not exist; make it, or choose another place with --database", folder)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", folder)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder; name a file in it")
	case errors.Is(err, fs.ErrNotExist) && existing:
		return fmt.Errorf("%w: there is no such file; choose another with --database, or make this one with purveyor migrate", storage.ErrNoDatabase)
	}
	if err := mayUse(folder, true); err != nil {
		return rightsError(folder, err)
	}
	return checkRights(path)
}

// checkRights refuses files that this process may not write. Those beside the
// database are left over when a process that could not write has died; they get
// the rights of the database back if this user owns them.
func checkRights(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = mayUse(path, false)
	}
	if err != nil {
		return rightsError(path, err)
	}
	for _, suffix := range logSuffixes {
		beside := path + suffix
		err := mayUse(beside, false)
		if errors.Is(err, fs.ErrPermission) && os.Chmod(beside, info.Mode().Perm()) == nil {
			err = mayUse(beside, false)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return rightsError(beside, err)
		}
	}
	return nil
}

func rightsError(path string, cause error) error {
	mode := "unknown"
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().String()
	}
	return fmt.Errorf("%s cannot be read and written by this user (%w): its rights are %s; change them, or its owner", path, cause, mode)
}

// making keeps a file that was just made from being closed while another engine
// of this process has it open, which would end the locks of that engine (POSIX).
var making sync.Mutex

// makePrivate makes a file that does not exist, for its owner alone. SQLite takes
// an empty file for an empty database.
func makePrivate(path string) error {
	making.Lock()
	defer making.Unlock()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// warnOfReaders warns of files that every user of the machine can read. Their
// rights are the operator's: a backup may need them.
func warnOfReaders(path string) {
	for _, name := range []string{path, path + logSuffixes[0]} {
		if mode, open := ForAll(name); open {
			slog.Warn("all users of this machine can use the database, which holds secrets and customers; take the rights away with chmod o=", "file", name, "rights", mode.String())
		}
	}
}

// ForAll reports whether every user of the machine can use a file.
func ForAll(path string) (mode fs.FileMode, open bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Mode(), info.Mode().Perm()&forOthers != 0
}

// Foreign reports whether the database of a file belongs to another user than the one that runs
// this process.
func Foreign(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !isOurs(info)
}

const (
	lockSuffix = "-lock"
	// longestName bounds the bytes that are read of the lock file.
	longestName = 256
)

// Own makes this process the owner of the database for its life, if there is no other
// owner. The owner holds the lock of a file beside the database, which the kernel frees
// when the process dies. The file has the name of its last owner's worker. That worker is
// dead, so a new owner ends its leases: its jobs come up again at once. Leases of processes
// that were not owners stay as they are.
//
// If we stop after the leases are ended and before our name is written, the next owner
// finds no leases of the same worker, and ends none.
func (e *Engine) Own(ctx context.Context, worker string) (owner bool, err error) {
	path := e.path + lockSuffix
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, ownerOnly)
	if err != nil {
		return false, err
	}
	locked, err := tryLock(file)
	if err != nil || !locked {
		return false, errors.Join(err, file.Close())
	}
	e.lock = file
	last, err := io.ReadAll(io.LimitReader(file, longestName))
	if err == nil && len(last) > 0 {
		_, err = e.writeOne(ctx, "UPDATE jobs INDEXED BY jobs_waiting SET leased_by = '', leased_until = 0 WHERE state = 'waiting' AND leased_by = ?",
			func(b schema.Binder) { b.Text(string(last)) })
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt([]byte(worker), 0)
	}
	if err != nil {
		return true, fmt.Errorf("take %s over: %w", path, err)
	}
	return true, nil
}
