package sqlite

import (
	"os"
	"syscall"
)

// mapFirst maps the first bytes of a file that is at least so long.
func mapFirst(file *os.File, length int) ([]byte, error) {
	return syscall.Mmap(int(file.Fd()), 0, length, syscall.PROT_READ, syscall.MAP_SHARED)
}
