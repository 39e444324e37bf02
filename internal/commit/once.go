package commit

import (
	"bytes"

	"purveyor/internal/commerce"
)

// Reply is the answer that is stored under an idempotency key.
type Reply struct {
	Status   int
	Body     []byte
	Replayed bool // the key was used before, and this is its stored answer
	// Job is the job that will decide the answer of a replayed reply. Empty: the
	// answer is final. If the command took effect just now, Job is empty, and DoJobs
	// returns the jobs.
	Job commerce.JobKey
}

// Keyed is a command that a partner may send under an idempotency key.
type Keyed[R any] interface {
	Command[R]
	// Access refuses a caller without the right to this command. Once calls it before it
	// returns a stored answer, too, because the right may have been taken away.
	Access(rows *commerce.Rows) error
}

// Once makes a command take effect at most once for a key. A repeat with the same key
// and fingerprint (SHA-256 of the decoded request, encoded again) gets the stored
// answer; a repeat with another fingerprint is refused. Answers of refused commands are
// not stored. encode makes the answer, which is saved in the transaction of the effect.
//
// If the command enqueues an awaited job, encode makes the answer for the time until the
// job is done (status 0: there is none). The reply stays open until the command that
// records the job's outcome closes or releases it.
func Once[R any](key commerce.ReplyKey, fingerprint [32]byte, cmd Keyed[R], encode func(R) (status int, body []byte)) Command[Reply] {
	return once[R]{key, fingerprint, cmd, encode}
}

type once[R any] struct {
	key         commerce.ReplyKey
	fingerprint [32]byte
	cmd         Keyed[R]
	encode      func(R) (int, []byte)
}

func (o once[R]) hasReplyRecord() {}

// Inner is the command that takes effect once.
func (o once[R]) Inner() any { return o.cmd }

func (o once[R]) Needs() commerce.Needs {
	n := o.cmd.Needs()
	n.Replies = append(n.Replies, o.key)
	return n
}

func (o once[R]) Decide(rows *commerce.Rows, now commerce.Millis) (Reply, commerce.Changes, error) {
	if err := o.cmd.Access(rows); err != nil {
		return Reply{}, commerce.Changes{}, err
	}
	if stored, ok := rows.Replies.Get(o.key); ok {
		if !bytes.Equal(stored.Fingerprint[:], o.fingerprint[:]) {
			return Reply{}, commerce.Changes{}, commerce.Conflict("idempotency_key_reused",
				"Idempotency-Key was used before with a different request")
		}
		return Reply{Status: stored.Status, Body: stored.Body, Replayed: true, Job: stored.Job}, commerce.Changes{}, nil
	}
	result, changes, err := o.cmd.Decide(rows, now)
	if err != nil {
		return Reply{}, commerce.Changes{}, err
	}
	for i := range changes.NewJobs {
		if changes.NewJobs[i].Awaited {
			changes.NewJobs[i].ReplyTo = o.key
		}
	}
	status, body := o.encode(result)
	changes.Replies = append(changes.Replies, commerce.Reply{
		ReplyKey: o.key, Fingerprint: o.fingerprint, Status: status, Body: body, CreatedOn: now,
	})
	return Reply{Status: status, Body: body}, changes, nil
}

// Deciding is the result of a command that records the outcome of a job.
type Deciding interface {
	// Decides returns the decision on the stored reply of the call that enqueued the
	// job.
	Decides() commerce.Decision
}

// Close runs a command that records the outcome of a job. In the same transaction
// it closes or releases the open reply that waits for the job, as the result
// decides; encode makes the answer from the result. A job without ReplyTo has no
// reply. A reply that is missing was swept, and a reply that waits for another job belongs
// to a later call with the same key. In both cases nothing is changed.
func Close[R Deciding](job commerce.Job, cmd Command[R], encode func(R) (status int, body []byte)) Command[R] {
	if job.ReplyTo.Key == "" {
		return cmd
	}
	return closing[R]{job, cmd, encode}
}

type closing[R Deciding] struct {
	job    commerce.Job
	cmd    Command[R]
	encode func(R) (int, []byte)
}

// Inner is the command that records the outcome.
func (c closing[R]) Inner() any { return c.cmd }

func (c closing[R]) Needs() commerce.Needs {
	n := c.cmd.Needs()
	n.OpenReplies = append(n.OpenReplies, c.job.ReplyTo)
	return n
}

func (c closing[R]) Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error) {
	result, changes, err := c.cmd.Decide(rows, now)
	if err != nil {
		return result, changes, err
	}
	decision := result.Decides()
	reply, stored := rows.Replies.Get(c.job.ReplyTo)
	ours := reply.Job == c.job.Key()
	switch {
	case !stored, decision == commerce.Undecided, !ours && decision != commerce.Amended:
	case decision == commerce.Refused:
		changes.Released = append(changes.Released, reply.ReplyKey)
	default:
		reply.Status, reply.Body = c.encode(result)
		if ours {
			reply.Job = commerce.JobKey{}
		}
		changes.Replies = append(changes.Replies, reply)
	}
	return result, changes, nil
}
