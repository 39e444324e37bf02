package command

import (
	"errors"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

// Jobs that act outside are held, others go on, and what is held goes on as it was.
func TestHoldJobs(t *testing.T) {
	job := func(kind commerce.JobKind, state commerce.JobState) commerce.Job {
		return commerce.Job{Slot: 3, ID: "job_" + string(kind) + string(state), Kind: kind, State: state, RunAt: now - 5, Tries: 2}
	}
	leased := job(commerce.JobDispatch, commerce.JobWaiting).LeasedTo("me", now+5)
	held := []commerce.Job{leased, job(commerce.JobRefund, commerce.JobWaiting), job(commerce.JobOpenSession, commerce.JobWaiting),
		job(commerce.JobCancelDelivery, commerce.JobWaiting), job(commerce.JobMailReady, commerce.JobWaiting), job(commerce.JobMailPaid, commerce.JobWaiting),
		job(commerce.JobMailAlarm, commerce.JobWaiting), job(commerce.JobMemberLink, commerce.JobWaiting), job(commerce.JobTextPaid, commerce.JobWaiting)}
	others := []commerce.Job{job(commerce.JobDeliverWebhook, commerce.JobWaiting), job(commerce.JobEndHold, commerce.JobWaiting), job(commerce.JobExpireSession, commerce.JobWaiting),
		job(commerce.JobRefund, commerce.JobDead), job(commerce.JobRefund, commerce.JobGivenUp), job(commerce.JobDeliverWebhook, commerce.JobParked)}
	all := slices.Concat(held, others)
	hold := HoldJobs{Jobs: keysOf(all)}
	n, changes, err := decided(hold, commerce.Changes{Jobs: all}, now)
	if err != nil || n != len(held) || len(changes.Jobs) != len(held) {
		t.Fatalf("%d held: %+v, %v", n, changes.Jobs, err)
	}
	for i, j := range changes.Jobs {
		want := held[i].LeasedTo("", 0)
		if want.State = commerce.JobHeld; j != want {
			t.Errorf("held as %+v, want %+v", j, want)
		}
	}
	failed := RecordJob{Job: leased, Failed: errors.New("away")}
	if _, lost, err := decided(failed, commerce.Changes{Jobs: changes.Jobs[:1]}, now); err != nil || len(lost.Jobs) != 0 {
		t.Errorf("the failure of an attempt that was under way changes %+v, %v", lost.Jobs, err)
	}
	release := ReleaseJobs{Jobs: keysOf(all)}
	n, released, err := decided(release, commerce.Changes{Jobs: slices.Concat(changes.Jobs, others)}, now)
	held[0] = held[0].LeasedTo("", 0)
	if err != nil || n != len(held) || !slices.Equal(released.Jobs, held) {
		t.Errorf("%d released: %+v, %v", n, released.Jobs, err)
	}
}
