package sqlite

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// SQLite writes each frame of the write-ahead log with two system calls, which took a tenth
// of the CPU time of an order. logFiles names a file system (sqlite.org/vfs.html) that is
// SQLite's own, except that a connection collects the frames of a transaction in a buffer and
// writes them in pieces of up to logPiece bytes.
//
// Every reader of the log finds in it what SQLite would have written. Other connections read
// committed frames only: once the header of a frame that commits is there, nothing stays in the
// buffer, and each write returns its error. The frames of a transaction that is rolled back are
// written before its lock is released, because later they would overwrite frames of others. The
// connection itself reads, syncs and measures the log after its buffer is written. If we crash
// with frames in the buffer, their transaction has not committed.
const logFiles = "purveyor"

const (
	frameHeader = 24 // bytes (sqlite.org/walformat.html)
	// logPiece is 31 frames with pages of 4 KiB. SQLite writes less than 128 KiB with one system
	// call, and takes a piece of exactly 128 KiB for a full disk (seekAndWriteFd in os_unix.c).
	logPiece = 31 * (frameHeader + 4<<10)
)

// logBuffer is the end of a connection's log that is not written yet. It stands behind SQLite's
// own structure of the database file. Behind the structure of the log is the logBuffer's address.
type logBuffer struct {
	unlocks bool    // the database's unlocking is lockIndex
	commits bool    // the last frame commits a transaction
	log     uintptr // the open log; 0: there is none
	bytes   uintptr // logPiece bytes from libc; 0 until something is written
	start   int64   // where they belong in the log
	length  int32   // 0: everything is written
}

// The functions of an open file, as SQLite declares them.
type (
	transfer   = func(tls *libc.TLS, file, data uintptr, length int32, start int64) int32
	truncating = func(tls *libc.TLS, file uintptr, size int64) int32
	syncing    = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizing     = func(tls *libc.TLS, file, result uintptr) int32
	closing    = func(tls *libc.TLS, file uintptr) int32
	locking    = func(tls *libc.TLS, file uintptr, first, count, flags int32) int32
	opening    = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, result uintptr) int32
)

// methods are SQLite's own methods for a kind of file, and the same with some of ours.
// They come from the first file that is opened. A file with other ones, as macOS has on the
// disks of other machines, keeps them.
type methods struct {
	sync.Once
	own, changed lib.Tsqlite3_io_methods
}

var databaseMethods, logMethods methods

// replace gives an open file our methods, and reports whether it did.
func (m *methods) replace(file uintptr, change func(*lib.Tsqlite3_io_methods)) bool {
	opened := at[lib.Tsqlite3_file](file)
	found := *at[lib.Tsqlite3_io_methods](opened.FpMethods)
	m.Do(func() {
		m.own, m.changed = found, found
		change(&m.changed)
	})
	if found != m.own {
		return false
	}
	opened.FpMethods = uintptr(unsafe.Pointer(&m.changed))
	return true
}

// logURI returns the name by which SQLite opens a database in this file system.
func logURI(path string) string {
	scheme := "file:"
	if strings.HasPrefix(path, "/") {
		scheme = "file://" // and an empty authority, which a path with two slashes needs
	}
	return scheme + (&url.URL{Path: path}).EscapedPath() + "?vfs=" + logFiles
}

var (
	logVFS  lib.Tsqlite3_vfs // SQLite keeps its address for the life of the process
	ownOpen opening
	ownSize uintptr // of SQLite's own structure of an open file
)

// registerLogFiles makes the file system known to SQLite.
var registerLogFiles = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	name, err := libc.CString(logFiles)
	if err != nil {
		return err
	}
	if lib.Xsqlite3_initialize(tls) != lib.SQLITE_OK {
		return errors.New("SQLite does not start")
	}
	logVFS = *at[lib.Tsqlite3_vfs](lib.Xsqlite3_vfs_find(tls, 0))
	const word = 8
	ownSize = (uintptr(logVFS.FszOsFile) + word - 1) &^ (word - 1)
	ownOpen = fromC[opening](logVFS.FxOpen)
	logVFS.FszOsFile = int32(ownSize + unsafe.Sizeof(logBuffer{}))
	logVFS.FzName, logVFS.FxOpen = name, toC(openFile)
	if lib.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(&logVFS)), 0) != lib.SQLITE_OK {
		return errors.New("SQLite takes no other file system")
	}
	return nil
})

