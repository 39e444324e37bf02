package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite/sqlitex"
)

const (
	// beforeSuffix is followed by the number to which the database was migrated.
	beforeSuffix = ".before-"
	partSuffix   = ".part"
	// copiesKept is how many copies of a database stay.
	copiesKept = 2
)

// keepBefore copies the database to PATH.before-NUMBER before it is migrated to that
// number, and deletes older copies. The caller holds the write lock, so the copy is
// exactly what is migrated.
//
// If we stop at any time, a file with that name is a whole copy: it is written under
// another name, which the next copy uses again.
func keepBefore(path string, number int, o Options) error {
	to := path + beforeSuffix + strconv.Itoa(number)
	if err := copyFile(context.Background(), path, to+partSuffix, o); err != nil {
		return errors.Join(fmt.Errorf("copy the database to %s before its migration: %w", to, err), removeFile(to+partSuffix))
	}
	if err := os.Rename(to+partSuffix, to); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(to)); err != nil {
		return err
	}
	slog.Info("the database was copied before its migration; the two newest copies stay", "file", to)
	if err := deleteCopies(path); err != nil {
		slog.Warn("older copies of the database could not be deleted", "error", err)
	}
	return nil
}

// copyFile copies what is committed to a file that only the database's users can read.
func copyFile(ctx context.Context, path, to string, o Options) error {
	if err := removeFile(to); err != nil {
		return err
	}
	if err := makeLike(path, to); err != nil {
		return err
	}
	conn, err := connect(path, o, false, checkpointCacheKiB)
	if err != nil {
		return err
	}
	conn.SetInterrupt(ctx.Done())
	err = sqlitex.ExecuteTransient(conn.Conn, "VACUUM INTO ?", &sqlitex.ExecOptions{Args: []any{logURI(to)}})
	if err = errors.Join(err, conn.Close()); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// makeLike makes an empty file with the owner and the rights of another one.
func makeLike(path, to string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return err
	}
	err = giveTo(f, info)
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	return errors.Join(err, f.Close())
}

// deleteCopies deletes all copies of a database but the ones made last.
func deleteCopies(path string) error {
	type found struct {
		path string
		info fs.FileInfo
	}
	var copies []found
	prefix := filepath.Base(path) + beforeSuffix
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), prefix)
		if _, err := strconv.ParseUint(number, 10, 32); !ours || err != nil || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		copies = append(copies, found{filepath.Join(filepath.Dir(path), e.Name()), info})
	}
	slices.SortFunc(copies, func(a, b found) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	for _, c := range copies[min(copiesKept, len(copies)):] {
		err = errors.Join(err, removeFile(c.path))
	}
	return err
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
