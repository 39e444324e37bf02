package commit_test

import (
	"errors"
	"sync"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/schema/schematest"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
)

// checkout is a command whose answer its job decides.
func (s *shop) checkout(k string) (commerce.ReplyKey, command.OrderFacts, commit.Command[commit.Reply]) {
	key := commerce.ReplyKey{PartnerID: fixture.PartnerID, Op: "checkout", Key: k}
	cmd := s.Checkout(0, 1)
	facts := command.OrderFacts{Key: commerce.OrderKey{StoreID: cmd.StoreID, OrderID: cmd.OrderID}, PartnerID: fixture.PartnerID, Fulfillment: cmd.Fulfillment, Lines: cmd.Lines}
	return key, facts, commit.Once(key, [32]byte{1}, cmd, func(commerce.Order) (int, []byte) { return 0, nil })
}

// closing has the answer decided by what becomes of the job.
func closing(cmd command.RecordPaymentSession) commit.Command[command.Recorded] {
	return commit.Close(cmd.Job, cmd, func(r command.Recorded) (int, []byte) { return 201, []byte(r.Payment.SessionID) })
}

// awaited is the one job that a first call has asked for.
func awaited(t *testing.T, jobs []commerce.Job) commerce.Job {
	t.Helper()
	if len(jobs) != 1 || !jobs[0].Awaited || jobs[0].Kind != commerce.JobOpenSession || jobs[0].ID == "" {
		t.Fatalf("asked for %+v", jobs)
	}
	return jobs[0]
}

// TestOpenReply: a first call gets the job, each repeat the job's key, until
// the outcome is recorded; then each gets the answer.
func TestOpenReply(t *testing.T) { onEveryEngine(t, testOpenReply) }

func testOpenReply(t *testing.T, open opener) {
	s := openShop(t, open, 1, 10)
	key, facts, cmd := s.checkout("k")
	first, jobs, err := commit.DoJobs(t.Context(), s.Committer, cmd)
	if err != nil || first.Replayed || first.Status != 0 || first.Job.ID != "" {
		t.Fatalf("%+v, %v", first, err)
	}
	job := awaited(t, jobs)
	_, _, again := s.checkout("k") // another order id, as a repeated request draws
	var run []func()
	for range 3 {
		run = append(run, func() {
			repeat, jobs, err := commit.DoJobs(t.Context(), s.Committer, again)
			if err != nil || !repeat.Replayed || repeat.Status != 0 || repeat.Job != job.Key() || len(jobs) != 0 {
				t.Errorf("a repeat: %+v, %+v, %v", repeat, jobs, err)
			}
		})
	}
	s.together(run...)
	stored, err := s.engine.Reader().Reply(t.Context(), key)
	if err != nil || !stored.Open() || stored.Job != job.Key() {
		t.Errorf("stored %+v, %v", stored, err)
	}
	record := closing(command.RecordPaymentSession{RecordJob: command.RecordJob{Job: job}, Facts: facts, SessionID: "cs", URL: "https://pay.example"})
	must(commit.Do(t.Context(), s.Committer, record))
	must(commit.Do(t.Context(), s.Committer, record)) // by another worker: too late, and without effect
	repeat, _, err := commit.DoJobs(t.Context(), s.Committer, again)
	if err != nil || repeat.Status != 201 || repeat.Job.ID != "" || !repeat.Replayed || string(repeat.Body) != "cs" {
		t.Errorf("after the record: %+v, %v", repeat, err)
	}
}

// TestOpenReplyTogether: of the same key in one batch one takes place, and the
// others get its job.
func TestOpenReplyTogether(t *testing.T) { onEveryEngine(t, testOpenReplyTogether) }

func testOpenReplyTogether(t *testing.T, open opener) {
	s := openShop(t, open, 1, 10)
	var mu sync.Mutex
	var asked []commerce.Job
	var told []commerce.JobKey
	var run []func()
	for range 5 {
		_, _, cmd := s.checkout("k")
		run = append(run, func() {
			reply, jobs, err := commit.DoJobs(t.Context(), s.Committer, cmd)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			asked = append(asked, jobs...)
			if reply.Replayed {
				told = append(told, reply.Job)
			}
		})
	}
	s.together(run...)
	job := awaited(t, asked)
	for _, k := range told {
		if k != job.Key() {
			t.Errorf("told %+v, want %+v", k, job.Key())
		}
	}
	if len(told) != 4 {
		t.Errorf("%d were told of the job, want 4", len(told))
	}
}

