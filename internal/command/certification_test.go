package command

import (
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// certified are the rows with the certification of a partner and the job of its run.
func certified(stored commerce.Certification, key commerce.JobKey, job commerce.Job) *commerce.Rows {
	var rows commerce.Rows
	rows.Certified.Require([]string{"ptn_1"}, true)
	if stored.PartnerID != "" {
		rows.Certified.Fill(0, stored)
	}
	rows.Jobs.Require([]commerce.JobKey{key}, true)
	if job.ID != "" {
		rows.Jobs.Fill(0, job)
	}
	return &rows
}

// TestOneRunAtATime: another run begins once the one before is over or its time is up, and a partner stays certified.
func TestOneRunAtATime(t *testing.T) {
	const now = commerce.Millis(1_000)
	for _, c := range []struct {
		stored commerce.Certification
		code   string
	}{
		{commerce.Certification{}, ""},
		{commerce.Certification{PartnerID: "ptn_1", RunID: "run_1", Running: true, EndsOn: now + 1}, "limit_reached"},
		{commerce.Certification{PartnerID: "ptn_1", RunID: "run_1", Running: true, EndsOn: now}, ""},
		{commerce.Certification{PartnerID: "ptn_1", RunID: "run_1", EndsOn: now + 1, CertifiedOn: 5, Version: 9}, ""},
	} {
		row, changes, err := StartCertification{commerce.Certification{PartnerID: "ptn_1", RunID: "run_2", EndsOn: now + 9}}.Decide(certified(c.stored, commerce.JobKey{}, commerce.Job{}), now)
		if codeOf(err) != c.code {
			t.Errorf("%+v: %v", c.stored, err)
		}
		if c.code != "" {
			continue
		}
		if row.RunID != "run_2" || !row.Running || row.Version != 1 || row.CertifiedOn != c.stored.CertifiedOn || len(changes.Certified) != 1 ||
			!slices.Equal(changes.NewJobs, []commerce.Job{{Kind: commerce.JobCertify, Mode: commerce.Test, Owner: "ptn_1", PartnerID: "ptn_1", Subject: "run_2", RunAt: now}}) {
			t.Errorf("%+v: %+v, %+v", c.stored, row, changes)
		}
	}
}

// TestStepsOfARun: a step is kept if the run is as it was read, and taken again at once if it is not. The job ends
// with the run, and a worker whose lease has ended changes nothing.
func TestStepsOfARun(t *testing.T) {
	const now = commerce.Millis(1_000)
	job := leased(commerce.JobCertify, "run_1")
	job.Tries = 3
	read := commerce.Certification{PartnerID: "ptn_1", RunID: "run_1", Running: true, Run: "before", Version: 4}
	after, over := read, read
	after.Run, over.Run, over.Running = "after", "after", false
	acked, another := read, read
	acked.Version, another.RunID = 5, "run_2"
	late := job
	late.LeasedBy = "another"
	for _, c := range []struct {
		name   string
		stored commerce.Certification
		job    commerce.Job // as it is stored
		step   commerce.Certification
		kept   bool
		runAt  commerce.Millis // of the job; 0: it is done or left alone
		done   bool
	}{
		{"goes on", read, job, after, true, now + 500, false},
		{"is over", read, job, over, true, 0, true},
		{"was acked meanwhile", acked, job, after, false, now, false},
		{"is over, and was acked meanwhile", acked, job, over, false, now, false},
		{"another run", another, job, after, false, now, false},
		{"another worker", read, late, after, false, 0, false},
		{"no job", read, commerce.Job{}, after, false, 0, false},
	} {
		_, changes, err := StepCertification{Job: job, Certification: c.step, Pause: 500 * time.Millisecond}.Decide(certified(c.stored, job.Key(), c.job), now)
		if err != nil || (len(changes.Certified) == 1) != c.kept || (len(changes.DoneJobs) == 1) != c.done || (len(changes.Jobs) == 1) != (c.runAt != 0) {
			t.Errorf("%s: %+v, %v", c.name, changes, err)
			continue
		}
		if c.kept && (changes.Certified[0].Version != 5 || changes.Certified[0].Run != "after") {
			t.Errorf("%s: %+v", c.name, changes.Certified[0])
		}
		if c.runAt != 0 && (changes.Jobs[0].RunAt != c.runAt || changes.Jobs[0].LeasedBy != "" || changes.Jobs[0].LeasedUntil != 0 || changes.Jobs[0].Tries != 0) {
			t.Errorf("%s: %+v", c.name, changes.Jobs[0])
		}
	}
}
