//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import (
	"io/fs"
	"os"
)

// mayUse checks nothing on this system. SQLite's own error names the problem.
func mayUse(string, bool) error { return nil }

// locks: this system has locks of files.
const locks = false

// tryLock locks nothing on this system. Jobs of a process that died come up again when
// their leases end.
func tryLock(*os.File) (locked bool, err error) { return false, nil }

// giveTo changes nothing on this system.
func giveTo(*os.File, fs.FileInfo) error { return nil }

// isOurs is not known on this system.
func isOurs(fs.FileInfo) bool { return true }

// syncFolder does nothing on this system.
func syncFolder(string) error { return nil }
