package command

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

const second, minute = 1000, 60_000 // ms

// outbound is what is stored in most of these tests.
func outbound(e commerce.Endpoint, jobs ...commerce.Job) commerce.Changes {
	e.PartnerID = "p"
	return commerce.Changes{
		Partners:  []commerce.Partner{{ID: "p", Name: "P", RateLimit: 1, CallbackURL: "https://p.example", CallbackSecret: "s1"}},
		Endpoints: []commerce.Endpoint{e}, Jobs: jobs,
	}
}

var (
	failing = commerce.Endpoint{PartnerID: "p", Failures: 6, FailingSince: now - minute, HeldUntil: now}
	gone    = commerce.Endpoint{PartnerID: "p", PausedOn: now - minute, PausedFor: commerce.PausedGone}
	healthy = commerce.Endpoint{PartnerID: "p"}
	// delivered has succeeded in this minute.
	delivered = commerce.Endpoint{PartnerID: "p", DeliveredOn: now}
)

// job is one of the worker "me".
func job(state commerce.JobState) commerce.Job {
	return commerce.Job{Slot: 3, ID: "job_1", Kind: commerce.JobDeliverWebhook, Owner: "p", Subject: "evt_1", RunAt: now - 1, State: state}.
		LeasedTo("me", now+10)
}

func with(j commerce.Job, change func(*commerce.Job)) commerce.Job {
	change(&j)
	return j
}

