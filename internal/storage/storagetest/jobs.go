package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

var jobs = map[string]func(*testing.T, Database){
	"a job is claimed when it is due and free":   claimWhatIsDue,
	"claims keep order and limit":                claimInOrder,
	"two processes never claim one job":          claimOnce,
	"jobs go on, are parked, released, and done": jobsGoOn,
	"lists of jobs go page by page":              jobPages,
	"the first jobs of an event are found":       firstWebhookJobs,
	"held endpoints are listed":                  heldEndpoints,
	"jobs are counted by kind and state":         countJobs,
}

// waiting is a job as the committer makes it.
func waiting(slot int64, id string, runAt commerce.Millis) commerce.Job {
	return commerce.Job{Slot: slot, ID: id, Kind: commerce.JobDeliverWebhook, Mode: commerce.Live, Owner: "sto 1", Subject: "evt",
		PartnerID: "ptn_1", RunAt: runAt, State: commerce.JobWaiting}
}

func addJobs(t testing.TB, e storage.Engine, list ...commerce.Job) {
	t.Helper()
	Change(t, e, commerce.Needs{}, func(*commerce.Rows, commerce.Millis) commerce.Changes { return commerce.Changes{NewJobs: list} })
}

// classes are those of waiting, and others.
var classes = []commerce.JobClass{{Kind: "x", Mode: commerce.Live}, {Kind: commerce.JobDeliverWebhook, Mode: commerce.Live}}

