package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
)

// walIndex looks at the index of the write-ahead log, the -shm file: memory that
// all processes with the database share. Its header changes with every commit of
// any process, and a look at it takes one call of the system, no lock and no
// statement.
//
// The format is SQLite's (sqlite.org/walformat.html, "The WAL-Index File Format").
// No other part of this program depends on it, and check compares it with what
// SQLite says before it is used. Without an index, freshness asks SQLite each time.
//
// The file stays open as long as the process lives: POSIX ends all locks that a
// process has on a file when the process closes any descriptor of it, and SQLite
// locks this one.
type walIndex struct {
	file *os.File
	info os.FileInfo
}

// walHeader is the first of the two copies of the header. A commit writes the
// second copy, then the first, then returns. Two headers are equal only if the
// same commit was the last: the header holds the salts of the log, which change
// when the log begins again, the number of its frames, and a checksum of them all.
// A header that is being written meanwhile has words of two commits, and is equal
// to neither.
type walHeader [48]byte

// The fields of the header, in the byte order of the machine.
const (
	walVersion   = 0  // uint32
	walInit      = 12 // uint8: 1 once the header is complete
	walPageSize  = 14 // uint16, of a page of 64 KiB: 1
	walFrames    = 16 // uint32: committed frames in the log
	walPages     = 20 // uint32: pages of the database after the last of them
	walChecksum  = 40 // 2 uint32, of all that stands before
	knownVersion = 3_007_000
)

var native = binary.NativeEndian

// openIndexes are the indexes that this process has opened.
var openIndexes struct {
	sync.Mutex
	list []*walIndex
}

// openWALIndex opens the index of the database that a connection has open. It is
// nil if what it finds is not what this program knows.
func openWALIndex(conn *connection) *walIndex {
	if runtime.GOOS != "linux" {
		return nil // reads of a file need not see what others write to its mapping
	}
	w, err := findIndex(conn)
	if err == nil {
		err = w.check(conn)
	}
	if err != nil {
		slog.Warn("reads of products ask SQLite each time, because the index of its log is not understood", "error", err)
		return nil
	}
	return w
}

func findIndex(conn *connection) (*walIndex, error) {
	// SQLite names the file after the database, whose links it has followed.
	var path string
	err := query(conn, "PRAGMA database_list", noArgs, func(s *scanner) {
		s.next()
		if s.Text() == "main" {
			path = s.Text() + "-shm"
		}
	})
	if err != nil {
		return nil, err
	}
	openIndexes.Lock()
	defer openIndexes.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	for _, w := range openIndexes.list {
		if os.SameFile(w.info, info) {
			return w, nil
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	w := &walIndex{file: file}
	openIndexes.list = append(openIndexes.list, w)
	w.info, err = file.Stat()
	return w, err
}

// read is the header as it is now; false if it cannot be read.
func (w *walIndex) read() (h walHeader, ok bool) {
	_, err := w.file.ReadAt(h[:], 0)
	return h, err == nil
}

// check compares the header with what a connection says of the database.
func (w *walIndex) check(conn *connection) error {
	const tries = 100 // others may commit meanwhile
	for range tries {
		before, ok := w.read()
		if !ok {
			return errors.New("it is too short")
		}
		err := w.compare(before, conn)
		if after, _ := w.read(); after == before {
			return err
		}
	}
	return errors.New("it changes too often")
}

func (w *walIndex) compare(h walHeader, conn *connection) error {
	var second walHeader
	if _, err := w.file.ReadAt(second[:], int64(len(h))); err != nil || second != h {
		return errors.New("the copies of its header differ")
	}
	if version := native.Uint32(h[walVersion:]); version != knownVersion || h[walInit] != 1 {
		return fmt.Errorf("it has version %d", version)
	}
	if sum := h.checksum(); sum != [2]uint32{native.Uint32(h[walChecksum:]), native.Uint32(h[walChecksum+4:])} {
		return errors.New("the checksum of its header is wrong")
	}
	frames, _, err := walCheckpoint(conn, "NOOP")
	if err != nil {
		return err
	}
	if frames != int64(native.Uint32(h[walFrames:])) {
		return fmt.Errorf("the log has %d frames, not %d", frames, native.Uint32(h[walFrames:]))
	}
	if frames == 0 {
		return nil // sizes are not there yet
	}
	pages, err := pragma(conn, "page_count")
	if err != nil {
		return err
	}
	bytes, err := pragma(conn, "page_size")
	if err != nil {
		return err
	}
	if pages != int64(native.Uint32(h[walPages:])) || bytes != int64(native.Uint16(h[walPageSize:])) {
		return fmt.Errorf("the database has %d pages of %d bytes, not %d of %d", pages, bytes, native.Uint32(h[walPages:]), native.Uint16(h[walPageSize:]))
	}
	return nil
}

// checksum is SQLite's, of all that stands before it.
func (h *walHeader) checksum() (sum [2]uint32) {
	for i := 0; i < walChecksum; i += 8 {
		sum[0] += native.Uint32(h[i:]) + sum[1]
		sum[1] += native.Uint32(h[i+4:]) + sum[0]
	}
	return sum
}
