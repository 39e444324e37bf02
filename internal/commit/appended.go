package commit

import (
	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// idSource makes the ids of appended rows. They ascend in the order of commits,
// and within a batch in the order of decisions.
type idSource struct {
	env env.Env
	now commerce.Millis
	// slot is that of the batch's jobs.
	slot int64
	n    uint32

	encode func(commerce.WebhookEvent) []byte
}

func (s *idSource) next(prefix string) string {
	e := s.env.Entropy()
	e[0], e[1], e[2] = byte(s.n>>16), byte(s.n>>8), byte(s.n)
	s.n++
	return commerce.NewID(prefix, s.now, e)
}

// complete fills in the appended rows of a command. Every row gets its id. A webhook
// event gets its data and a job for each endpoint that it goes to. A job gets
// its slot and its subjects, and an open reply gets the key of the job that decides it.
// All jobs of a batch share a slot, and the next batch has another.
func (s *idSource) complete(c *commerce.Changes) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		w.ID = s.next(commerce.PrefixEvent)
		if w.About != nil {
			w.Data, w.About = s.encode(*w), nil
		}
		for _, owner := range w.To {
			c.NewJobs = append(c.NewJobs, commerce.Job{
				Kind: commerce.JobDeliverWebhook, Mode: w.Mode, Owner: owner, Subject: w.ID, RunAt: w.Timestamp, Event: w,
			})
		}
	}
	for i := range c.Attempts {
		c.Attempts[i].ID = s.next(commerce.PrefixAttempt)
	}
	for i := range c.Outbox {
		c.Outbox[i].ID = s.next(commerce.PrefixOutbox)
	}
	for i := range c.StrayCallbacks {
		c.StrayCallbacks[i].ID = s.next(commerce.PrefixStrayCallback)
	}
	for i := range c.Audit {
		c.Audit[i].ID = s.next(commerce.PrefixAudit)
	}
	for i := range c.NewJobs {
		j := &c.NewJobs[i]
		if j.Mode == "" {
			j.Mode = commerce.Live
		}
		j.Slot, j.ID, j.State = s.slot, s.next(commerce.PrefixJob), commerce.JobWaiting
		if j.Awaited {
			for k := range c.Replies {
				c.Replies[k].Job = j.Key()
			}
		}
		attachSubjects(j, c)
	}
}

// attachSubjects gives a job the order and the payment that are saved with it, so that a
// job that starts at once need not read them.
func attachSubjects(j *commerce.Job, c *commerce.Changes) {
	key := commerce.OrderKey{StoreID: j.Owner, OrderID: j.Subject}
	for k := range c.Orders {
		if c.Orders[k].Key() == key {
			j.Order = &c.Orders[k]
		}
	}
	for k := range c.Payments {
		if c.Payments[k].Key() == key {
			j.Payment = &c.Payments[k]
		}
	}
}

// Starter runs jobs in this process as soon as they are saved. A job that Reserve
// accepts is saved with this process's lease. All other jobs wait until a worker claims
// them.
type Starter interface {
	// Reserve takes room for a new job and returns the job with this process's lease.
	// It refuses a job of an unknown kind, a job that is not due yet, and any job when
	// there is no room. It must not wait.
	Reserve(job commerce.Job) (leased commerce.Job, ok bool)
	// EndReservation hands over jobs that were saved, in the order of their ids. If their
	// batch failed, it gives back their room instead. If the batch was saved after all,
	// workers claim the jobs when their leases end.
	EndReservation(jobs []commerce.Job, saved bool)
}

// reserve leases new jobs to this process as far as the starter has room, and
// returns the leased ones.
func (l *loop) reserve(jobs []commerce.Job) (reserved []commerce.Job) {
	if l.starter == nil {
		return nil
	}
	for i, j := range jobs {
		if leased, ok := l.starter.Reserve(j); ok {
			jobs[i] = leased
			reserved = append(reserved, leased)
		}
	}
	return reserved
}