func claim(t testing.TB, e storage.Engine, c storage.JobClaim) []commerce.Job {
	t.Helper()
	if c.Classes == nil {
		c.Classes = classes
	}
	list, err := e.ClaimJobs(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// claimWhatIsDue has one job a slot, and asks for it.
func claimWhatIsDue(t *testing.T, db Database) {
	const now = commerce.Millis(1_800_000_000_000)
	lease, horizon := commerce.Millis(commerce.JobLease.Milliseconds()), commerce.Millis(commerce.JobHorizon.Milliseconds())
	longest := commerce.Millis(commerce.LongestLease.Milliseconds())
	e := db.Open(t, time.Now)
	of := func(state commerce.JobState, runAt commerce.Millis) commerce.Job {
		j := waiting(0, "", runAt)
		j.State = state
		return j
	}
	leased := func(until commerce.Millis) commerce.Job {
		return waiting(0, "", now-1).LeasedTo("other", until)
	}
	for slot, c := range []struct {
		name string
		job  commerce.Job
		due  bool
		next commerce.Millis // when it becomes due; 0: never
	}{
		{"due", waiting(0, "", now), true, now},
		{"not yet due", waiting(0, "", now+1), false, now + 1},
		{"as far ahead as a job can be", waiting(0, "", now+horizon), false, now + horizon},
		{"written while the clock was ahead", waiting(0, "", now+horizon+1), true, now},
		{"leased", leased(now + 1), false, now + 1},
		{"leased by a process whose clock is ahead", leased(now + lease + 1), false, now + lease + 1},
		{"as long as a lease can be", leased(now + longest), false, now + longest},
		{"lease over", leased(now), true, now},
		{"leased while the clock was ahead", leased(now + longest + 1), true, now},
		{"far ahead, leased", waiting(0, "", now+2*horizon).LeasedTo("other", now+5), false, now + 5},
		{"not due, lease over", waiting(0, "", now+7).LeasedTo("other", now-5), false, now + 7},
		{"parked", of(commerce.JobParked, now-1), false, 0},
		{"held", of(commerce.JobHeld, now-1), false, 0},
		{"dead", of(commerce.JobDead, now-1), false, 0},
	} {
		job := c.job
		job.Slot, job.ID = int64(slot), "job_"+c.name
		addJobs(t, e, job)
		due, next, err := e.Reader().NextDue(context.Background(), now)
		if err != nil || due != c.due || (!c.due && next != c.next) {
			t.Errorf("%s: due %v, next at %d, %v; want %v, %d", c.name, due, next, err, c.due, c.next)
		}
		claimAsItIs(t, e, job, c.due, now)
		Change(t, e, commerce.Needs{Jobs: []commerce.JobKey{job.Key()}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
			return commerce.Changes{DoneJobs: []commerce.JobKey{job.Key()}}
		})
	}
	due, next, err := e.Reader().NextDue(context.Background(), now)
	if due || next != 0 || err != nil {
		t.Errorf("no job is left, but one comes up: %v, at %d, %v", due, next, err)
	}
	addJobs(t, e, waiting(3, "job_due", now), waiting(4, "job_later", now+50), waiting(3, "job_next", now+40))
	if due, next, err := e.Reader().NextDue(context.Background(), now); !due || next != now+40 || err != nil {
		t.Errorf("one is due, and the next comes up in 40 ms: %v, at %d, %v", due, next, err)
	}
	// Clocks differ: a process that looks later or earlier than one before it gets an answer of its own.
	for _, look := range []struct {
		at, next commerce.Millis
		due      bool
	}{{now - 5, now, false}, {now - 10, now, false}, {now, now + 40, true}, {now + 40, now + 50, true}, {now - 5, now, false}, {now - horizon - 1, now - horizon - 1, true}} {
		if due, next, err := e.Reader().NextDue(context.Background(), look.at); due != look.due || !due && next != look.next || err != nil {
			t.Errorf("at %d: %v, at %d, %v; want %v, %d", look.at, due, next, err, look.due, look.next)
		}
	}
}

// claimAsItIs claims a job by calls that leave it out, and by one that finds it if it is due.
func claimAsItIs(t *testing.T, e storage.Engine, job commerce.Job, due bool, now commerce.Millis) {
	t.Helper()
	lease, horizon := commerce.Millis(commerce.JobLease.Milliseconds()), commerce.Millis(commerce.JobHorizon.Milliseconds())
	ask := storage.JobClaim{Slot: job.Slot, Worker: "me", Now: now, Until: now + lease, Limit: 5, Ahead: true}
	lane := job.Lane()
	for _, other := range []storage.JobClaim{{Slot: job.Slot + 1}, {Slot: job.Slot, Except: []commerce.JobLane{laneWith(lane, "x", lane.PartnerID, lane.Mode), lane}},
		{Slot: job.Slot, Classes: []commerce.JobClass{{Kind: job.Kind, Mode: commerce.Test}, {Kind: "x", Mode: commerce.Live}}},
		{Slot: job.Slot, Classes: []commerce.JobClass{}}} {
		other.Worker, other.Now, other.Until, other.Limit, other.Ahead = ask.Worker, ask.Now, ask.Until, ask.Limit, true
		if got := claim(t, e, other); len(got) != 0 {
			t.Errorf("%s: %+v gave %+v", job.ID, other, got)
		}
	}
	if near := (storage.JobClaim{Slot: job.Slot, Worker: "me", Now: now, Until: now + lease, Limit: 5}); job.RunAt > now+horizon && len(claim(t, e, near)) != 0 {
		t.Errorf("%s: claimed without a look ahead", job.ID)
	}
	ask.Except = []commerce.JobLane{laneWith(lane, "sto", lane.PartnerID, lane.Mode), laneWith(lane, lane.Owner, "ptn_2", lane.Mode),
		laneWith(lane, lane.Owner, "", lane.Mode), laneWith(lane, lane.Owner, lane.PartnerID, commerce.Test)}
	got := claim(t, e, ask)
	if want := job.LeasedTo("me", now+lease); due != (len(got) == 1) || (due && got[0] != want) {
		t.Errorf("%s: claimed %+v, want it: %v", job.ID, got, due)
	}
	if got := claim(t, e, ask); len(got) != 0 {
		t.Errorf("%s: claimed twice", job.ID)
	}
}

// laneWith is another lane of the same kind.
func laneWith(l commerce.JobLane, owner, partnerID string, mode commerce.Mode) commerce.JobLane {
	l.Owner, l.PartnerID, l.Mode = owner, partnerID, mode
	return l
}

func claimInOrder(t *testing.T, db Database) {
	const now = commerce.Millis(1_800_000_000_000)
	e := db.Open(t, time.Now)
	var list []commerce.Job
	for i := range 20 {
		list = append(list, waiting(31, fmt.Sprintf("job_%02d", i), now-commerce.Millis(i*7%10)))
	}
	ahead := waiting(31, "job_ahead", now.Add(10*commerce.JobHorizon))
	addJobs(t, e, append(list, ahead)...)
	slices.SortFunc(list, func(a, b commerce.Job) int { return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.ID, b.ID)) })
	list = append(list, ahead)
	for _, limit := range []int{8, 8, 8} {
		got := claim(t, e, storage.JobClaim{Slot: 31, Worker: "w", Now: now, Until: now + 1, Limit: limit, Ahead: true})
		want := list[:min(limit, len(list))]
		list = list[len(want):]
		if !slices.EqualFunc(got, want, func(a, b commerce.Job) bool { return a.ID == b.ID }) {
			t.Errorf("claimed %+v\nwant %+v", got, want)
		}
	}
	if len(list) > 0 {
		t.Errorf("left: %+v", list)
	}
}

