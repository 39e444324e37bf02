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

// walIndex reads the header of the index of the write-ahead log: the -shm file,
// which all processes with the database map and share. The header changes with
// every commit of any process. It is read from a mapping like SQLite's own, without a
// system call, a lock or a statement.
//
// The format belongs to SQLite (sqlite.org/walformat.html, "The WAL-Index File
// Format"). No other part of this program depends on it. check compares the header
// with SQLite's own answer before it is used. Without an index, freshness asks SQLite
// each time: that took 4.7 us of CPU time a look, the header 0.9 us when it was read
// from the file, and 0.01 us from the mapping.
//
// The file stays open as long as the process lives: POSIX ends all locks that a
// process has on a file when the process closes any descriptor of it, and SQLite
// locks this one. SQLite cuts the file off only while no process has the database open.
type walIndex struct {
	file   *os.File
	mapped []byte // the beginning of the file; nil: it is read from the file
	info   os.FileInfo
}

// walHeader is the first of the two copies of the header. A commit writes the
// second copy, then the first, and then returns. Two headers are equal only if the
// same commit was the newest: a header holds the salts of the log, which change
// when the log begins again, the number of its frames, and a checksum of all frames.
// If a commit writes while the header is read, the result mixes two headers, both
// newer than every header that was read before, and does not equal any of those.
type walHeader [48]byte

// The fields of the header, in the byte order of the machine.
const (
	walVersion   = 0  // uint32
	walInit      = 12 // uint8: 1 once the header is complete
	walPageSize  = 14 // uint16; 1 for pages of 64 KiB, which this program does not make
	walFrames    = 16 // uint32: committed frames in the log
	walPages     = 20 // uint32: pages of the database after the last of them
	walChecksum  = 40 // 2 uint32, of all that stands before
	knownVersion = 3_007_000
)

// walIndexSize is the size of the first block of the index, and so the least of a file.
const walIndexSize = 32 << 10

var native = binary.NativeEndian

// openIndexes are the indexes that this process has opened.
var openIndexes struct {
	sync.Mutex
	list []*walIndex
}

// openWALIndex opens the index of the connection's database. It returns nil if the
// file is not as this program knows it.
func openWALIndex(conn *connection) *walIndex {
	if runtime.GOOS != "linux" {
		return nil // on other systems, a read of a file may miss writes to its mapping
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
	if w.info, err = file.Stat(); err == nil && w.info.Size() >= walIndexSize {
		w.mapped, err = mapFirst(file, walIndexSize)
	}
	return w, err
}

// read reads the header; false if that fails.
func (w *walIndex) read() (h walHeader, ok bool) {
	if w.mapped != nil {
		copy(h[:], w.mapped)
		return h, true
	}
	_, err := w.file.ReadAt(h[:], 0)
	return h, err == nil
}

// check compares the header with the state that a connection reports.
func (w *walIndex) check(conn *connection) error {
	const tries = 100 // other processes may commit meanwhile
	for range tries {
		before, ok := w.read()
		agrees, err := before.agrees(conn)
		var copies [2 * len(before)]byte
		if _, err := w.file.ReadAt(copies[:], 0); err != nil || !ok {
			return errors.New("it is too short")
		}
		first, second := walHeader(copies[:len(before)]), walHeader(copies[len(before):])
		switch {
		case first != before:
			continue
		case err != nil:
			return err
		case !agrees || second != first:
			return fmt.Errorf("its header is %x and %x", first, second)
		}
		return nil
	}
	return errors.New("it changes too often")
}

// agrees reports that the header has the known format, the number of frames that
// the log has and, if the log has any, the sizes of the database.
func (h *walHeader) agrees(conn *connection) (bool, error) {
	frames, _, err := walCheckpoint(conn, "NOOP")
	if err != nil {
		return false, err
	}
	pages, err := pragma(conn, "page_count")
	if err != nil {
		return false, err
	}
	bytes, err := pragma(conn, "page_size")
	return native.Uint32(h[walVersion:]) == knownVersion && h[walInit] == 1 &&
		h.checksum() == [2]uint32{native.Uint32(h[walChecksum:]), native.Uint32(h[walChecksum+4:])} &&
		frames == int64(native.Uint32(h[walFrames:])) &&
		(frames == 0 || pages == int64(native.Uint32(h[walPages:])) && bytes == int64(native.Uint16(h[walPageSize:]))), err
}

// checksum computes the checksum of the fields before it, as SQLite does.
func (h *walHeader) checksum() (sum [2]uint32) {
	for i := 0; i < walChecksum; i += 8 {
		sum[0] += native.Uint32(h[i:]) + sum[1]
		sum[1] += native.Uint32(h[i+4:]) + sum[0]
	}
	return sum
}
