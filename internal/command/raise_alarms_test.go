package command

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// TestRaiseAlarms: each state is told once, to each address once. Without recipients, while
// the partner is suspended, and beyond the limit of a day, it is told later.
func TestRaiseAlarms(t *testing.T) {
	gone := commerce.Endpoint{PartnerID: "p", URL: "u"}.Pause(commerce.PausedGone, now-1)
	other := gone
	other.ID = "whe_1"
	healthy := commerce.Endpoint{PartnerID: "p", ID: "whe_2", URL: "u"}
	key := commerce.APIKey{ID: "key_1", PartnerID: "p", Mode: commerce.Test, CreatedOn: 1, ExpiresOn: now.Add(time.Hour)}
	partner := commerce.Partner{ID: "p", AlarmAddresses: []string{"dev@p.example", "ann@s.example"}}
	cmd := RaiseAlarms{PartnerID: "p", Endpoints: []string{"p", "p/whe_1", "p/whe_2", "p/whe_3"}, Keys: []string{"key_1", "key_2"}, Owners: []string{"Ann@s.example", "bob@s.example"}}
	for _, c := range []struct {
		name    string
		partner func(*commerce.Partner)
		owners  []string
		counted int64
		want    int
		to      []string
	}{
		{"all", func(*commerce.Partner) {}, cmd.Owners, 0, 3, []string{"dev@p.example", "ann@s.example", "bob@s.example"}},
		{"owners alone", func(p *commerce.Partner) { p.AlarmAddresses = nil }, cmd.Owners, 0, 3, []string{"ann@s.example", "bob@s.example"}},
		{"no recipients", func(p *commerce.Partner) { p.AlarmAddresses = nil }, nil, 0, 0, nil},
		{"suspended", func(p *commerce.Partner) { p.Suspended = true }, cmd.Owners, 0, 0, nil},
		{"two are left", func(*commerce.Partner) {}, nil, 8, 2, []string{"dev@p.example", "ann@s.example"}},
		{"none is left", func(*commerce.Partner) {}, nil, 10, 0, nil},
	} {
		p, cmd := partner, cmd
		c.partner(&p)
		cmd.Owners = c.owners
		before := commerce.Changes{Partners: []commerce.Partner{p}, Endpoints: []commerce.Endpoint{gone, other, healthy}, APIKeys: []commerce.APIKey{key},
			Mails: []commerce.MailCount{{MailKey: commerce.AlarmsFor("p"), Day: int64(now) / 86_400_000, Count: c.counted}}}
		raised, changes, err := decided(cmd, before, now)
		var want []string
		for _, about := range []string{"paused p", "paused p/whe_1", "ends_in_2_days key_1"}[:c.want] {
			for _, to := range c.to {
				want = append(want, about+" "+to)
			}
		}
		if got := subjects(changes); err != nil || raised != c.want || !slices.Equal(got, want) {
			t.Errorf("%s: raised %d: %q, %v; want %q", c.name, raised, got, err, want)
		}
		if c.want == 0 {
			continue
		}
		if n := changes.Mails[0].Count; n != c.counted+int64(c.want) {
			t.Errorf("%s: %d are counted", c.name, n)
		}
		after := commerce.Changes{Partners: before.Partners, Mails: changes.Mails, Endpoints: append(changes.Endpoints, healthy), APIKeys: changes.APIKeys}
		if again, _, err := decided(cmd, after, now+1); err != nil || again != 0 {
			t.Errorf("%s: told again: %d, %v", c.name, again, err)
		}
	}
}

// subjects are those of the jobs for e-mails of alarms.
func subjects(c commerce.Changes) (list []string) {
	for _, j := range c.NewJobs {
		if j.Kind != commerce.JobMailAlarm || j.Owner != "p" || j.RunAt != now {
			list = append(list, fmt.Sprintf("%+v", j))
			continue
		}
		list = append(list, j.Subject)
	}
	return list
}

// TestMessageAboutNoOrder: what cannot be sent is kept once. A failure is tried again.
func TestMessageAboutNoOrder(t *testing.T) {
	job := leased(commerce.JobMailAlarm, "paused p a@e.example")
	cmd := RecordMessage{RecordJob: RecordJob{Job: job}, Kept: &commerce.UnsentMessage{To: "a@e.example"}}
	_, changes, err := decided(cmd, commerce.Changes{Jobs: []commerce.Job{job}}, now)
	if err != nil || len(changes.DoneJobs) != 1 || len(changes.Outbox) != 1 || changes.Outbox[0].CreatedOn != now {
		t.Errorf("%+v, %v", changes, err)
	}
	if _, changes, err = decided(cmd, commerce.Changes{}, now); err != nil || len(changes.Outbox) != 0 {
		t.Errorf("another worker was faster: %+v, %v", changes, err)
	}
	cmd = RecordMessage{RecordJob: RecordJob{Job: job, Failed: fmt.Errorf("away"), Delays: commerce.MessageDelays}}
	if next, changes, err := decided(cmd, commerce.Changes{Jobs: []commerce.Job{job}}, now); err != nil || next.State != commerce.JobWaiting || len(changes.Outbox) != 0 {
		t.Errorf("%+v, %v", next, err)
	}
}
