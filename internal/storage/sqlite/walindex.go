//go:build unix

package sqlite

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// walIndex is the memory that all processes with the database share: it changes
// with every commit, and to look at it takes no lock, no statement and no call of
// the system.
type walIndex struct{ header *[len(walHeader{})]uint64 }

// walHeader is the header of the index: a count of the transactions, the size of
// the log, checksums of both. Of its two copies, the first is written last, so
// that it has changed when a commit returns (sqlite.org/walformat.html, "WAL-Index
// Header"; walIndexWriteHdr in SQLite's wal.c).
type walHeader [6]uint64

// read is the header as it is now. One that is being written is equal to no
// other.
func (w walIndex) read() (h walHeader) {
	for i := range h {
		h[i] = atomic.LoadUint64(&w.header[i])
	}
	return h
}

// walIndexes are those of this process, by file. They are never given back:
// closing a file, by whatever descriptor, ends all locks that the process has on
// it (POSIX), and SQLite's are on this one.
var walIndexes struct {
	sync.Mutex
	files map[[2]uint64]walIndex
}

// walIndexOf maps the index of a database that is open; false if it has none.
func walIndexOf(path string) (walIndex, bool) {
	path += "-shm"
	info, err := os.Stat(path)
	if err != nil || info.Size() < int64(unsafe.Sizeof(walHeader{})) {
		return walIndex{}, false
	}
	stat := info.Sys().(*syscall.Stat_t)
	file := [2]uint64{uint64(stat.Dev), stat.Ino}
	walIndexes.Lock()
	defer walIndexes.Unlock()
	if w, mapped := walIndexes.files[file]; mapped {
		return w, true
	}
	var memory []byte
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err == nil {
		memory, err = syscall.Mmap(fd, 0, int(unsafe.Sizeof(walHeader{})), syscall.PROT_READ, syscall.MAP_SHARED)
	}
	if err != nil {
		return walIndex{}, false
	}
	if walIndexes.files == nil {
		walIndexes.files = map[[2]uint64]walIndex{}
	}
	w := walIndex{(*[len(walHeader{})]uint64)(unsafe.Pointer(&memory[0]))}
	walIndexes.files[file] = w
	return w, true
}
