package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"purveyor/internal/storage/schema"
)

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
		err = e.endLeases(ctx, string(last))
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

func (e *Engine) endLeases(ctx context.Context, worker string) error {
	_, err := e.writeOne(ctx, "UPDATE jobs INDEXED BY jobs_waiting SET leased_by = '', leased_until = 0 WHERE state = 'waiting' AND leased_by = ?",
		func(b schema.Binder) { b.Text(worker) })
	return err
}
