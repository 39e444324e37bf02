package memory

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// sweepMost is how many rows a call of a sweep deletes.
const sweepMost = 1000

// Sweep implements storage.Engine. Ids begin with their time.
func (e *Engine) Sweep(ctx context.Context, now commerce.Millis) (n int, err error) {
	replies, events := now.Add(-schema.ReplyKeep), now.Add(-schema.EventKeep)
	first := func(prefix string) string { return commerce.NewID(prefix, max(0, events), commerce.Entropy{}) }
	err = e.write(ctx, func() {
		for s, n := range e.stored {
			if commerce.Millis(s.hour) <= replies-schema.HourMs {
				delete(e.stored, s)
				e.kept[s.partnerID] -= n
			}
		}
		endpointOf := func(owner string) bool {
			partnerID, id := commerce.SplitOwner(owner)
			p, there := get(e.tables, &schema.Partners, partnerID)
			_, known := p.RouteOf(id)
			return there && (id == "" || known)
		}
		of := func(id string) bool { return find(e.tables[schema.Partners.Name], id) != nil }
		event, ended := first(commerce.PrefixEvent), func(j *commerce.Job) bool {
			return j.RunAt < events && (j.State == commerce.JobParked && endpointOf(j.Owner) || j.State == commerce.JobDead && !j.Kind.Holds() || j.State == commerce.JobGivenUp)
		}
		n += sweep(e.tables, &schema.Replies, sweepMost-n, func(r *commerce.Reply) commerce.Millis { return r.CreatedOn }, replies, func(*commerce.Reply) bool { return true })
		n += sweep(e.tables, &schema.Attempts, sweepMost-n, func(a *commerce.WebhookAttempt) string { return a.EventID }, event, func(a *commerce.WebhookAttempt) bool { return of(a.PartnerID) })
		n += sweep(e.tables, &schema.Jobs, sweepMost-n, func(*commerce.Job) int { return 0 }, 1, ended) // a job may change, so that all are looked at
		n += sweep(e.tables, &schema.WebhookEvents, sweepMost-n, func(v *commerce.WebhookEvent) string { return v.ID }, event, func(v *commerce.WebhookEvent) bool { return of(v.PartnerID) })
		n += sweep(e.tables, &schema.StrayCallbacks, sweepMost-n, func(v *commerce.StrayCallback) string { return v.ID }, first(commerce.PrefixStrayCallback), func(*commerce.StrayCallback) bool { return true })
		n += sweep(e.tables, &schema.Outbox, sweepMost-n, func(m *commerce.UnsentMessage) string { return m.ID }, first(commerce.PrefixOutbox), func(*commerce.UnsentMessage) bool { return true })
	})
	return n, err
}

// sweep deletes rows whose age lies below a limit and which are wanted, those first that were
// added first. While no row is that old, it looks at those alone that are new since the sweep
// before.
func sweep[V any, A cmp.Ordered](t tables, of schema.Described, most int, age func(*V) A, limit A, wanted func(*V) bool) int {
	rows := t[of.Shape().Name]
	eldest, known := rows.eldest.(A)
	for _, r := range rows.young {
		eldest = min(eldest, age(r.value.(*V)))
	}
	if rows.young = rows.young[:0]; known && eldest >= limit {
		rows.eldest = eldest
		return 0
	}
	var gone []*row
	known = false
	for _, r := range rows.rows {
		at := age(r.value.(*V))
		if !known || at < eldest {
			eldest, known = at, true
		}
		if at < limit && wanted(r.value.(*V)) {
			gone = append(gone, r)
		}
	}
	if rows.eldest = nil; known {
		rows.eldest = eldest
	}
	slices.SortFunc(gone, func(a, b *row) int { return cmp.Compare(a.seq, b.seq) })
	gone = gone[:min(len(gone), most)]
	for _, r := range gone {
		rows.drop(r)
	}
	return len(gone)
}
