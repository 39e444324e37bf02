package reads

import (
	"maps"
	"slices"
	"strconv"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Statement is a statement with what takes its rows.
type Statement struct {
	SQL  string
	Args []any
	Row  func(schema.Scanner)
}

// listedBy is the order in which an index has the jobs of a state, apart from those that wait.
var listedBy = map[commerce.JobState]string{commerce.JobParked: "owner, run_at, slot, id", commerce.JobHeld: "run_at, slot, id", commerce.JobDead: "run_at, slot, id"}

// Gauges returns the statements that fill g, and what completes it after them. An engine sends all
// of them at once, in one state of the database.
func (r Reader) Gauges(g *storage.Gauges, most int) (list []Statement, complete func()) {
	jobs, takeJobs := jobCounts()
	const columns = "SELECT kind, state, count(*), min(run_at), min(id) FROM (SELECT kind, state, run_at, id FROM "
	for _, slot := range slots {
		list = append(list, Statement{columns + r.WaitingJobs + " WHERE state = 'waiting' AND slot = " + r.number("$1") + " ORDER BY run_at, id LIMIT $2) AS few GROUP BY kind, state",
			[]any{slot, max(most/len(slots), 1)}, takeJobs})
	}
	refunds, takeRefunds := jobCounts()
	list = append(list, Statement{columns + "jobs WHERE state = 'waiting' AND kind = '" + string(commerce.JobRefund) + "' ORDER BY run_at, slot, id LIMIT $1) AS few GROUP BY kind, state", []any{most}, takeRefunds})
	for _, state := range slices.Sorted(maps.Keys(listedBy)) {
		list = append(list, Statement{columns + "jobs WHERE state = '" + string(state) + "' ORDER BY " + listedBy[state] + " LIMIT $1) AS few GROUP BY kind, state", []any{most}, takeJobs})
	}
	list = append(list, Statement{"SELECT partner_id, failing_since, held_until, held_since, paused_on FROM endpoints", nil, func(s schema.Scanner) {
		partnerID, id := commerce.SplitOwner(s.Text())
		g.Endpoints = append(g.Endpoints, commerce.Endpoint{PartnerID: partnerID, ID: id, FailingSince: commerce.Millis(s.Int()), HeldUntil: commerce.Millis(s.Int()),
			HeldSince: commerce.Millis(s.Int()), PausedOn: commerce.Millis(s.Int())})
	}})
	sql, args := r.openCounts(nil, most)
	for _, status := range commerce.OpenStatuses {
		list = append(list, Statement{sql, args(status), func(s schema.Scanner) { g.Open = withOpen(g.Open, status, s) }})
	}
	attention := map[commerce.AttentionCode]storage.AttentionCount{}
	sql, of := r.attentionCounts(nil, most)
	list = append(list, Statement{sql, of, func(s schema.Scanner) { countAttention(attention, s) }})
	return list, func() {
		maps.Copy(jobs, refunds)
		g.Jobs, g.Attention = slices.Collect(maps.Values(jobs)), slices.Collect(maps.Values(attention))
	}
}

type jobGroup struct{ kind, state string }

// jobCounts adds up the jobs of the slots.
func jobCounts() (counts map[jobGroup]storage.JobCount, take func(schema.Scanner)) {
	counts = map[jobGroup]storage.JobCount{}
	return counts, func(s schema.Scanner) {
		k := jobGroup{s.Text(), s.Text()}
		c := storage.JobCount{Kind: commerce.JobKind(k.kind), State: commerce.JobState(k.state), Count: s.Int(), First: commerce.Millis(s.Int()), Made: commerce.TimeOfJob(s.Text())}
		if others, met := counts[k]; met {
			c.Count += others.Count
			c.First, c.Made = min(c.First, others.First), min(c.Made, others.Made)
		}
		counts[k] = c
	}
}

// openCounts is the statement of OpenCounts, with its arguments for a status.
func (r Reader) openCounts(stores []string, most int) (sql string, of func(commerce.OrderStatus) []any) {
	condition, args := r.inStores(stores, []any{""})
	sql = "SELECT count(*), coalesce(min(created_on), 0) FROM (SELECT created_on FROM orders WHERE status = $1 AND " + openStatuses + condition +
		" ORDER BY created_on LIMIT $" + strconv.Itoa(len(args)+1) + ") AS few"
	return sql, func(status commerce.OrderStatus) []any {
		return append(append([]any{string(status)}, args[1:]...), most)
	}
}

func withOpen(counts []storage.OpenCount, status commerce.OrderStatus, s schema.Scanner) []storage.OpenCount {
	if c := (storage.OpenCount{Status: status, Count: s.Int(), Oldest: commerce.Millis(s.Int())}); c.Count > 0 {
		counts = append(counts, c)
	}
	return counts
}

// attentionCounts is the statement of AttentionCounts.
func (r Reader) attentionCounts(stores []string, most int) (sql string, args []any) {
	condition, args := r.inStores(stores, nil)
	return "SELECT code, since FROM attention WHERE resolved_on = 0 AND since >= 0" + condition + " LIMIT $" + strconv.Itoa(len(args)+1), append(args, most)
}

func countAttention(counts map[commerce.AttentionCode]storage.AttentionCount, s schema.Scanner) {
	code, since := commerce.AttentionCode(s.Text()), commerce.Millis(s.Int())
	c, met := counts[code]
	if c.Code, c.Count = code, c.Count+1; !met || since < c.Oldest {
		c.Oldest = since
	}
	counts[code] = c
}