// claimOnce has two processes claim against each other, round after round;
// each round the leases of the one before have ended.
func claimOnce(t *testing.T, db Database) {
	engines := []storage.Engine{db.Open(t, time.Now), db.Open(t, time.Now)}
	const n, rounds = 60, 3
	var list []commerce.Job
	for i := range int64(n) {
		list = append(list, waiting(i%2, fmt.Sprintf("job_%02d", i), commerce.Millis(i)))
	}
	addJobs(t, engines[0], list...)
	for round := range int64(rounds) {
		now := commerce.Millis(1000).Add(time.Duration(round) * commerce.JobLease)
		var mu sync.Mutex
		claimed, total := map[string]int{}, 0
		deadline := time.Now().Add(time.Minute)
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for left := true; left && time.Now().Before(deadline); {
					got, err := engines[w%2].ClaimJobs(context.Background(), storage.JobClaim{
						Slot: int64(w / 2), Worker: fmt.Sprint(w), Now: now, Until: now.Add(commerce.JobLease), Limit: 7, Classes: classes})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, j := range got {
						claimed[j.ID]++
					}
					total += len(got)
					left = total < n
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if total != n || len(claimed) != n {
			t.Fatalf("round %d: %d claims of %d jobs, there are %d", round, total, len(claimed), n)
		}
	}
}

func jobsGoOn(t *testing.T, db Database) {
	const now = 1_800_000_000_000
	e, other := db.Open(t, time.Now), db.Open(t, time.Now)
	var keys []commerce.JobKey
	var list []commerce.Job
	for i := range int64(12) {
		j := waiting(i*3%4*10, fmt.Sprintf("job_%02d", i), commerce.Millis(now-100+i))
		list, keys = append(list, j), append(keys, j.Key())
	}
	list[11].Owner = "sto_2"
	addJobs(t, e, list...)
	Change(t, e, commerce.Needs{Jobs: keys}, func(rows *commerce.Rows, _ commerce.Millis) (c commerce.Changes) {
		for _, k := range keys[2:] {
			j, _ := rows.Jobs.Get(k)
			j.State = commerce.JobParked
			c.Jobs = append(c.Jobs, j)
		}
		c.DoneJobs = keys[1:2]
		return c
	})
	claims := func(e storage.Engine) (ids []string) {
		for _, slot := range []int64{0, 10, 20, 30} {
			for _, j := range claim(t, e, storage.JobClaim{Slot: slot, Worker: "w", Now: now, Until: now + 1, Limit: 50}) {
				ids = append(ids, j.ID)
			}
		}
		slices.Sort(ids)
		return ids
	}
	if got := claims(other); !slices.Equal(got, []string{"job_00"}) {
		t.Errorf("claimed %v, want only the one that waits", got)
	}
	// The first three by their time are released, in all slots, and then the rest.
	for _, c := range []struct {
		limit int
		want  []string
	}{
		{3, []string{"job_02", "job_03", "job_04"}},
		{100, []string{"job_05", "job_06", "job_07", "job_08", "job_09", "job_10"}},
		{100, nil},
	} {
		n, err := e.ReleaseParked(context.Background(), "sto 1", c.limit)
		if got := claims(other); err != nil || n != len(c.want) || !slices.Equal(got, c.want) {
			t.Errorf("released %d, %v, and claimed %v, want %v", n, err, got, c.want)
		}
	}
	// What is done is gone for both, seen or not; doing it twice is no error.
	for _, needs := range []commerce.Needs{{EndedJobs: keys}, {EndedJobs: keys}, {Jobs: keys}} {
		Change(t, other, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes { return commerce.Changes{DoneJobs: keys} })
	}
	look(t, e, commerce.Needs{Jobs: keys}, func(rows *commerce.Rows) {
		for _, k := range keys {
			if j, ok := rows.Jobs.Get(k); ok {
				t.Errorf("left: %+v", j)
			}
		}
	})
}

func jobPages(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	states := []commerce.JobState{commerce.JobWaiting, commerce.JobParked, commerce.JobHeld, commerce.JobDead, commerce.JobGivenUp}
	var list []commerce.Job
	for i := range int64(60) {
		j := waiting(i*5%32, fmt.Sprintf("job_%02d", i), commerce.Millis(100)+commerce.Millis(i*7%11))
		j.State, j.Owner = states[i%5], []string{"ptn_1", "ptn_2"}[i/5%2]
		list = append(list, j)
	}
	addJobs(t, e, list...)
	slices.SortFunc(list, func(a, b commerce.Job) int {
		return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.ID, b.ID))
	})
	for _, f := range []storage.JobFilter{{State: commerce.JobWaiting, Owner: "ptn_1"}, {State: commerce.JobParked, Owner: "ptn_2"},
		{State: commerce.JobWaiting}, {State: commerce.JobHeld, Owner: "ptn_1"}, {State: commerce.JobHeld}, {State: commerce.JobDead, Owner: "ptn_1"}, {State: commerce.JobDead},
		{State: commerce.JobGivenUp, Owner: "ptn_2"}, {State: commerce.JobGivenUp}} {
		want := slices.DeleteFunc(slices.Clone(list), func(j commerce.Job) bool {
			return j.State != f.State || (f.Owner != "" && j.Owner != f.Owner)
		})
		f.Limit = 4
		var got []commerce.Job
		for more := true; more; {
			page, err := e.Reader().Jobs(context.Background(), f)
			if err != nil || len(page) > f.Limit {
				t.Fatal(len(page), err)
			}
			got = append(got, page...)
			if more = len(page) == f.Limit; more {
				f.After = storage.JobPosition{RunAt: page[3].RunAt, JobKey: page[3].Key()}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s of %q:\n got %+v\nwant %+v", f.State, f.Owner, got, want)
		}
	}
}

