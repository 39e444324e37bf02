package commit_test

import (
	"errors"
	"reflect"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/schema/schematest"
)

// outcome is a command that records what became of a job, with the decision.
type outcome struct {
	decision commerce.Decision
	err      error
}

func (o outcome) Needs() commerce.Needs {
	return commerce.Needs{Orders: []commerce.OrderKey{{StoreID: "s"}}}
}

func (o outcome) Decide(*commerce.Rows, commerce.Millis) (decision, commerce.Changes, error) {
	return decision{o.decision}, commerce.Changes{DoneJobs: []commerce.JobKey{{ID: "job_1"}}}, o.err
}

type decision struct{ commerce.Decision }

func (v decision) Decides() commerce.Decision { return v.Decision }

// TestClose: what each decision does to a reply that waits for the job, for another
// job, for none any more, and to one that was swept.
func TestClose(t *testing.T) {
	key := commerce.ReplyKey{PartnerID: "p", Op: "x", Key: "k"}
	job, other := commerce.Job{ID: "job_1", ReplyTo: key}, commerce.JobKey{ID: "job_2"}
	open := commerce.Reply{ReplyKey: key, Job: job.Key(), Status: 200, Body: []byte("meanwhile"), CreatedOn: 7}
	waiting := func(forJob commerce.JobKey, body string) commerce.Reply {
		r := open
		r.Job, r.Body = forJob, []byte(body)
		if body == "answer" {
			r.Status = 201
		}
		return r
	}
	for _, c := range []struct {
		name     string
		decision commerce.Decision
		stored   []commerce.Reply
		want     []commerce.Reply
		released []commerce.ReplyKey
	}{
		{name: "undecided", decision: commerce.Undecided, stored: []commerce.Reply{open}},
		{name: "decided", decision: commerce.Decided, stored: []commerce.Reply{open}, want: []commerce.Reply{waiting(commerce.JobKey{}, "answer")}},
		{name: "decided, another call's", decision: commerce.Decided, stored: []commerce.Reply{waiting(other, "x")}},
		{name: "decided before", decision: commerce.Decided, stored: []commerce.Reply{waiting(commerce.JobKey{}, "x")}},
		{name: "decided, swept", decision: commerce.Decided},
		{name: "refused", decision: commerce.Refused, stored: []commerce.Reply{open}, released: []commerce.ReplyKey{key}},
		{name: "refused, another call's", decision: commerce.Refused, stored: []commerce.Reply{waiting(other, "x")}},
		{name: "refused, swept", decision: commerce.Refused},
		{name: "amended", decision: commerce.Amended, stored: []commerce.Reply{open}, want: []commerce.Reply{waiting(commerce.JobKey{}, "answer")}},
		{name: "amended, still waiting", decision: commerce.Amended, stored: []commerce.Reply{waiting(other, "x")}, want: []commerce.Reply{waiting(other, "answer")}},
		{name: "amended, closed before", decision: commerce.Amended, stored: []commerce.Reply{waiting(commerce.JobKey{}, "x")}, want: []commerce.Reply{waiting(commerce.JobKey{}, "answer")}},
		{name: "amended, swept", decision: commerce.Amended},
	} {
		rows := &commerce.Rows{}
		cmd := commit.Close(job, commit.Command[decision](outcome{decision: c.decision}), func(decision) (int, []byte) { return 201, []byte("answer") })
		n := cmd.Needs()
		if schema.Require(rows, &n); len(n.Orders) != 1 || !reflect.DeepEqual(n.OpenReplies, []commerce.ReplyKey{key}) {
			t.Fatalf("%s: needs %+v", c.name, n)
		}
		schematest.Fill(rows, commerce.Changes{Replies: c.stored})
		got, changes, err := cmd.Decide(rows, 9)
		if err != nil || got.Decision != c.decision || len(changes.DoneJobs) != 1 || !reflect.DeepEqual(changes.Replies, c.want) || !reflect.DeepEqual(changes.Released, c.released) {
			t.Errorf("%s: %+v, %v", c.name, changes, err)
		}
	}
}

// TestCloseLeavesItsCommand: without a reply there is nothing to close, and with an
// error nothing is.
func TestCloseLeavesItsCommand(t *testing.T) {
	encode := func(decision) (int, []byte) { panic("nothing is answered") }
	if cmd := commit.Close(commerce.Job{}, commit.Command[decision](outcome{}), encode); cmd != (outcome{}) {
		t.Errorf("a job without a reply: %+v", cmd)
	}
	job, failed := commerce.Job{ReplyTo: commerce.ReplyKey{Key: "k"}}, errors.New("no")
	if _, changes, err := commit.Close(job, commit.Command[decision](outcome{commerce.Decided, failed}), encode).Decide(&commerce.Rows{}, 9); !errors.Is(err, failed) || changes.Replies != nil {
		t.Errorf("%+v, %v", changes, err)
	}
}
