//go:build darwin || freebsd || linux

package sqlite

import (
	"math"
	"syscall"
)

// freeSpace is the number of bytes that this process may add to the disk of the path. If
// the system does not know, it is a large number.
func freeSpace(path string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return math.MaxInt64
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
