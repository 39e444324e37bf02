//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// mayUse reports whether this process may read and write a file, or search and write a
// folder. It does not open the file: closing it would end the locks that
// SQLite holds on it for this process (POSIX).
func mayUse(path string, folder bool) error {
	const search, write, read = 1, 2, 4
	mode := uint32(read | write)
	if folder {
		mode |= search
	}
	return syscall.Access(path, mode)
}

// locks: this system has locks of files.
const locks = true

// tryLock locks a file for as long as it is open. The kernel ends the lock when
// the process dies, however it dies.
func tryLock(f *os.File) (locked bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// giveTo gives a file to the owner of another one. Without the right to do that, the
// file keeps its owner.
func giveTo(f *os.File, of fs.FileInfo) error {
	owner, ok := of.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if err := f.Chown(int(owner.Uid), int(owner.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// isOurs reports whether a file belongs to the user of this process.
func isOurs(f fs.FileInfo) bool {
	owner, ok := f.Sys().(*syscall.Stat_t)
	return !ok || int(owner.Uid) == os.Geteuid()
}

// syncFolder has the disk keep the names of the files in a folder.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
