package command

import (
	"errors"
	"testing"

	"purveyor/internal/commerce"
)

// TestLateTry: a try whose lease has ended changes nothing of the job, also when
// the same worker has leased the job again.
func TestLateTry(t *testing.T) {
	o := deliveryOrder(commerce.Processed)
	d := in("", func(d *commerce.Delivery) { d.State, d.Provider, d.ProviderID = commerce.DeliveryDispatching, "", "" })(o)
	active := in(commerce.CourierAssigned)(o)
	busy := errors.New("busy")
	decide := func(job commerce.Job, needs commerce.Needs, d commerce.Delivery, decide func(*commerce.Rows) (commerce.Changes, error)) bool {
		rows := withDelivery(o, d, job)
		changes, err := decide(fill(needs, rows))
		if err != nil {
			t.Fatal(err)
		}
		return len(changes.Jobs)+len(changes.DoneJobs)+len(changes.Deliveries) > 0
	}
	for name, try := range map[string]func(stored, run commerce.Job) (changed bool){
		"AskCourier": func(stored, run commerce.Job) bool {
			cmd := AskCourier{Facts: FactsOf(o), Job: run, Attempt: 1, Provider: "u"}
			return decide(stored, cmd.Needs(), d, func(rows *commerce.Rows) (commerce.Changes, error) {
				asked, changes, err := cmd.Decide(rows, now)
				if asked.Go != (len(changes.Deliveries) > 0) {
					t.Errorf("asked %v, but %+v", asked, changes)
				}
				return changes, err
			})
		},
		"RecordDelivery": func(stored, run commerce.Job) bool {
			cmd := RecordDelivery{RecordJob: RecordJob{Job: run, Failed: busy, Delays: commerce.DispatchDelays}, Facts: FactsOf(o), Attempt: 1}
			return decide(stored, cmd.Needs(), d, func(rows *commerce.Rows) (commerce.Changes, error) {
				_, changes, err := cmd.Decide(rows, now)
				return changes, err
			})
		},
		"RecordCheck": func(stored, run commerce.Job) bool {
			cmd := RecordCheck{Job: run, Update: RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u"}}
			return decide(stored, cmd.Needs(), active, func(rows *commerce.Rows) (commerce.Changes, error) {
				_, changes, err := cmd.Decide(rows, now)
				return changes, err
			})
		},
		"RecordJob": func(stored, run commerce.Job) bool {
			cmd := RecordJob{Job: run, Failed: busy, Delays: commerce.RetryDelays}
			return decide(stored, cmd.Needs(), d, func(rows *commerce.Rows) (commerce.Changes, error) {
				_, changes, err := cmd.Decide(rows, now)
				return changes, err
			})
		},
		"RecordSandboxStep": func(stored, run commerce.Job) bool {
			cmd := RecordSandboxStep{RecordJob: RecordJob{Job: run, Failed: busy, Delays: commerce.RetryDelays}}
			return decide(stored, cmd.Needs(), d, func(rows *commerce.Rows) (commerce.Changes, error) {
				_, changes, err := cmd.Decide(rows, now)
				return changes, err
			})
		},
		"RecordWebhookAttempts": func(stored, run commerce.Job) bool {
			cmd := RecordWebhookAttempts{[]WebhookTry{{Job: run, Attempt: commerce.WebhookAttempt{PartnerID: "p", Status: 500, Error: "no"}}}}
			return decide(stored, cmd.Needs(), d, func(rows *commerce.Rows) (commerce.Changes, error) {
				_, changes, err := cmd.Decide(rows, now)
				return changes, err
			})
		},
		"ReturnJobs": func(stored, run commerce.Job) bool {
			cmd := ReturnJobs{Jobs: []commerce.Job{run}}
			return decide(stored, cmd.Needs(), d, func(rows *commerce.Rows) (commerce.Changes, error) {
				_, changes, err := cmd.Decide(rows, now)
				return changes, err
			})
		},
		"ParkJobs": func(stored, run commerce.Job) bool {
			cmd := ParkJobs{PartnerID: "p", Jobs: []commerce.Job{run}}
			return decide(stored, cmd.Needs(), d, func(rows *commerce.Rows) (commerce.Changes, error) {
				_, changes, err := cmd.Decide(rows, now)
				return changes, err
			})
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
