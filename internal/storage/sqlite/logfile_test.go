package sqlite

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// logModel is a table of blobs that two connections write in turns, as SQLite should keep it.
type logModel struct {
	path  string
	conns [2]*connection
	rows  map[int64]string
}

// openSmall opens a connection with small pages and a cache so small that a transaction writes
// some of them to the log before it commits.
func openSmall(t rapid.TB, path string) *connection {
	conn, err := connect(path, Options{}, false, 2)
	if err == nil {
		_, err = pragma(conn, "page_size=512")
	}
	if err == nil {
		_, err = pragma(conn, "journal_mode=WAL")
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func (m *logModel) run(t *rapid.T, conn *connection, sql string) {
	t.Helper()
	if err := exec(conn, sql, noArgs); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// transaction changes rows, some of them more than once, and commits or rolls back.
func (m *logModel) transaction(t *rapid.T) {
	conn := rapid.SampledFrom(m.conns[:]).Draw(t, "connection")
	m.run(t, conn, "PRAGMA synchronous="+rapid.SampledFrom([]string{"FULL", "NORMAL", "OFF"}).Draw(t, "synchronous"))
	m.run(t, conn, "BEGIN IMMEDIATE")
	rows := maps.Clone(m.rows)
	for range rapid.IntRange(1, 2).Draw(t, "parts") {
		undone := rapid.IntRange(0, 3).Draw(t, "undo") == 0
		before := maps.Clone(rows)
		m.run(t, conn, "SAVEPOINT part")
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			first, count := rapid.Int64Range(0, 20).Draw(t, "first"), rapid.Int64Range(1, 20).Draw(t, "count")
			word := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "word")
			m.run(t, conn, fmt.Sprintf("WITH RECURSIVE ids (id) AS (VALUES (%d) UNION ALL SELECT id + 1 FROM ids LIMIT %d)"+
				" REPLACE INTO blobs SELECT id, '%s' || hex(zeroblob(id * 20)) FROM ids", first, count, word))
			for id := first; id < first+count; id++ {
				rows[id] = word + strings.Repeat("0", int(id)*40)
			}
		}
		if undone {
			m.run(t, conn, "ROLLBACK TO part")
			rows = before
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "meanwhile") == 0 {
		for _, reader := range m.conns {
			if reader != conn {
				m.compare(t, reader)
			}
		}
		m.copied(t)
	}
	if rapid.Bool().Draw(t, "commit") {
		m.run(t, conn, "COMMIT")
		m.rows = rows
	} else {
		m.run(t, conn, "ROLLBACK")
	}
}

func (m *logModel) checkpoint(t *rapid.T) {
	conn := rapid.SampledFrom(m.conns[:]).Draw(t, "connection")
	if _, _, err := walCheckpoint(conn, rapid.SampledFrom([]string{"PASSIVE", "RESTART", "TRUNCATE"}).Draw(t, "mode")); err != nil {
		t.Fatal(err)
	}
}

// copied opens a copy of the files, as they are on the disk when the process dies.
func (m *logModel) copied(t *rapid.T) {
	dir, err := os.MkdirTemp("", "log")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(m.path + suffix)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "x.db"+suffix), content, ownerOnly)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	conn := openSmall(t, filepath.Join(dir, "x.db"))
	defer conn.Close()
	m.compare(t, conn)
	var state string
	err = query(conn, "PRAGMA integrity_check(1)", noArgs, func(s *scanner) { state = s.Text() })
	if err != nil || state != "ok" {
		t.Fatalf("the file is damaged: %s, %v", state, err)
	}
}

func (m *logModel) check(t *rapid.T) {
	m.compare(t, rapid.SampledFrom(m.conns[:]).Draw(t, "reader"))
}

func (m *logModel) compare(t *rapid.T, conn *connection) {
	t.Helper()
	found := map[int64]string{}
	err := query(conn, "SELECT id, data FROM blobs", noArgs, func(s *scanner) {
		id := s.Int()
		found[id] = s.Text()
	})
	if err != nil || !maps.Equal(found, m.rows) {
		t.Fatalf("%d rows, want %d; %v", len(found), len(m.rows), err)
	}
}

// TestLogOfTwoConnections: whatever is collected before it is written, each connection and
// a process that comes later find what was committed, and nothing else.
func TestLogOfTwoConnections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "log")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := &logModel{path: filepath.Join(dir, "x.db"), rows: map[int64]string{}}
		for i := range m.conns {
			m.conns[i] = openSmall(t, m.path)
			defer m.conns[i].Close()
		}
		m.run(t, m.conns[0], "CREATE TABLE blobs (id INTEGER PRIMARY KEY, data TEXT)")
		t.Repeat(map[string]func(*rapid.T){"transaction": m.transaction, "checkpoint": m.checkpoint, "copied": m.copied, "": m.check})
	})
}

// TestLogIsWrittenInPieces: a transaction of many pages is written with few system calls.
func TestLogIsWrittenInPieces(t *testing.T) {
	writes := func() int {
		status, err := os.ReadFile("/proc/self/io")
		if err != nil {
			t.Skip(err)
		}
		_, rest, _ := strings.Cut(string(status), "syscw: ")
		text, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	path := filepath.Join(t.TempDir(), "x.db")
	conn, err := connect(path, Options{}, false, writerCacheKiB)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = pragma(conn, "journal_mode=WAL")
	for _, sql := range []string{"CREATE TABLE blobs (data BLOB)", "BEGIN", "INSERT INTO blobs VALUES (zeroblob(4000000))"} {
		if err == nil {
			err = exec(conn, sql, noArgs)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	before := writes()
	if err := exec(conn, "COMMIT", noArgs); err != nil {
		t.Fatal(err)
	}
	frames, _, err := walCheckpoint(conn, "NOOP")
	const perPiece, least = 31, 900
	if n := writes() - before; err != nil || frames < least || n > int(frames)/perPiece+10 {
		t.Errorf("%d frames with %d system calls, %v", frames, n, err)
	}
}

// TestOddPaths: a database is at the path that was named, whatever characters are in it.
func TestOddPaths(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "in", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "in", "deep"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	for path, file := range map[string]string{
		"a ?vfs=#%41+&.db":           "a ?vfs=#%41+&.db",
		dir + "/b c.db":              "b c.db",
		"/" + dir + "/two.db":        "two.db",
		"link/../x.db":               "in/x.db",
		dir + "/link/../absolute.db": "in/absolute.db",
	} {
		e, err := Open(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 || info.Mode().Perm() != ownerOnly {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}