func firstWebhookJobs(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	event := commerce.NewID(commerce.PrefixEvent, 1000, commerce.Entropy{5})
	job := func(slot int64, at commerce.Millis, n byte, subject string) commerce.Job {
		j := waiting(slot, commerce.NewID(commerce.PrefixJob, at, commerce.Entropy{n}), 100)
		j.Subject = subject
		return j
	}
	parked := job(7, 1000, 0xff, event)
	parked.State = commerce.JobParked
	addJobs(t, e, job(3, 1000, 1, event), parked, job(3, 1000, 2, "evt_other"), job(3, 1001, 0, event), job(3, 999, 0xff, event))
	got, err := e.Reader().FirstWebhookJobs(context.Background(), event)
	if err != nil || len(got) != 2 || got[0] != job(3, 1000, 1, event) || got[1] != parked {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := e.Reader().FirstWebhookJobs(context.Background(), "no event"); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func heldEndpoints(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	list := []commerce.Endpoint{
		{PartnerID: "ptn_1", Failures: 6, HeldUntil: 30}, {PartnerID: "ptn_2", Failures: 4}, {PartnerID: "ptn_3", HeldUntil: 10},
		{PartnerID: "ptn_4", PausedOn: 5, PausedFor: commerce.PausedGone}, {PartnerID: "ptn_5", HeldUntil: 20, PausedOn: 5}}
	needs := commerce.Needs{}
	var partners []commerce.Partner
	for _, v := range list {
		needs.Endpoints, needs.Partners = append(needs.Endpoints, v.PartnerID), append(needs.Partners, v.PartnerID)
		partners = append(partners, commerce.Partner{ID: v.PartnerID})
	}
	Change(t, e, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Partners: partners, Endpoints: list}
	})
	got, err := e.Reader().HeldEndpoints(context.Background())
	if want := []commerce.Endpoint{list[2], list[0]}; err != nil || !slices.Equal(got, want) {
		t.Errorf("held: %+v, %v; want %+v", got, err, want)
	}
	gauges, err := e.Reader().Gauges(context.Background(), 100)
	all := gauges.Endpoints
	slices.SortFunc(all, func(a, b commerce.Endpoint) int { return strings.Compare(a.PartnerID, b.PartnerID) })
	for i := range list {
		list[i].Failures, list[i].PausedFor = 0, ""
	}
	if err != nil || !slices.Equal(all, list) {
		t.Errorf("each: %+v, %v; want %+v", all, err, list)
	}
}

