package command

import (
	"errors"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// moves reports whether a command changes jobs or deliveries of what is stored,
// and what it returns.
func moves[R any](t *testing.T, stored commerce.Changes, cmd interface {
	Needs() commerce.Needs
	Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error)
}) (R, bool) {
	t.Helper()
	result, changes, err := decided(cmd, stored, now)
	if err != nil {
		t.Fatal(err)
	}
	return result, len(changes.Jobs)+len(changes.DoneJobs)+len(changes.Deliveries) > 0
}

// TestLateTry: a try whose lease has ended changes nothing of the job, also when
// the same worker has leased the job again.
func TestLateTry(t *testing.T) {
	o := deliveryOrder(commerce.Processed)
	d := in("", func(d *commerce.Delivery) { d.State, d.Provider, d.ProviderID = commerce.DeliveryDispatching, "", "" })(o)
	failed := func(run commerce.Job, delays []time.Duration) RecordJob {
		return RecordJob{Job: run, Failed: errors.New("busy"), Delays: delays}
	}
	for name, try := range map[string]func(stored, run commerce.Job) (changed bool){
		"AskCourier": func(stored, run commerce.Job) bool {
			asked, changed := moves(t, withDelivery(o, d, stored), AskCourier{Facts: FactsOf(o), Job: run, Attempt: 1, Provider: "u"})
			if asked.Go != changed {
				t.Errorf("asked %v, but changed %v", asked, changed)
			}
			return changed
		},
		"RecordDelivery": func(stored, run commerce.Job) bool {
			_, changed := moves(t, withDelivery(o, d, stored), RecordDelivery{RecordJob: failed(run, commerce.DispatchDelays), Facts: FactsOf(o), Attempt: 1})
			return changed
		},
		"RecordCheck": func(stored, run commerce.Job) bool {
			_, changed := moves(t, withDelivery(o, in(commerce.CourierAssigned)(o), stored),
				RecordCheck{Job: run, Record: RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u"}})
			return changed
		},
		"RecordJob": func(stored, run commerce.Job) bool {
			_, changed := moves(t, withDelivery(o, d, stored), failed(run, commerce.RetryDelays))
			return changed
		},
		"RecordSandboxStep": func(stored, run commerce.Job) bool {
			_, changed := moves(t, withDelivery(o, d, stored), RecordSandboxStep{RecordJob: failed(run, commerce.RetryDelays)})
			return changed
		},
		"RecordWebhookAttempts": func(stored, run commerce.Job) bool {
			_, changed := moves(t, withDelivery(o, d, stored),
				RecordWebhookAttempts{[]WebhookTry{{Job: run, Attempt: commerce.WebhookAttempt{PartnerID: "p", Status: 500, Error: "no"}}}})
			return changed
		},
		"ReturnJobs": func(stored, run commerce.Job) bool {
			_, changed := moves(t, withDelivery(o, d, stored), ReturnJobs{Jobs: []commerce.Job{run}})
			return changed
		},
		"ParkJobs": func(stored, run commerce.Job) bool {
			_, changed := moves(t, withDelivery(o, d, stored), ParkJobs{Owner: "p", Jobs: []commerce.Job{run}})
			return changed
		},
	} {
		run := leased(commerce.JobDispatch, d.Ref())
		if !try(run, run) {
			t.Errorf("%s changed nothing while the lease held", name)
		}
		for what, stored := range map[string]commerce.Job{
			"another worker":        run.LeasedTo("you", run.LeasedUntil),
			"the same worker again": run.LeasedTo(run.LeasedBy, run.LeasedUntil+3),
			"no worker":             run.LeasedTo("", 0),
		} {
			if try(stored, run) {
				t.Errorf("%s: the late try changed something although %s has the job", name, what)
			}
		}
	}
}
