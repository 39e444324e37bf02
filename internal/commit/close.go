package commit

import "purveyor/internal/commerce"

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
