package command

import "purveyor/internal/commerce"

// RecordJob ends a job, or the try that failed.
type RecordJob struct {
	Job    commerce.Job // as it was run
	Failed error        // nil: it is done
	Delays []int64      // between tries, in ms
	Jitter float64      // in [0, 1), drawn by the caller
	// GivenUpBy is the operator who gives up a dead job, for the reason in Failed.
	// The outcome is that of a last try that failed. Empty: there was a try.
	GivenUpBy string
}

// Needs names the job.
func (c RecordJob) Needs() commerce.Needs {
	return commerce.Needs{Jobs: []commerce.JobKey{c.Job.Key()}}
}

// Decide returns the job as it goes on. When its lease had ended meanwhile, it
// may be gone or leased again: a failure then changes nothing.
func (c RecordJob) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	job, there := rows.Jobs.Get(c.Job.Key())
	switch {
	case c.GivenUpBy != "" && (!there || job.State != commerce.JobDead):
		return c.Job, commerce.Changes{}, commerce.Conflict("job_not_dead", "the job is not dead; only a dead job can be given up")
	case c.GivenUpBy != "":
		job = job.GivenUp(c.GivenUpBy, c.Failed.Error(), now)
		return job, commerce.Changes{Jobs: []commerce.Job{job}}, nil
	case c.Failed == nil:
		return c.Job, commerce.Changes{DoneJobs: []commerce.JobKey{c.Job.Key()}}, nil
	case !there || !job.SameLease(c.Job):
		return c.Job, commerce.Changes{}, nil
	}
	job = job.Failed(c.Failed, c.Delays, now, c.Jitter).LeasedTo("", 0)
	return job, commerce.Changes{Jobs: []commerce.Job{job}}, nil
}

// isGone reports whether the job of a try is done: another worker was faster. What
// an operator gives up is refused when it is gone.
func (c RecordJob) isGone(rows *commerce.Rows) bool {
	_, there := rows.Jobs.Get(c.Job.Key())
	return !there && c.GivenUpBy == ""
}

// openReply is the reply that waits for this job; false if it was swept, and
// nobody asks any more.
func (c RecordJob) openReply(rows *commerce.Rows, key commerce.ReplyKey) (commerce.Reply, bool) {
	reply, ok := rows.Replies.Get(key)
	return reply, ok && reply.Job == c.Job.Key()
}

// RecordNotice ends the job of an e-mail or SMS about an order, or the try
// that failed.
type RecordNotice struct {
	RecordJob
	Facts   OrderFacts
	What    string                  // the notice, for a note to people: "E-mail to the customer"
	Kept    *commerce.OutboxMessage // it did not leave the house, on purpose
	NotSent string                  // why there was nobody to send it to; empty: there was
}

// limited reports whether a mail to a customer was kept for being one too many.
func (c RecordNotice) limited() bool {
	return c.Kept != nil && (c.Kept.Reason == commerce.OutboxTooManyOfOrder || c.Kept.Reason == commerce.OutboxTooManyOfPartner)
}

// Needs names the job, and the order if there may be something to note.
func (c RecordNotice) Needs() commerce.Needs {
	n := commerce.Needs{}
	if c.NotSent != "" || c.Failed != nil || c.limited() {
		n = c.Facts.needs()
	}
	if c.limited() {
		c.Facts.mayRaise(&n, commerce.AttentionMailNotSent)
	}
	n.Jobs = c.RecordJob.Needs().Jobs
	return n
}

// Decide notes on the order's timeline what will not be sent.
func (c RecordNotice) Decide(rows *commerce.Rows, now int64) (commerce.Job, commerce.Changes, error) {
	if c.isGone(rows) {
		return c.Job, commerce.Changes{}, nil // another worker was faster
	}
	job, changes, err := c.RecordJob.Decide(rows, now)
	if c.Kept != nil {
		message := *c.Kept
		message.CreatedOn = now
		changes.Outbox = []commerce.OutboxMessage{message}
	}
	switch {
	case c.limited():
		c.tell(rows, now, func(s *story) {
			s.flag(commerce.AttentionMailNotSent, c.What+" was not sent: "+string(c.Kept.Reason)+". It is in the outbox")
		}, &changes)
	case c.NotSent != "":
		c.note(rows, now, "notice_not_sent", c.What+" was not sent: "+c.NotSent, &changes)
	case len(changes.Jobs) > 0 && job.Over():
		c.note(rows, now, "notice_failed", c.What+" could not be sent: "+job.Error, &changes)
	}
	return job, changes, err
}

func (c RecordNotice) note(rows *commerce.Rows, now int64, code, message string, changes *commerce.Changes) {
	c.tell(rows, now, func(s *story) { s.note(code, message) }, changes)
}

func (c RecordNotice) tell(rows *commerce.Rows, now int64, tell func(*story), changes *commerce.Changes) {
	order, err := c.Facts.load(rows)
	if err != nil {
		return // no order, no timeline
	}
	s := begin(order, rows, now, "")
	tell(s)
	_, told := s.end()
	changes.Orders, changes.Timeline, changes.Attention = told.Orders, told.Timeline, told.Attention
}
