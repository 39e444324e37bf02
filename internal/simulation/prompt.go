package simulation

import (
	"strings"
	"time"

	"purveyor/internal/commerce"
)

// held is a job that a worker has, as far as what was saved and claimed tells.
type held struct {
	by    string // the worker
	since time.Time
}

// uneven is how far apart the clocks of processes may be while none is wrong.
const uneven = time.Second

// steady reports whether for the length of two leases no clock was wrong, and no process was
// stopped.
func (w *world) steady() bool {
	const d = 2 * commerce.JobLease
	return w.skewed == 0 && w.env.Since(w.jumped) > d && w.env.Since(w.halted) > d
}

// leases sees which jobs a batch gives to workers, and which it takes back.
func (w *world) leases(rows *commerce.Rows) {
	if w.parallel() { // where a claim may be seen before what was saved before it
		return
	}
	for _, j := range rows.Appended.NewJobs {
		w.leased(j)
	}
	for i := range rows.Jobs.Changed() {
		switch key, v, was := rows.Jobs.Change(i); {
		case v == nil:
			delete(w.jobs, key)
		case was == nil || !v.SameLease(*was):
			w.leased(*v)
		}
	}
}

// leased sees that a worker gets a job, or gives it back. A job belongs to its worker for the
// length of a lease: no other one begins it (ARCHITECTURE, What leaves the process).
func (w *world) leased(j commerce.Job) {
	key := j.Key()
	if j.LeasedBy == "" {
		delete(w.jobs, key)
		return
	}
	if had, is := w.jobs[key]; is && w.env.Since(had.since) < commerce.JobLease-uneven && w.steady() {
		w.broke("%s takes the job %s of %s, which %s has had for %v only", j.LeasedBy, j.Kind, j.Subject, had.by, w.env.Since(had.since))
	}
	w.jobs[key] = held{j.LeasedBy, w.env.Now()}
}

// mostWait is how long an event may wait for its first webhook while nothing fails: an endpoint
// gets one webhook at a time at first, and one more with each success, and each may take 300 ms.
const mostWait = 5 * time.Second

// announced remembers when an event was saved that is to be sent.
func (w *world) announced(list []commerce.WebhookEvent) {
	for _, e := range list {
		if w.Calm && !w.parallel() && len(e.To) > 0 {
			w.events[e.ID] = w.env.Now()
		}
	}
}

// comes checks that the first webhook about an event comes soon: its job begins at once.
func (p *partner) comes(id string) {
	saved, known := p.w.events[id]
	if !known {
		return
	}
	delete(p.w.events, id)
	if d := p.w.env.Since(saved); d > mostWait {
		p.w.broke("%s gets event %s %v after it was saved, and nothing has failed", p.id, id, d)
	}
}

// meantime reports whether an answer is one that BEHAVIOUR has for a provider that does not answer
// within 10 s.
func meantime(answer string) bool {
	return strings.Contains(answer, `"code":"in_progress"`) || strings.Contains(answer, `"created":false`) || strings.Contains(answer, `"amount_refunded_cents":0`)
}
