package schema

import (
	"strings"

	"purveyor/internal/commerce"
)

// Jobs has the work to do outside of the process.
var Jobs = Table[commerce.JobKey, commerce.Job]{
	Name: "jobs", Key: "slot, id", Fixed: "kind, mode, owner, subject, partner_id, reply_partner, reply_op, reply_key",
	Mutable: "run_at, state, tries, probes, error, leased_by, leased_until",
	KeyOf:   func(v *commerce.Job) commerce.JobKey { return v.Key() },
	BindKey: func(b Binder, k commerce.JobKey) { b.Int(k.Slot).Text(k.ID) },
	BindFixed: func(b Binder, v *commerce.Job) {
		b.Text(string(v.Kind)).Text(string(v.Mode)).Text(v.Owner).Text(v.Subject).Text(v.PartnerID).
			Text(v.ReplyTo.PartnerID).Text(v.ReplyTo.Op).Text(v.ReplyTo.Key)
	},
	BindMutable: func(b Binder, v *commerce.Job) {
		b.Int(int64(v.RunAt)).Text(string(v.State)).Int(v.Tries).Int(v.Probes).Text(v.Error).Text(v.LeasedBy).Int(int64(v.LeasedUntil))
	},
	Scan: func(s Scanner, k commerce.JobKey) commerce.Job {
		return commerce.Job{Slot: k.Slot, ID: k.ID, Kind: commerce.JobKind(s.Text()), Mode: commerce.Mode(s.Text()), Owner: s.Text(), Subject: s.Text(), PartnerID: s.Text(),
			ReplyTo: commerce.ReplyKey{PartnerID: s.Text(), Op: s.Text(), Key: s.Text()},
			RunAt:   millis(s), State: commerce.JobState(s.Text()), Tries: s.Int(), Probes: s.Int(), Error: s.Text(),
			LeasedBy: s.Text(), LeasedUntil: millis(s)}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.JobKey, commerce.Job] { return &r.Jobs },
	Needs:   func(n *commerce.Needs) *[]commerce.JobKey { return &n.Jobs },
	Changes: func(c *commerce.Changes) *[]commerce.Job { return &c.Jobs },
	Ended:   func(n *commerce.Needs) *[]commerce.JobKey { return &n.EndedJobs },
	Deleted: func(c *commerce.Changes) *[]commerce.JobKey { return &c.DoneJobs },
	Lock:    LockAll,
	Traits: Traits{Shard: "slot", Expired: []Expired{
		{Keep: EventKeep, Column: "run_at", Where: "state = 'parked'", Partner: "owner", Order: "run_at, slot, id"},
		{Keep: EventKeep, Column: "run_at", Where: "state = 'dead' AND kind NOT IN (" + holdingKinds() + ")", Order: "run_at, slot, id"},
		{Keep: EventKeep, Column: "run_at", Where: "state = 'given_up'", Order: "run_at, slot, id"},
	}},
}

// holdingKinds are the kinds whose dead jobs stay, as SQL writes them.
func holdingKinds() string {
	var list []string
	for _, kind := range commerce.HoldingKinds {
		list = append(list, "'"+string(kind)+"'")
	}
	return strings.Join(list, ", ")
}

// NewJobs adds jobs under new ids, which no command asks for, to the table of jobs.
var NewJobs = Log[commerce.Job]{
	Name: Jobs.Name, ID: Jobs.Key, Rest: Jobs.Values(), Bind: Jobs.Bind,
	Changes: func(c *commerce.Changes) *[]commerce.Job { return &c.NewJobs },
	Traits:  Jobs.Traits,
}

// ScanJob reads all columns of Jobs.
func ScanJob(s Scanner) commerce.Job {
	return Jobs.Scan(s, commerce.JobKey{Slot: s.Int(), ID: s.Text()})
}
