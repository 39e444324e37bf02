//go:build darwin || freebsd || linux

package sqlite

import (
	"math"
	"syscall"
)

// freeSpace is how many bytes this process may add to the disk that holds the
// path. If the system does not tell, nothing is taken to be short.
func freeSpace(path string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return math.MaxInt64
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