func TestRecordWebhookAttempts(t *testing.T) {
	waiting, parked := job(commerce.JobWaiting), job(commerce.JobParked)
	release := []commerce.Job{{Kind: commerce.JobReleaseParked, Owner: "p", Subject: "p", RunAt: now}}
	failed := func(state commerce.JobState, wait, tries, probes int64) []commerce.Job {
		return []commerce.Job{with(waiting.LeasedTo("", 0), func(j *commerce.Job) {
			j.State, j.RunAt, j.Tries, j.Probes, j.Error = state, now+commerce.Millis(wait), tries, probes, "no"
		})}
	}
	done := []commerce.JobKey{waiting.Key()}
	for _, c := range []struct {
		name   string
		before commerce.Endpoint
		stored []commerce.Job
		run    commerce.Job
		status int64
		retry  int64
		want   commerce.Changes
	}{
		{name: "delivered", before: delivered, stored: []commerce.Job{waiting}, run: waiting, status: 200,
			want: commerce.Changes{DoneJobs: done}},
		{name: "delivered after failures", before: commerce.Endpoint{Failures: 2, FailingSince: 5}, stored: []commerce.Job{waiting}, run: waiting, status: 200,
			want: commerce.Changes{DoneJobs: done, Endpoints: []commerce.Endpoint{delivered}}},
		{name: "the first delivery of a minute", before: healthy, stored: []commerce.Job{waiting}, run: waiting, status: 200,
			want: commerce.Changes{DoneJobs: done, Endpoints: []commerce.Endpoint{delivered}}},
		{name: "a probe delivered", before: failing, stored: []commerce.Job{parked}, run: parked, status: 204,
			want: commerce.Changes{DoneJobs: done, Endpoints: []commerce.Endpoint{delivered}, NewJobs: release}},
		{name: "failed", before: healthy, stored: []commerce.Job{waiting}, run: waiting, status: 500,
			want: commerce.Changes{Jobs: failed(commerce.JobWaiting, 5*second, 1, 0),
				Endpoints: []commerce.Endpoint{{PartnerID: "p", Failures: 1, FailingSince: now}}}},
		{name: "asks to wait", before: healthy, stored: []commerce.Job{waiting}, run: waiting, status: 503, retry: minute,
			want: commerce.Changes{Jobs: failed(commerce.JobParked, minute, 1, 0),
				Endpoints: []commerce.Endpoint{{PartnerID: "p", Failures: 1, FailingSince: now, HeldUntil: now + minute, HeldSince: now}}}},
		{name: "a probe failed", before: failing, stored: []commerce.Job{parked}, run: parked, status: 500,
			want: commerce.Changes{Jobs: failed(commerce.JobParked, 5*second, 1, 1),
				Endpoints: []commerce.Endpoint{{PartnerID: "p", Failures: 7, FailingSince: now - minute, HeldUntil: now + 20*second}}}},
		{name: "delivered, gone already", before: delivered, run: waiting, status: 200, want: commerce.Changes{DoneJobs: done}},
		{name: "failed, gone already", before: healthy, run: waiting, status: 500,
			want: commerce.Changes{Endpoints: []commerce.Endpoint{{PartnerID: "p", Failures: 1, FailingSince: now}}}},
		{name: "delivered, another has it", before: delivered, stored: []commerce.Job{waiting.LeasedTo("you", now+9)}, run: waiting, status: 200,
			want: commerce.Changes{DoneJobs: done}},
		{name: "failed, another has it", before: gone, stored: []commerce.Job{waiting.LeasedTo("you", now+9)}, run: waiting, status: 500},
		{name: "a probe failed, but another brought the endpoint back", before: healthy, stored: []commerce.Job{with(parked, func(j *commerce.Job) { j.State = commerce.JobWaiting })},
			run: parked, status: 500, want: commerce.Changes{Jobs: failed(commerce.JobWaiting, 5*second, 1, 0),
				Endpoints: []commerce.Endpoint{{PartnerID: "p", Failures: 1, FailingSince: now}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempt := commerce.WebhookAttempt{PartnerID: "p", EventID: "evt_1", Status: c.status}
			if !attempt.Delivered() {
				attempt.Error = "no"
			}
			cmd := RecordWebhookAttempts{[]WebhookTry{{Job: c.run, Attempt: attempt, RetryAfter: time.Duration(c.retry) * time.Millisecond}}}
			_, changes, err := decided(cmd, outbound(c.before, c.stored...), now)
			c.want.Attempts = []commerce.WebhookAttempt{attempt}
			if err != nil || !reflect.DeepEqual(changes, c.want) {
				t.Errorf("%v\n got %+v\nwant %+v", err, changes, c.want)
			}
		})
	}
}

// TestFirstFailure: a first failure of an endpoint of which nothing is stored names its partner.
func TestFirstFailure(t *testing.T) {
	cmd := RecordWebhookAttempts{[]WebhookTry{{Job: job(commerce.JobWaiting), Attempt: commerce.WebhookAttempt{PartnerID: "p", Status: 500}}}}
	_, changes, _ := decided(cmd, commerce.Changes{}, now)
	if len(changes.Endpoints) != 1 || changes.Endpoints[0].PartnerID != "p" {
		t.Errorf("%+v", changes.Endpoints)
	}
}

// TestRecordTogether: each try meets the endpoint as those before it left it.
func TestRecordTogether(t *testing.T) {
	try := func(id, partner string, status int64) WebhookTry {
		return WebhookTry{Job: with(job(commerce.JobWaiting), func(j *commerce.Job) { j.ID, j.Owner = id, partner }),
			Attempt: commerce.WebhookAttempt{PartnerID: partner, EventID: id, Status: status}}
	}
	cmd := RecordWebhookAttempts{[]WebhookTry{
		try("job_1", "p", 500), try("job_2", "q", 500), try("job_3", "p", 500), try("job_4", "q", 200), try("job_5", "p", 200), try("job_6", "p", 500),
	}}
	var stored []commerce.Job
	for _, t := range cmd.Tries {
		stored = append(stored, t.Job)
	}
	rows := fill(cmd.Needs(), outbound(healthy, stored...))
	_, changes, err := cmd.Decide(rows, now)
	if err != nil || len(changes.Attempts) != 6 || len(changes.Jobs) != 4 {
		t.Fatalf("%v, %+v", err, changes)
	}
	if want := []commerce.JobKey{stored[3].Key(), stored[4].Key()}; !reflect.DeepEqual(changes.DoneJobs, want) {
		t.Errorf("done: %v", changes.DoneJobs)
	}
	if want := []commerce.Endpoint{{PartnerID: "p", Failures: 1, FailingSince: now, DeliveredOn: now}, {PartnerID: "q", DeliveredOn: now}}; !reflect.DeepEqual(changes.Endpoints, want) {
		t.Errorf("endpoints: %+v", changes.Endpoints)
	}
	schema.Apply(rows, &changes)
	for i := range rows.Jobs.Changed() {
		if k, v, _ := rows.Jobs.Change(i); v == nil && k != changes.DoneJobs[0] && k != changes.DoneJobs[1] {
			t.Errorf("%v is to go", k)
		}
	}
}

func TestParkAndReturn(t *testing.T) {
	mine := job(commerce.JobWaiting)
	yours := with(mine, func(j *commerce.Job) { j.ID, j.LeasedBy = "job_2", "you" })
	missing := with(mine, func(j *commerce.Job) { j.ID = "job_3" })
	again := with(mine, func(j *commerce.Job) { j.ID = "job_4" })      // leased by me once more since
	later := with(again, func(j *commerce.Job) { j.LeasedUntil += 5 }) // as it is stored
	list := []commerce.Job{mine, with(yours, func(j *commerce.Job) { j.LeasedBy = "me" }), missing, again, mine}
	for _, c := range []struct {
		name   string
		before commerce.Endpoint
		state  commerce.JobState
		parked int
	}{
		{"held", failing, commerce.JobParked, 1}, {"paused", gone, commerce.JobParked, 1}, {"back again", healthy, commerce.JobWaiting, 0},
	} {
		cmd := ParkJobs{Owner: "p", Jobs: list}
		n, changes, err := decided(cmd, outbound(c.before, mine, yours, later), now)
		want := commerce.Changes{Jobs: []commerce.Job{with(mine.LeasedTo("", 0), func(j *commerce.Job) { j.State = c.state })}}
		if n != c.parked || err != nil || !reflect.DeepEqual(changes, want) {
			t.Errorf("%s: %d, %v, %+v", c.name, n, err, changes)
		}
	}
	cmd := ReturnJobs{Jobs: list}
	n, changes, err := decided(cmd, outbound(healthy, mine, yours, later), now)
	if want := (commerce.Changes{Jobs: []commerce.Job{mine.LeasedTo("", 0)}}); n != 1 || err != nil || !reflect.DeepEqual(changes, want) {
		t.Errorf("%d, %v, %+v", n, err, changes)
	}
}

func TestProbeEndpoint(t *testing.T) {
	free := job(commerce.JobParked).LeasedTo("", 0)
	key := free.Key()
	for _, c := range []struct {
		name   string
		before commerce.Endpoint
		stored []commerce.Job
		parked *commerce.JobKey
		probes bool
		heals  bool
	}{
		{"due", failing, []commerce.Job{free}, &key, true, false},
		{"not yet", commerce.Endpoint{Failures: 6, HeldUntil: now + 1}, []commerce.Job{free}, &key, false, false},
		{"paused", gone, []commerce.Job{free}, &key, false, false},
		{"healthy", healthy, []commerce.Job{free}, &key, false, false},
		{"another has it", failing, []commerce.Job{free.LeasedTo("you", now+1)}, &key, false, false},
		{"another had it", failing, []commerce.Job{free.LeasedTo("you", now)}, &key, true, false},
		{"released meanwhile", failing, []commerce.Job{job(commerce.JobWaiting)}, &key, false, false},
		{"gone", failing, nil, &key, false, false},
		{"nothing to probe with", failing, nil, nil, false, true},
		{"nothing to probe with, and not due", gone, nil, nil, false, false},
	} {
		cmd := ProbeEndpoint{Owner: "p", Parked: c.parked, Worker: "me", Until: now + 9}
		before := outbound(c.before, c.stored...)
		before.Partners[0].Suspended = true
		if got, changes, err := decided(cmd, before, now); err != nil || got != nil || !reflect.DeepEqual(changes, commerce.Changes{}) {
			t.Errorf("%s, of a suspended partner: %+v, %v, %+v", c.name, got, err, changes)
		}
		before.Partners[0].Suspended = false
		got, changes, err := decided(cmd, before, now)
		want := commerce.Changes{}
		if c.probes {
			want.Jobs = []commerce.Job{free.LeasedTo("me", now+9)}
		}
		if c.heals {
			want.Endpoints = []commerce.Endpoint{healthy}
			want.NewJobs = []commerce.Job{releaseParked("p", now)}
		}
		if err != nil || (got != nil) != c.probes || (c.probes && *got != want.Jobs[0]) || !reflect.DeepEqual(changes, want) {
			t.Errorf("%s: %+v, %v, %+v", c.name, got, err, changes)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	operators := commerce.Endpoint{PartnerID: "p", PausedOn: now - minute, PausedFor: commerce.PausedOperator}
	paused := commerce.Endpoint{PartnerID: "p", PausedOn: now, PausedFor: commerce.PausedOperator}
	resumed := commerce.Endpoint{PartnerID: "p", HeldUntil: now, HeldSince: now}
	for _, c := range []struct {
		before, paused, resumed, moved commerce.Endpoint
	}{
		{healthy, paused, healthy, healthy},
		{gone, paused, resumed, resumed},
		{operators, operators, resumed, operators},
		{failing, commerce.Endpoint{PartnerID: "p", Failures: 6, FailingSince: now - minute, PausedOn: now, PausedFor: commerce.PausedOperator}, resumed, resumed},
		{commerce.Endpoint{PartnerID: "p", Failures: 2, FailingSince: 1}, commerce.Endpoint{PartnerID: "p", Failures: 2, FailingSince: 1, PausedOn: now, PausedFor: commerce.PausedOperator},
			commerce.Endpoint{PartnerID: "p", Failures: 2, FailingSince: 1}, healthy},
	} {
		stored := outbound(c.before)
		check := func(what string, changes commerce.Changes, want commerce.Endpoint, err error) {
			t.Helper()
			after := append(changes.Endpoints, c.before)[0]
			if err != nil || after != want || (len(changes.Endpoints) > 0) != (want != c.before) {
				t.Errorf("%+v %s: %+v, %v", c.before, what, changes.Endpoints, err)
			}
		}
		pause, resume := PauseEndpoint{Owner: "p", By: commerce.PausedOperator}, ResumeEndpoint{Owner: "p"}
		_, changes, err := decided(pause, stored, now)
		check("paused", changes, c.paused, err)
		_, changes, err = decided(resume, stored, now)
		check("resumed", changes, c.resumed, err)
		url, same := "https://new.example", stored.Partners[0].CallbackURL
		move, stay := UpdatePartner{ID: "p", CallbackURL: &url}, UpdatePartner{ID: "p", CallbackURL: &same}
		_, changes, err = decided(move, stored, now)
		check("moved", changes, c.moved, err)
		_, changes, err = decided(stay, stored, now)
		check("moved to where it was", changes, c.before, err)
	}
}

func TestRotateSecret(t *testing.T) {
	cmd := RotateSecret{Overlap: commerce.SecretOverlap, Owner: "p", Secret: "s2"}
	e, changes, err := decided(cmd, outbound(healthy), now)
	if err != nil || e.Previous(now) != "s1" || changes.Endpoints[0] != e || changes.Partners[0].CallbackSecret != "s2" || changes.Partners[0].UpdatedOn != now {
		t.Errorf("%+v, %+v, %v", e, changes, err)
	}
	rotating := outbound(e)
	now2 := RotateSecret{Owner: "p", Secret: "s3"}
	if e, changes, err := decided(now2, rotating, now); err != nil || e.PreviousSecret != "" || e.PreviousUntil != 0 ||
		changes.Endpoints[0] != e || changes.Partners[0].CallbackSecret != "s3" {
		t.Errorf("at once: %+v, %+v, %v", e, changes, err)
	}
	// A secret that is set outright ends the rotation, even with another URL.
	secret, url := "s4", "https://new.example"
	for _, set := range []UpdatePartner{{ID: "p", CallbackSecret: &secret}, {ID: "p", CallbackSecret: &secret, CallbackURL: &url}} {
		p, changes, err := decided(set, rotating, now)
		if err != nil || p.CallbackSecret != "s4" || len(changes.Endpoints) != 1 || changes.Endpoints[0].PreviousSecret != "" || changes.Endpoints[0].Previous(now) != "" {
			t.Errorf("%+v, %+v, %v", p, changes, err)
		}
	}
	name := "another"
	if _, changes, err := (UpdatePartner{ID: "p", Name: &name}).Decide(fill(UpdatePartner{ID: "p", Name: &name}.Needs(), rotating), now); err != nil || len(changes.Endpoints) > 0 {
		t.Errorf("another name: %+v, %v", changes.Endpoints, err)
	}
	cmd.Secret = ""
	if _, changes, err := decided(cmd, outbound(healthy), now); err == nil || len(changes.Partners) > 0 {
		t.Errorf("an empty secret: %+v, %v", changes, err)
	}
}

func TestResendAndTest(t *testing.T) {
	resend, try := ResendEvents{PartnerID: "p", Events: []commerce.WebhookEvent{{ID: "evt_1", Mode: commerce.Live}, {ID: "evt_2", Mode: commerce.Test}, {ID: "evt_1", Mode: commerce.Live}}}, TestEndpoint{Owner: "p", TraceID: "trace"}
	n, changes, err := decided(resend, outbound(healthy), now)
	if err != nil || n != 2 || len(changes.NewJobs) != 2 || changes.NewJobs[1] != (commerce.Job{Kind: commerce.JobDeliverWebhook, Mode: commerce.Test, Owner: "p", Subject: "evt_2", RunAt: now}) {
		t.Errorf("%d, %+v, %v", n, changes, err)
	}
	event, changes, err := decided(try, outbound(healthy), now)
	if err != nil || event.PartnerID != "p" || event.About == nil || len(changes.Webhooks) != 1 || !slices.Equal(event.To, []string{"p"}) || event.Kind != commerce.WebhookTest || event.TraceID != "trace" || event.Timestamp != now {
		t.Errorf("%+v, %v", event, err)
	}
	deaf := outbound(healthy)
	deaf.Partners[0].CallbackURL = ""
	for _, stored := range []commerce.Changes{deaf, {}} {
		_, resent, resendErr := decided(resend, stored, now)
		_, tested, testErr := decided(try, stored, now)
		if resendErr == nil || testErr == nil || len(resent.NewJobs)+len(tested.Webhooks) > 0 {
			t.Errorf("%+v: %v, %v", stored, resendErr, testErr)
		}
	}
}

func TestRecordNotice(t *testing.T) {
	run := job(commerce.JobWaiting)
	run.Kind = commerce.JobMailReady
	last := with(run, func(j *commerce.Job) { j.Tries = int64(len(commerce.MessageDelays)) })
	order := orderIn(commerce.ReadyForPickup, commerce.ByPickup, true)
	for _, c := range []struct {
		name    string
		stored  []commerce.Job
		failed  error
		kept    bool
		notSent string
		done    bool
		state   commerce.JobState // of the job as saved; empty: it is not
		note    string
		outbox  int
	}{
		{name: "sent", stored: []commerce.Job{run}, done: true},
		{name: "kept", stored: []commerce.Job{run}, kept: true, done: true, outbox: 1},
		{name: "no address to send to", stored: []commerce.Job{run}, notSent: "no address", done: true, note: "The mail was not sent: no address"},
		{name: "to be tried again", stored: []commerce.Job{run}, failed: errors.New("busy"), state: commerce.JobWaiting},
		{name: "failed for good", stored: []commerce.Job{run}, failed: &commerce.PermanentError{Err: errors.New("no such mailbox")}, state: commerce.JobDead,
			note: "The mail could not be sent: no such mailbox"},
		{name: "failed too often", stored: []commerce.Job{last}, failed: errors.New("busy"), state: commerce.JobDead, note: "The mail could not be sent: busy"},
		{name: "sent twice", kept: true},
		{name: "no address, noted already", notSent: "no address"},
		{name: "failed, another has it", stored: []commerce.Job{last.LeasedTo("you", now+9)}, failed: errors.New("busy")},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := RecordMessage{RecordJob: RecordJob{Job: run, Failed: c.failed, Delays: commerce.MessageDelays}, Facts: FactsOf(order), What: "The mail", NotSent: c.notSent}
			if c.kept {
				cmd.Kept = &commerce.UnsentMessage{To: "a@example.com"}
			}
			rows := stored(order, 1)
			rows.Jobs = c.stored
			_, changes, err := decided(cmd, rows, now)
			if err != nil || (len(changes.DoneJobs) == 1) != c.done || (len(changes.Jobs) == 1) != (c.state != "") || len(changes.Outbox) != c.outbox {
				t.Fatalf("%+v, %v", changes, err)
			}
			if c.state != "" && (changes.Jobs[0].State != c.state || changes.Jobs[0].LeasedBy != "" || changes.Jobs[0].LeasedUntil != 0) {
				t.Errorf("%+v", changes.Jobs[0])
			}
			if c.outbox == 1 && (changes.Outbox[0].CreatedOn != now || changes.Outbox[0].To != "a@example.com") {
				t.Errorf("%+v", changes.Outbox)
			}
			note := ""
			if len(changes.Timeline) == 1 && len(changes.Orders) == 1 {
				note = changes.Timeline[0].Message
			}
			if note != c.note {
				t.Errorf("note %q, want %q", note, c.note)
			}
		})
	}
}
