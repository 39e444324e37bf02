package effect

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/service"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/database"
)

// try is one that ended with this status.
func try(n int, status int64) command.WebhookTry {
	id := fmt.Sprintf("evt_%03d", n)
	return command.WebhookTry{Job: commerce.Job{Slot: 1, ID: "job_" + id, Owner: partnerID, Subject: id},
		Attempt: commerce.WebhookAttempt{PartnerID: partnerID, EventID: id, Status: status, Error: map[bool]string{true: "no"}[status != 200]}}
}

// TestTriesAreGathered: how long a try waits for others before it is recorded.
func TestTriesAreGathered(t *testing.T) {
	for _, c := range []struct {
		name     string
		statuses []int64
		want     time.Duration
	}{
		{"one that was delivered", []int64{200}, collectTime},
		{"few", []int64{200, 200, 200}, collectTime},
		{"plenty", make([]int64, plenty), 0},
		{"a failure after others", []int64{200, 200, 500}, 0},
	} {
		in(t, func(s *shop) {
			tries := newTries(Options{Uses: s.uses()})
			began, done := time.Now(), make(chan time.Duration, len(c.statuses))
			for i, status := range c.statuses {
				if status == 0 {
					status = 200
				}
				go func() {
					if _, err := tries.record(try(i, status)); err != nil {
						t.Errorf("%s: %v", c.name, err)
					}
					done <- time.Since(began)
				}()
				synctest.Wait() // until it waits for its record: the order counts
			}
			for i := range c.statuses {
				if took := <-done; took != c.want {
					t.Errorf("%s: recorded after %v, want %v", c.name, took, c.want)
				}
				if n := len(s.Attempts(commerce.WebhookEvent{PartnerID: partnerID, ID: try(i, 0).Job.Subject})); n != 1 {
					t.Errorf("%s: %d attempts are on record", c.name, n)
				}
			}
			synctest.Wait()
		})
	}
}

// TestTriesAreRecordedAlone when they cannot be together, and each hears of its
// own outcome.
func TestTriesAreRecordedAlone(t *testing.T) {
	path := database.SQLite(t)
	synctest.Test(t, func(t *testing.T) {
		engine, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		flaky := &storagetest.Flaky{Engine: engine}
		committer := commit.New(flaky, commit.Options{EncodeEvent: wire.Encoder{}.EventData})
		defer func() {
			committer.Close()
			if err := engine.Close(); err != nil {
				t.Error(err)
			}
		}()
		tries := newTries(Options{Uses: service.New(engine.Reader(), engine, committer, service.Options{})})
		record := func(n int) (failed int) {
			errs := make(chan error, n)
			for i := range n {
				go func() {
					_, err := tries.record(try(i, 200))
					errs <- err
				}()
			}
			for range n {
				if <-errs != nil {
					failed++
				}
			}
			return failed
		}
		flaky.Fail(storagetest.Refused)
		if failed := record(5); failed != 0 {
			t.Errorf("%d of 5 failed with the others", failed)
		}
		flaky.Fail(storagetest.Refused)
		if failed := record(1); failed != 1 {
			t.Error("a try that could not be recorded was said to be")
		}
	})
}
