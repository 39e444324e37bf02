package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/storagetest"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// saveReply saves one row of a few kilobytes.
func saveReply(e *Engine, key string) error {
	k := commerce.ReplyKey{PartnerID: "ptn_1", Op: "op", Key: key}
	b, err := e.Load(context.Background(), commerce.Needs{Replies: []commerce.ReplyKey{k}})
	if err != nil {
		return err
	}
	defer b.Discard()
	body := make([]byte, 8<<10)
	_, _ = rand.Read(body) // it must not shrink
	storagetest.Apply(b, commerce.Changes{Replies: []commerce.Reply{{ReplyKey: k, Body: body}}})
	return b.Save(context.Background())
}

// TestFull fills the file: what was saved stays, what was refused is not
// there, and the engine goes on once there is room.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.db")
	e, err := Open(path, Options{MaxPages: 120})
	if err != nil {
		t.Fatal(err)
	}
	saved := 0
	for ; saved < 1000; saved++ {
		if err = saveReply(e, fmt.Sprint(saved)); err != nil {
			break
		}
	}
	if !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("after %d rows: %v, want that the database is full", saved, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	roomy, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer roomy.Close()
	for i := range saved + 1 {
		k := commerce.ReplyKey{PartnerID: "ptn_1", Op: "op", Key: fmt.Sprint(i)}
		b, err := roomy.Load(context.Background(), commerce.Needs{Replies: []commerce.ReplyKey{k}})
		if err != nil {
			t.Fatal(err)
		}
		if _, found := b.Rows().Replies.Get(k); found != (i < saved) {
			t.Errorf("row %d of %d: found = %v", i, saved, found)
		}
		b.Discard()
	}
	if err := saveReply(roomy, fmt.Sprint(saved)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestLocked holds the write lock as another process would.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locked.db")
	e, err := Open(path, Options{BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	other, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	if err := saveReply(e, "a"); !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("beside a lock: %v", err)
	}
	if _, err := e.Sweep(context.Background(), 1); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("sweep beside a lock: %v", err)
	}
	if _, _, err := e.GrantQuota(context.Background(), commerce.RateWindow{}, 1, 1); err != nil {
		t.Errorf("a lease beside a lock: %v", err)
	}
	if err := e.Reader().Ping(context.Background()); err != nil {
		t.Errorf("a read beside a lock: %v", err)
	}
	if err := sqlitex.ExecuteTransient(other, "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	if err := saveReply(e, "a"); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	script := func(name, sql string) string {
		path := filepath.Join(dir, name)
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := sqlitex.ExecuteScript(conn, sql, nil); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := fmt.Sprintf("CREATE TABLE x (a); PRAGMA user_version=99; PRAGMA application_id=%d", applicationID)
	for _, c := range []struct{ name, path, says string }{
		{"newer", script("newer.db", newer), "newer"},
		{"another program's", script("other.db", "CREATE TABLE x (a)"), "another program"},
		{"not a database", text, "not a SQLite database"},
		{"no folder", filepath.Join(dir, "none", "x.db"), "does not exist"},
		{"folder is a file", filepath.Join(text, "x.db"), "not a"},
	} {
		e, err := Open(c.path, Options{})
		if err == nil {
			e.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want something with %q", c.name, err, c.says)
		}
		if c.name == "newer" && !errors.Is(err, storage.ErrNewerDatabase) {
			t.Errorf("%s: %v is not ErrNewerDatabase", c.name, err)
		}
	}
}

// TestOpenedAtOnce: processes that open a new file at once take turns, and
// each of them can write.
func TestOpenedAtOnce(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "new.db")
		errs := make(chan error, 8)
		for i := range cap(errs) {
			go func() {
				e, err := Open(path, Options{BusyTimeout: 30 * time.Second})
				if err == nil {
					err = errors.Join(saveReply(e, fmt.Sprint(i)), e.Close())
				}
				errs <- err
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOpenWaits: a process that writes to a new file hinders the change of its
// journal mode, for which SQLite itself does not wait.
func TestOpenWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	other, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	if e, err := Open(path, Options{BusyTimeout: time.Millisecond}); err == nil {
		t.Error(e.Close(), "it was opened while another process writes to it")
	} else if !strings.Contains(err.Error(), "another process holds the database") {
		t.Error(err)
	}
	opened := make(chan error, 1)
	go func() {
		e, err := Open(path, Options{BusyTimeout: 30 * time.Second})
		if err == nil {
			err = e.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond): // it waits, or has not begun
	}
	if err := sqlitex.ExecuteTransient(other, "COMMIT", nil); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// TestDurable: the setting that makes an answer survive the loss of power.
func TestDurable(t *testing.T) {
	e, err := Open(filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	conn := <-e.writer
	defer func() { e.writer <- conn }()
	for name, want := range map[string]int64{"synchronous": 2, "foreign_keys": 1} { // 2 is FULL
		if got, err := pragma(conn, name); err != nil || got != want {
			t.Errorf("PRAGMA %s is %d, %v; want %d", name, got, err, want)
		}
	}
}

// TestClaimsAloneAreNotSynced: after a claim, batches wait for the disk again.
func TestClaimsAloneAreNotSynced(t *testing.T) {
	e, err := Open(filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for range 2 {
		if _, err := e.ClaimJobs(t.Context(), storage.JobClaim{Worker: "w", Now: 1, Until: 2, Limit: 1}); err != nil {
			t.Fatal(err)
		}
		conn := <-e.writer
		level, err := pragma(conn, "synchronous")
		e.writer <- conn
		const full = 2
		if level != full || err != nil {
			t.Errorf("synchronous is %d, %v", level, err)
		}
	}
}

// TestJobsOfAnOlderProgram: jobs that were stored without mode and partner are
// claimed as live ones, in the lane of their owner alone.
func TestJobsOfAnOlderProgram(t *testing.T) {
	e, err := Open(filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.writeOne(t.Context(), `INSERT INTO jobs (slot, id, kind, owner, subject, run_at, state, tries, probes, error, leased_by, leased_until)
		VALUES (1, 'job_1', 'dispatch', 'sto_1', 'ord_1', 5, 'waiting', 2, 0, 'no', '', 0)`, func(schema.Binder) {}); err != nil {
		t.Fatal(err)
	}
	class := commerce.JobClass{Kind: commerce.JobDispatch, Mode: commerce.Live}
	list, err := e.ClaimJobs(t.Context(), storage.JobClaim{Slot: 1, Worker: "w", Now: 6, Until: 7, Limit: 5, Classes: []commerce.JobClass{class}})
	if want := (commerce.JobLane{JobClass: class, Owner: "sto_1"}); err != nil || len(list) != 1 || list[0].Lane() != want || list[0].Tries != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}