func countJobs(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	job := func(slot int64, made commerce.Millis, runAt commerce.Millis, kind commerce.JobKind, state commerce.JobState) commerce.Job {
		j := waiting(slot, commerce.NewID(commerce.PrefixJob, made, commerce.Entropy{1}), runAt)
		j.Kind, j.State = kind, state
		return j
	}
	addJobs(t, e, job(1, 50, 100, commerce.JobRefund, commerce.JobWaiting), job(2, 40, 200, commerce.JobRefund, commerce.JobWaiting),
		job(2, 60, 90, commerce.JobRefund, commerce.JobDead), job(31, 70, 300, commerce.JobDispatch, commerce.JobParked), job(3, 80, 300, commerce.JobDispatch, commerce.JobHeld),
		job(2, 65, 80, commerce.JobRefund, commerce.JobGivenUp))
	gauges, err := e.Reader().Gauges(context.Background(), 100)
	got := gauges.Jobs
	slices.SortFunc(got, func(a, b storage.JobCount) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
	})
	want := []storage.JobCount{{Kind: commerce.JobDispatch, State: commerce.JobParked, Count: 1, First: 300, Made: 70}, {Kind: commerce.JobDispatch, State: commerce.JobHeld, Count: 1, First: 300, Made: 80},
		{Kind: commerce.JobRefund, State: commerce.JobDead, Count: 1, First: 90, Made: 60}, {Kind: commerce.JobRefund, State: commerce.JobWaiting, Count: 2, First: 100, Made: 40}}
	slices.SortFunc(want, func(a, b storage.JobCount) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	vitals, err := e.Vitals(context.Background())
	if err != nil || gauges.Schema != vitals.Schema {
		t.Errorf("the schema is %d and %d, %v", gauges.Schema, vitals.Schema, err)
	}
	// Of the two that wait in each slot, only the first is counted, but for refunds, which stand behind.
	addJobs(t, e, job(1, 90, 10, commerce.JobDispatch, commerce.JobWaiting), job(2, 91, 10, commerce.JobDispatch, commerce.JobWaiting), job(2, 92, 20, commerce.JobDispatch, commerce.JobWaiting),
		job(4, 90, 90, commerce.JobRefund, commerce.JobDead))
	few, err := e.Reader().Gauges(context.Background(), 1)
	counts := map[string]int64{}
	for _, c := range few.Jobs {
		counts[fmt.Sprint(c.Kind, " ", c.State, " ", c.First)] = c.Count
	}
	if want := map[string]int64{"dispatch waiting 10": 2, "refund_payment waiting 100": 1, "refund_payment dead 90": 1, "dispatch parked 300": 1, "dispatch held 300": 1}; err != nil || !maps.Equal(counts, want) {
		t.Errorf("one of each slot, and of each state: %v, %v; want %v", counts, err, want)
	}
}
