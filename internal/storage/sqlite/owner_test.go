package sqlite

import (
	"path/filepath"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
)

// TestOwn: one engine at a time owns a database. The next owner ends the leases
// of the last one, and of no other.
func TestOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	open := func() *Engine {
		t.Helper()
		e, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	own := func(e *Engine, worker string, want bool) {
		t.Helper()
		if owner, err := e.Own(t.Context(), worker); err != nil || owner != want {
			t.Errorf("%s: owner %v, %v; want %v", worker, owner, err, want)
		}
	}
	claim := func(e *Engine, worker string, slot int64) {
		t.Helper()
		list, err := e.ClaimJobs(t.Context(), storage.JobClaim{Worker: worker, Slot: slot, Now: 1000, Until: commerce.Millis(1000).Add(commerce.JobLease), Limit: 1, Classes: []commerce.JobClass{{Kind: "k", Mode: commerce.Live}}})
		if err != nil || len(list) != 1 {
			t.Fatalf("%s claimed %v, %v", worker, list, err)
		}
	}
	first, second := open(), open()
	storagetest.Change(t, first, commerce.Needs{}, func(*commerce.Rows, commerce.Millis) (c commerce.Changes) {
		for slot := range int64(3) {
			c.NewJobs = append(c.NewJobs, commerce.Job{Slot: slot, ID: "job_1", Kind: "k", Mode: commerce.Live, Owner: "o", RunAt: 1, State: commerce.JobWaiting})
		}
		return c
	})
	own(first, "one", true)
	own(second, "two", false)
	claim(first, "one", 0)
	claim(second, "two", 1)
	if err := first.Close(); err != nil { // the kernel ends the lock of a process that dies, too
		t.Fatal(err)
	}
	third := open()
	own(third, "a name that is longer than the one before it", true)
	own(second, "two", false)
	leased := func(slot int64) string {
		t.Helper()
		job, err := third.Reader().Job(t.Context(), commerce.JobKey{Slot: slot, ID: "job_1"})
		if err != nil {
			t.Fatal(err)
		}
		return job.LeasedBy
	}
	if a, b := leased(0), leased(1); a != "" || b != "two" {
		t.Errorf("the jobs are leased by %q and %q", a, b)
	}
	claim(third, "a name that is longer than the one before it", 0)
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	own(second, "two", true)
	third = second
	if a := leased(0); a != "" {
		t.Errorf("the job is leased by %q", a)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}
