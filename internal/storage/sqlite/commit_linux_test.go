package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"

	"zombiezen.com/go/sqlite"
)

// TestCommitThatFails: the log cannot be written when a batch commits. It is
// not known what of it reached the disk, so the outcome is told as unknown.
func TestCommitThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := saveReply(e, "before"); err != nil {
		t.Fatal(err)
	}
	readOnly(t, path+"-wal")
	err = saveReply(e, "lost")
	if !errors.Is(err, storage.ErrOutcomeUnknown) || errors.Is(err, storage.ErrUnavailable) || sqlite.ErrCode(err).ToPrimary() != sqlite.ResultIOErr {
		t.Errorf("%v; want an I/O error, and that the outcome is unknown", err)
	}
	_ = e.Close() // its files do not work any more
	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := saveReply(again, "lost"); err != nil { // it is not there, and can be
		t.Error(err)
	}
}

// TestClaimThatFails: a claim does not wait for the disk, but notices that the log cannot be
// written: its last frame is not left in a buffer.
func TestClaimThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Change(t, e, commerce.Needs{}, func(*commerce.Rows, commerce.Millis) (c commerce.Changes) {
		c.NewJobs = []commerce.Job{{ID: "job_1", Kind: "k", Mode: commerce.Live, Owner: "o", RunAt: 1, State: commerce.JobWaiting}}
		return c
	})
	readOnly(t, path+"-wal")
	list, err := e.ClaimJobs(t.Context(), storage.JobClaim{Worker: "w", Now: 1000, Until: 2000, Limit: 1, Classes: []commerce.JobClass{{Kind: "k", Mode: commerce.Live}}})
	if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultIOErr {
		t.Errorf("claimed %v, %v; want an I/O error", list, err)
	}
	_ = e.Close()
}

// readOnly puts a descriptor that cannot write in the place of each descriptor
// that this process has of a file.
func readOnly(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	replaced := 0
	for _, d := range descriptors {
		n, err := strconv.Atoi(d.Name())
		if target, linkErr := os.Readlink("/proc/self/fd/" + d.Name()); err != nil || linkErr != nil || target != path || n == int(f.Fd()) {
			continue
		}
		if err := syscall.Dup3(int(f.Fd()), n, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		replaced++
	}
	if replaced == 0 {
		t.Fatalf("%s is not open", path)
	}
}
