package reads

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// JobCounts counts slot by slot.
func (r Reader) JobCounts(ctx context.Context) (counts []storage.JobCount, err error) {
	type key struct{ kind, state string }
	at := map[key]int{}
	sql := "SELECT kind, state, count(*), min(run_at), min(id) FROM jobs WHERE slot = " + r.number("$1") + " GROUP BY kind, state"
	err = each(ctx, r, slots, sql, func(slot int64) []any { return []any{slot} }, func(_ int64, s schema.Scanner) {
		k := key{s.Text(), s.Text()}
		c := storage.JobCount{Kind: commerce.JobKind(k.kind), State: commerce.JobState(k.state), Count: s.Int(), First: commerce.Millis(s.Int()), Made: commerce.TimeOfJob(s.Text())}
		i, known := at[k]
		if !known {
			at[k] = len(counts)
			counts = append(counts, c)
			return
		}
		counts[i].Count += c.Count
		counts[i].First, counts[i].Made = min(counts[i].First, c.First), min(counts[i].Made, c.Made)
	})
	return counts, err
}

// EachEndpoint reads the whole table, which has a row for each endpoint.
func (r Reader) EachEndpoint(ctx context.Context) ([]commerce.Endpoint, error) {
	return list(ctx, r, func(s schema.Scanner) commerce.Endpoint {
		partnerID, id := commerce.SplitOwner(s.Text())
		return commerce.Endpoint{PartnerID: partnerID, ID: id, FailingSince: commerce.Millis(s.Int()), HeldUntil: commerce.Millis(s.Int()),
			HeldSince: commerce.Millis(s.Int()), PausedOn: commerce.Millis(s.Int())}
	}, "SELECT partner_id, failing_since, held_until, held_since, paused_on FROM endpoints")
}