// TestReleasedReply: after a refusal the key is free, and a repeat is another
// order with another job.
func TestReleasedReply(t *testing.T) { onEveryEngine(t, testReleasedReply) }

func testReleasedReply(t *testing.T, open opener) {
	s := openShop(t, open, 1, 10)
	key, facts, cmd := s.checkout("k")
	_, jobs, err := commit.DoJobs(t.Context(), s.Committer, cmd)
	if err != nil {
		t.Fatal(err)
	}
	job := awaited(t, jobs)
	must(commit.Do(t.Context(), s.Committer, closing(command.RecordPaymentSession{RecordJob: command.RecordJob{Job: job}, Facts: facts, Refused: "no"})))
	if stored, err := s.engine.Reader().Reply(t.Context(), key); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("stored %+v, %v", stored, err)
	}
	_, _, again := s.checkout("k")
	second, jobs, err := commit.DoJobs(t.Context(), s.Committer, again)
	if err != nil || second.Replayed || awaited(t, jobs).Key() == job.Key() {
		t.Errorf("the repeat: %+v, %+v, %v", second, jobs, err)
	}
}

// TestOpenReplyAfterAnUnknownOutcome checks that a keyed command with an unknown
// outcome finds its open reply, or takes effect now. In the end there is one order
// and one job, and the caller knows the job.
func TestOpenReplyAfterAnUnknownOutcome(t *testing.T) {
	onEveryEngine(t, testOpenReplyAfterAnUnknownOutcome)
}

func testOpenReplyAfterAnUnknownOutcome(t *testing.T, open opener) {
	for _, how := range []storagetest.Failure{storagetest.BeforeSave, storagetest.AfterSave} {
		s := openShop(t, open, 1, 10)
		key, _, cmd := s.checkout("k")
		s.engine.Fail(how)
		reply, jobs, err := commit.DoJobs(t.Context(), s.Committer, cmd)
		if err != nil || reply.Replayed != (how == storagetest.AfterSave) {
			t.Fatalf("failure %d: %+v, %v", how, reply, err)
		}
		job := reply.Job
		if !reply.Replayed {
			job = awaited(t, jobs).Key()
		} else if len(jobs) != 0 {
			t.Errorf("failure %d: asked for %+v, which are of the try with the unknown outcome", how, jobs)
		}
		stored, err := s.engine.Reader().Reply(t.Context(), key)
		if err != nil || stored.Job != job || job.ID == "" {
			t.Errorf("failure %d: stored %+v, %v, and told of %+v", how, stored, err, job)
		}
		waiting, err := s.engine.Reader().Jobs(t.Context(), storage.JobFilter{State: commerce.JobWaiting, Owner: fixture.StoreID, Limit: 9})
		if err != nil || len(waiting) != 1 || waiting[0].Key() != job {
			t.Errorf("failure %d: jobs %+v, %v", how, waiting, err)
		}
		payments, err := s.engine.Reader().Payments(t.Context(), commerce.OrderKey{}, 9)
		if err != nil || len(payments) != 1 {
			t.Errorf("failure %d: payments %+v, %v", how, payments, err)
		}
	}
}

// TestAccessToARepeat: a caller that has lost its right gets no stored answer.
func TestAccessToARepeat(t *testing.T) {
	key, gone := commerce.ReplyKey{PartnerID: "p", Op: "x", Key: "k"}, errors.New("no right")
	for _, access := range []error{nil, gone} {
		cmd := commit.Once(key, [32]byte{}, admitted{access: access}, func(int) (int, []byte) { return 200, nil })
		rows, n := &commerce.Rows{}, cmd.Needs()
		schema.Require(rows, &n)
		schematest.Fill(rows, commerce.Changes{Replies: []commerce.Reply{{ReplyKey: key, Status: 201}}})
		reply, _, err := cmd.Decide(rows, 9)
		if !errors.Is(err, access) || reply.Replayed != (access == nil) {
			t.Errorf("access %v: %+v, %v", access, reply, err)
		}
	}
}

// admitted is a touch for which a caller needs a right.
type admitted struct {
	touch
	access error
}

func (c admitted) Access(*commerce.Rows) error { return c.access }
