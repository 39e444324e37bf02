package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite/sqlitex"
)

// execIn runs statements in a database file.
func execIn(t *testing.T, path, script string) *connection {
	t.Helper()
	conn, err := connect(path, Options{}.withDefaults(), false, checkpointCacheKiB)
	for statement := range strings.SplitSeq(script, ";") { // a script would be one transaction
		if err == nil {
			err = sqlitex.ExecuteTransient(conn.Conn, statement, nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// copyTo copies the files of a database, if they are there, as they are on the disk.
func copyTo(t *testing.T, from, to string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		data, err := os.ReadFile(from + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, data, ownerOnly)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// nameIn is the name in a copy of a database; empty: it has none.
func nameIn(t *testing.T, path string) (name string) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copied.db")
	copyTo(t, path, copied, "", "-wal")
	conn, err := connect(copied, Options{}.withDefaults(), false, checkpointCacheKiB)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = query(conn, "SELECT name FROM mark", noArgs, func(s *scanner) { name = s.Text() }) // no table: it has none
	return name
}

// Wherever a replacement is cut off, the path has the old database or the new one, and the old one
// is whole under one of its names. Then the replacement can be repeated.
func TestReplacingIsCutOff(t *testing.T) {
	for name, settled := range map[string]bool{"the log is in the file": true, "the log cannot be taken into the file": false} {
		t.Run(name, func(t *testing.T) {
			const steps = 5
			for n := range steps + 1 {
				path := filepath.Join(t.TempDir(), "shop.db")
				oldDatabase(t, path, settled)
				for _, suffix := range []string{"-rates", "-requests", "-requests-wal"} {
					copyTo(t, path, path+suffix, "")
				}
				part := func() {
					if err := RemovePart(path); err != nil {
						t.Fatal(err)
					}
					conn := execIn(t, PartOf(path), "CREATE TABLE mark AS SELECT 'new' AS name")
					if err := conn.Close(); err != nil {
						t.Fatal(err)
					}
				}
				part()
				all := Replacing(path, "-requests", true)
				if len(all) != steps {
					t.Fatalf("%d steps", len(all))
				}
				for i, step := range all[:n] {
					if err := step(); err != nil {
						t.Fatalf("step %d: %v", i, err)
					}
				}
				is, published := nameIn(t, path), n >= 4
				switch {
				case published && is != "new", !published && settled && is != "old":
					t.Errorf("after %d steps the path is %q", n, is)
				case is != "old" && nameIn(t, OldOf(path)) != "old":
					t.Errorf("after %d steps the old database is nowhere", n)
				}
				if published {
					continue
				}
				part()
				for i, step := range Replacing(path, "-requests", true) {
					if err := step(); err != nil {
						t.Fatalf("after %d steps, step %d again: %v", n, i, err)
					}
				}
				if is, was := nameIn(t, path), nameIn(t, OldOf(path)); is != "new" || was != "old" {
					t.Errorf("repeated after %d steps: %q, and the old one is %q", n, is, was)
				}
				if left, err := filepath.Glob(path + "-*"); err != nil || len(left) > 0 {
					t.Errorf("left: %q, %v", left, err)
				}
			}
		})
	}
}

// oldDatabase makes the old database, whose name is in its log alone if it is not settled.
func oldDatabase(t *testing.T, path string, settled bool) {
	t.Helper()
	used := filepath.Join(t.TempDir(), "used.db")
	conn := execIn(t, used, "PRAGMA journal_mode=WAL; CREATE TABLE x (x); PRAGMA wal_checkpoint(TRUNCATE); CREATE TABLE mark AS SELECT 'old' AS name")
	copyTo(t, used, path, "", "-wal", "-shm") // as a crash leaves it
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if !settled {
		return
	}
	if err := Settle(path); err != nil {
		t.Fatal(err)
	}
	if _, log, err := Size(path); err != nil || log > 0 {
		t.Fatalf("a log of %d bytes is left, %v", log, err)
	}
}

// Another database of the same name is not overwritten, and one that is in use is not touched.
func TestReplacingRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	oldDatabase(t, path, false)
	copyTo(t, path, OldOf(path), "")
	if err := CheckOld(path); err == nil {
		t.Error("an older one would be overwritten")
	}
	if err := Replacing(path, "-requests", true)[0](); err == nil {
		t.Error("an older one was overwritten")
	}
	if err := os.Remove(OldOf(path)); err != nil {
		t.Fatal(err)
	}
	copyTo(t, path, OldOf(path), "-wal")
	if err := CheckOld(path); err == nil {
		t.Error("the log of an older one would be overwritten")
	}
	conn := execIn(t, path, "SELECT * FROM x")
	if err := Settle(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a database in use: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}
