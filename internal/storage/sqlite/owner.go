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
	// longestName bounds what is read of the lock file.
	longestName = 256
)

// Own makes this process the owner of the database, for its life, if there is no
// other. The lock of a file beside the database tells: the kernel ends it when the
// process dies. The file names the worker of its last owner. A new owner ends the
// leases of that worker, because it has ended: its jobs come up again at once,
// not when their leases would end. Leases of processes that were not owners stay
// as they are.
//
// If we stop after the leases are ended and before our name is written, the next
// owner ends the leases of the same worker again, of which there are none.
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
