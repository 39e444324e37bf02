//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

import "os"

// mayUse cannot tell here. SQLite's own error will.
func mayUse(string, bool) error { return nil }

// tryLock locks nothing here: what a process had leased comes up again when the
// leases end.
func tryLock(*os.File) (locked bool, err error) { return false, nil }
