package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"
)

// ask asks for a job about something.
type ask struct{ commerce.Job }

func (a ask) Needs() commerce.Needs { return commerce.Needs{} }

func (a ask) Decide(_ *commerce.Rows, now commerce.Millis) (struct{}, commerce.Changes, error) {
	a.RunAt = now
	return struct{}{}, commerce.Changes{NewJobs: []commerce.Job{a.Job}}, nil
}

// TestSubjectNotThere: a job whose subject is not there uses its tries, and then
// is dead with an error that says so.
func TestSubjectNotThere(t *testing.T) {
	in(t, func(s *shop) {
		s.admit()
		long := []commerce.JobKind{commerce.JobEndHold, commerce.JobCourierUpdate, commerce.JobCheckDelivery} // their tries take days
		kinds := []commerce.JobKind{commerce.JobMailReady, commerce.JobMailPaid, commerce.JobTextPaid, commerce.JobOpenSession, commerce.JobExpireSession,
			commerce.JobRefund, commerce.JobDispatch, commerce.JobCancelDelivery, commerce.JobSandboxStep}
		for _, kind := range append(long, kinds...) {
			fixture.Do(s.Shop, ask{commerce.Job{Kind: kind, Mode: commerce.Test, Owner: storeID, Subject: "none"}})
		}
		for end := time.Now().Add(20 * time.Hour); time.Now().Before(end); {
			v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
			time.Sleep(5 * time.Second)
			v.stop()
			// While nothing is due there is no process, as each looks for jobs all the time.
			next := slices.MinFunc(s.Jobs(commerce.JobWaiting, storeID), func(a, b commerce.Job) int { return cmp.Compare(a.RunAt, b.RunAt) })
			time.Sleep(time.Until(time.UnixMilli(int64(next.RunAt))))
		}
		dead := map[commerce.JobKind]commerce.Job{}
		for _, j := range s.Jobs(commerce.JobDead, storeID) {
			dead[j.Kind] = j
		}
		for _, j := range s.Jobs(commerce.JobWaiting, storeID) {
			if !slices.Contains(long, j.Kind) || j.Tries < 3 || !strings.Contains(j.Error, "not found") {
				t.Errorf("%s waits after %d tries: %q", j.Kind, j.Tries, j.Error)
			}
		}
		for _, kind := range kinds {
			if j := dead[kind]; j.Tries != int64(len(kind.Delays()))+1 || !strings.Contains(j.Error, "not found") {
				t.Errorf("%s: %d tries, %q", kind, j.Tries, j.Error)
			}
		}
	})
}

// TestUnread: the job of a row that cannot be read has failed; while the
// database is away, it waits.
func TestUnread(t *testing.T) {
	for _, c := range []struct {
		err   error
		waits bool
	}{
		{storage.ErrUnavailable, true}, {storage.ErrAgain, true}, {storage.ErrOutcomeUnknown, true}, {context.Canceled, true}, {context.DeadlineExceeded, true},
		{storage.ErrNotFound, false}, {storage.ErrUnreadable, false}, {errors.New("a value that the database does not take"), false},
	} {
		got := Options{}.retryAfterLease(commerce.Job{}, fmt.Errorf("order: %w", c.err))
		if !errors.Is(got.Err, c.err) || (got.Record == nil) != c.waits {
			t.Errorf("%v: %+v, want that it waits: %v", c.err, got, c.waits)
		}
	}
}

// TestSandboxObjectsOfNoUse: a callback that cannot be read, and an object that
// nothing moves, are dead at once.
func TestSandboxObjectsOfNoUse(t *testing.T) {
	in(t, func(s *shop) {
		s.admit()
		v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
		defer v.stop()
		fixture.Do(s.Shop, command.PutSandboxObject{ID: "none_1", Data: []byte("{}"), FirstStep: time.Millisecond,
			Callbacks: []command.SandboxCallback{{ID: "none_2", Data: []byte("[]")}}})
		time.Sleep(10 * time.Second)
		dead := map[commerce.JobKind]commerce.Job{}
		for _, j := range s.Jobs(commerce.JobDead, "sandbox") {
			dead[j.Kind] = j
		}
		if j := dead[commerce.JobSandboxStep]; j.Tries != 1 || !strings.Contains(j.Error, "nothing moves objects like none_1") {
			t.Errorf("step: %+v", j)
		}
		if j := dead[commerce.JobSandboxCallback]; j.Tries != 1 || j.Error == "" {
			t.Errorf("callback: %+v", j)
		}
	})
}