// openFile opens a file of any kind. SQLite opens a database before its log, and closes it after
// its log.
func openFile(tls *libc.TLS, vfs, name, file uintptr, flags int32, result uintptr) int32 {
	code := ownOpen(tls, vfs, name, file, flags, result)
	switch {
	case code != lib.SQLITE_OK:
	case flags&lib.SQLITE_OPEN_MAIN_DB != 0:
		*at[logBuffer](file + ownSize) = logBuffer{unlocks: databaseMethods.replace(file, changeDatabase)}
	case flags&lib.SQLITE_OPEN_WAL != 0:
		buffer := lib.Xsqlite3_database_file_object(tls, name) + ownSize
		if b := at[logBuffer](buffer); b.unlocks && logMethods.replace(file, changeLog) {
			b.log = file
			*at[uintptr](file + ownSize) = buffer
		}
	}
	return code
}

func changeDatabase(m *lib.Tsqlite3_io_methods) { m.FxShmLock = toC(lockIndex) }

func changeLog(m *lib.Tsqlite3_io_methods) {
	m.FxRead, m.FxWrite = toC(readLog), toC(writeLog)
	m.FxTruncate, m.FxSync = toC(truncateLog), toC(syncLog)
	m.FxFileSize, m.FxClose = toC(logSize), toC(closeLog)
}

func writeLog(tls *libc.TLS, file, data uintptr, length int32, start int64) int32 {
	b := bufferOf(file)
	if start != b.start+int64(b.length) || b.length+length > logPiece {
		if code := b.flush(tls); code != lib.SQLITE_OK {
			return code
		}
		b.start = start
	}
	if b.bytes == 0 {
		b.bytes = libc.Xmalloc(tls, logPiece)
	}
	if b.bytes == 0 || length > logPiece {
		return fromC[transfer](logMethods.own.FxWrite)(tls, file, data, length, start)
	}
	libc.Xmemcpy(tls, b.bytes+uintptr(b.length), data, libc.Tsize_t(length))
	b.length += length
	if length == frameHeader {
		const size = 4 // where a frame that commits has the size of the database, and others have 0
		b.commits = *at[[4]byte](data + size) != [4]byte{}
	}
	if b.commits {
		return b.flush(tls)
	}
	return lib.SQLITE_OK
}

// flush writes the buffer. After an error its content is gone, like that of a write that
// fails: SQLite rolls the transaction back.
func (b *logBuffer) flush(tls *libc.TLS) int32 {
	length := b.length
	if length == 0 {
		return lib.SQLITE_OK
	}
	b.length = 0
	return fromC[transfer](logMethods.own.FxWrite)(tls, b.log, b.bytes, length, b.start)
}

// lockIndex locks parts of the log's index, or unlocks them. One is the right to write to the log.
func lockIndex(tls *libc.TLS, file uintptr, first, count, flags int32) int32 {
	if flags&lib.SQLITE_SHM_UNLOCK != 0 {
		// A transaction gives up the right to write first. Only one that is rolled back has left
		// frames in the buffer; they are not missed if this fails.
		_ = at[logBuffer](file + ownSize).flush(tls)
	}
	return fromC[locking](databaseMethods.own.FxShmLock)(tls, file, first, count, flags)
}

// The other functions of a log find everything written.

func readLog(tls *libc.TLS, file, data uintptr, length int32, start int64) int32 {
	b := bufferOf(file)
	unwritten := b.length
	if code := b.flush(tls); code != lib.SQLITE_OK {
		b.length = unwritten // SQLite may undo the statement that reads, and go on with the transaction
		return code
	}
	return fromC[transfer](logMethods.own.FxRead)(tls, file, data, length, start)
}

func truncateLog(tls *libc.TLS, file uintptr, size int64) int32 {
	if code := bufferOf(file).flush(tls); code != lib.SQLITE_OK {
		return code
	}
	return fromC[truncating](logMethods.own.FxTruncate)(tls, file, size)
}

func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	if code := bufferOf(file).flush(tls); code != lib.SQLITE_OK {
		return code
	}
	return fromC[syncing](logMethods.own.FxSync)(tls, file, flags)
}

func logSize(tls *libc.TLS, file, result uintptr) int32 {
	if code := bufferOf(file).flush(tls); code != lib.SQLITE_OK {
		return code
	}
	return fromC[sizing](logMethods.own.FxFileSize)(tls, file, result)
}

func closeLog(tls *libc.TLS, file uintptr) int32 {
	b := bufferOf(file)
	code := b.flush(tls)
	libc.Xfree(tls, b.bytes)
	*b = logBuffer{unlocks: true}
	if closed := fromC[closing](logMethods.own.FxClose)(tls, file); code == lib.SQLITE_OK {
		code = closed
	}
	return code
}

func bufferOf(log uintptr) *logBuffer { return at[logBuffer](*at[uintptr](log + ownSize)) }

// at is the object at an address of SQLite's memory, which the collector does not move.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// toC and fromC convert between functions of Go and of SQLite, which is translated to Go: a
// pointer to a function is there the address of a Go function value. The function must not
// be a closure.
func toC[F any](f F) uintptr         { return *(*uintptr)(unsafe.Pointer(&f)) }
func fromC[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&address)) }
