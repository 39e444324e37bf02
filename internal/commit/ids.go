package commit

import (
	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// idSource gives the ids of what commands append: in the order of commits,
// and within a batch in the order of decisions.
type idSource struct {
	env env.Env
	now commerce.Millis
	n   uint32

	encode func(commerce.WebhookEvent) []byte
}

func (s *idSource) next(prefix string) string {
	e := s.env.Entropy()
	e[0], e[1], e[2] = byte(s.n>>16), byte(s.n>>8), byte(s.n)
	s.n++
	return commerce.NewID(prefix, s.now, e)
}

// complete gives what is appended its ids, each event its data and, if it is to be
// pushed, its job, each job what is to be handed over with it, and the reply that awaits a
// job its key. A batch keeps to one slot of jobs, the next takes another.
func (s *idSource) complete(c *commerce.Changes) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		w.ID = s.next(commerce.PrefixEvent)
		if w.About != nil {
			w.Data, w.About = s.encode(*w), nil
		}
		if w.Deliver {
			c.NewJobs = append(c.NewJobs, commerce.Job{
				Kind: commerce.JobDeliverWebhook, Mode: w.Mode, Owner: w.PartnerID, Subject: w.ID, RunAt: w.Timestamp, Event: w,
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
		j.Slot, j.ID, j.State = int64(s.now)%commerce.JobSlots, s.next(commerce.PrefixJob), commerce.JobWaiting
		if j.Awaited {
			for k := range c.Replies {
				c.Replies[k].Job = j.Key()
			}
		}
		attachSubjects(j, c)
	}
}

// attachSubjects gives a job the order that it is about, as it is saved with it.
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
