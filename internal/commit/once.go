package commit

import (
	"bytes"

	"purveyor/internal/commerce"
)

// Reply is an answer that is stored with its effect, or was.
type Reply struct {
	Status   int
	Body     []byte
	Replayed bool
	// Job decides the answer, and has not yet: a key without an id says that the
	// reply is closed. It is empty when the command took place just now; then
	// DoJobs tells.
	Job commerce.JobKey
}

// Keyed is a command that a partner may send under an idempotency key.
type Keyed[R any] interface {
	Command[R]
	// Access refuses a caller that may not do this, or may not do it any more. Once calls
	// it before it returns a stored answer, and before Decide.
	Access(rows *commerce.Rows) error
}

// Once makes a command take place at most once for a key. The same key with
// the same fingerprint (SHA-256 of the decoded request, encoded again) gets
// the stored answer; with another one it is refused. Only answers of accepted
// commands are stored, in the transaction of the effect; encode makes them.
//
// When the command asks for a job that is awaited, what encode makes is the
// answer for the meantime, with status 0 if there is none, and the reply stays
// open until the command that records the job's outcome closes or releases it.
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
