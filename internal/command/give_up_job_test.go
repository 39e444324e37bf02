package command

import (
	"errors"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// jobCommand is a command that records what becomes of a job.
type jobCommand = commit.Command[Recorded]

// decideAndClose records the outcome of a job, and closes the reply that waits for
// it, over what is stored.
func decideAndClose(cmd jobCommand, job commerce.Job, stored commerce.Changes) (Recorded, commerce.Changes, error) {
	cmd = commit.Close(job, cmd, func(Recorded) (int, []byte) { return 200, []byte("answer") })
	return decided(cmd, stored, now)
}

// deadJob is one without a try left.
func deadJob(kind commerce.JobKind, subject string) commerce.Job {
	j := payJob(kind, subject, 7).LeasedTo("", 0)
	j.State, j.Error = commerce.JobDead, "no answer"
	return j
}

// byAnn has an operator give up a job.
func byAnn(j commerce.Job) RecordJob {
	return RecordJob{Job: j, Failed: errors.New("by phone"), GivenUpBy: commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}}
}

// giveUpCase is a dead job and what giving it up records.
type giveUpCase struct {
	name string
	make func() (jobCommand, commerce.Changes)
	want string
}

func giveUpCases() []giveUpCase {
	const given = ", order.note, given_up after 7 tries"
	delivery := func(d commerce.Delivery, o commerce.Order, j commerce.Job) commerce.Changes {
		c := withDelivery(o, d, j)
		c.Replies = []commerce.Reply{openReplyOf(j)}
		return c
	}
	return []giveUpCase{
		{"refund, set aside", func() (jobCommand, commerce.Changes) {
			o, r, j := orderIn(commerce.Paid, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 300), deadJob(commerce.JobRefund, "rfd")
			cmd := recordRefund(o, r, j)
			cmd.RecordJob = byAnn(j)
			stored := refunding(o, r, j)
			stored.Attention = []commerce.Attention{{StoreID: "s", OrderID: "o", Code: commerce.AttentionRefundUnknown, Since: 1}}
			return cmd, stored
		}, "order paid, raised refund_due, resolved refund_unknown, order.note, order.note, given_up after 7 tries, released"},
		{"refund that a callback completed", func() (jobCommand, commerce.Changes) {
			o, r, j := orderIn(commerce.Paid, commerce.ByPickup, false), pendingRefund(commerce.RefundAsked, 300), deadJob(commerce.JobRefund, "rfd")
			r.State = commerce.RefundDone
			cmd := recordRefund(o, r, j)
			cmd.RecordJob = byAnn(j)
			return cmd, refunding(o, r, j)
		}, "order paid" + given + ", answered"},
		{"session that was never opened", func() (jobCommand, commerce.Changes) {
			o, j := orderIn(commerce.PendingPayment, commerce.ByPickup, false), deadJob(commerce.JobOpenSession, "o")
			stored := withPayment(o, paying(commerce.PaymentOpening, 0))
			stored.Jobs, stored.Replies = []commerce.Job{j}, []commerce.Reply{openReplyOf(j)}
			return RecordPaymentSession{RecordJob: byAnn(j), Facts: FactsOf(o)}, stored
		}, "order failed_payment, order.note, order.failed_payment, given_up after 7 tries, released"},
		{"courier, still looked for", func() (jobCommand, commerce.Changes) {
			o := deliveryOrder(commerce.Processed)
			d := in("", dispatching, func(d *commerce.Delivery) { d.Provider = "" })(o)
			j := deadJob(commerce.JobDispatch, d.Ref())
			return RecordDelivery{RecordJob: byAnn(j), Facts: FactsOf(o), Attempt: 1},
				delivery(d, o, j)
		}, "order processed, raised not_dispatched, delivery 1 over  , order.note, order.note, given_up after 7 tries, answered"},
		{"courier, given up by the last try", func() (jobCommand, commerce.Changes) {
			o := deliveryOrder(commerce.Processed)
			d := in("", over)(o)
			j := deadJob(commerce.JobDispatch, d.Ref())
			return RecordDelivery{RecordJob: byAnn(j), Facts: FactsOf(o), Attempt: 1}, withDelivery(o, d, j)
		}, "order processed" + given},
		{"courier of a cancelled order", func() (jobCommand, commerce.Changes) {
			o := deliveryOrder(commerce.Cancelled)
			d := in("", dispatching, func(d *commerce.Delivery) { d.Provider = "" })(o)
			j := deadJob(commerce.JobDispatch, d.Ref())
			return RecordDelivery{RecordJob: byAnn(j), Facts: FactsOf(o), Attempt: 1}, withDelivery(o, d, j)
		}, "order cancelled, delivery 1 over  " + given},
		{"courier to be sent home", func() (jobCommand, commerce.Changes) {
			o := deliveryOrder(commerce.Cancelled)
			d := in(commerce.CourierAssigned)(o)
			j := deadJob(commerce.JobCancelDelivery, o.ID)
			return RecordDeliveryCancelled{RecordJob: byAnn(j), Facts: FactsOf(o)},
				delivery(d, o, j)
		}, "order cancelled, raised courier_not_cancelled, order.note, order.note, given_up after 7 tries, answered"},
		{"session to be ended", func() (jobCommand, commerce.Changes) {
			o, j := orderIn(commerce.Cancelled, commerce.ByPickup, false), deadJob(commerce.JobExpireSession, "o")
			facts := FactsOf(o)
			stored := stored(o, 1)
			stored.Jobs = []commerce.Job{j}
			return GiveUpJob{RecordJob: byAnn(j), Facts: &facts}, stored
		}, "order cancelled" + given},
		{"hold to be ended", func() (jobCommand, commerce.Changes) {
			o, j := orderIn(commerce.PendingPayment, commerce.ByPickup, false), deadJob(commerce.JobEndHold, "o")
			o.HeldUntil = now
			stored := stored(o, 1)
			stored.Stock[0].Held, stored.Jobs = 3, []commerce.Job{j}
			return EndHold{RecordJob: byAnn(j), Facts: FactsOf(o)}, stored
		}, "order pending_payment, order.note, order.note, given_up after 7 tries"},
		{"webhook", func() (jobCommand, commerce.Changes) {
			j := deadJob(commerce.JobDeliverWebhook, "evt")
			return GiveUpJob{RecordJob: byAnn(j)}, commerce.Changes{Jobs: []commerce.Job{j}}
		}, "given_up after 7 tries"},
	}
}

// TestGiveUp: what giving up a dead job records, for each kind: what its last
// failed try left open is closed, whether that try recorded its outcome or not.
func TestGiveUp(t *testing.T) {
	for _, c := range giveUpCases() {
		t.Run(c.name, func(t *testing.T) {
			cmd, stored := c.make()
			recorded, changes, err := decideAndClose(cmd, stored.Jobs[0], stored)
			job, got := recorded.Job, summary(changes)
			if len(changes.Released) > 0 {
				got += ", released"
			}
			if err != nil || got != c.want || job.State != commerce.JobGivenUp || job.Error != "given up by operator:ann: by phone" {
				t.Errorf("%v, %+v\n got %s\nwant %s", err, job, got, c.want)
			}
			for _, p := range changes.Payments {
				if p.PendingCents != 0 {
					t.Errorf("%d cents are set aside", p.PendingCents)
				}
			}
			if n := len(changes.Timeline); n > 0 && !strings.HasPrefix(changes.Timeline[0].Message, "operator:ann gave up ") {
				t.Errorf("the timeline says %q", changes.Timeline[0].Message)
			}
			gone := stored
			gone.Jobs = nil
			if _, changes, err := decideAndClose(cmd, stored.Jobs[0], gone); err == nil || summary(changes) != "" {
				t.Errorf("a job that is done was given up: %v, %s", err, summary(changes))
			}
			held := stored
			held.Jobs = []commerce.Job{stored.Jobs[0]}
			held.Jobs[0].State = commerce.JobHeld
			if again, _, err := decideAndClose(cmd, held.Jobs[0], held); err != nil || again.Job.State != commerce.JobGivenUp {
				t.Errorf("a job that is held: %+v, %v", again.Job, err)
			}
			stored.Jobs[0] = stored.Jobs[0].LeasedTo("you", now+1)
			stored.Jobs[0].State = commerce.JobWaiting
			if _, changes, err := decideAndClose(cmd, stored.Jobs[0], stored); err == nil || summary(changes) != "" {
				t.Errorf("a job that waits was given up: %v, %s", err, summary(changes))
			}
		})
	}
}

// TestRetryJob: which jobs an operator may have tried at once, and what of their
// order is opened again for it.
func TestRetryJob(t *testing.T) {
	stuck := func(d *commerce.Delivery) { d.State, d.Provider, d.ProviderID = commerce.DeliveryOver, "", "" }
	waiting := func(j *commerce.Job) { j.State, j.RunAt = commerce.JobWaiting, now+60*minute }
	for _, c := range []struct {
		name     string
		kind     commerce.JobKind
		status   commerce.OrderStatus
		delivery func(commerce.Order) commerce.Delivery
		job      func(*commerce.Job)
		gone     bool
		want     string // empty: it is refused
	}{
		{name: "dead", kind: commerce.JobRefund, status: commerce.Paid, want: "waiting after 7 tries, next in 0 s"},
		{name: "held", kind: commerce.JobRefund, status: commerce.Paid, job: func(j *commerce.Job) { waiting(j); j.State = commerce.JobHeld }, want: "waiting after 7 tries, next in 0 s"},
		{name: "waiting", kind: commerce.JobRefund, status: commerce.Paid, job: waiting, want: "waiting after 7 tries, next in 0 s"},
		{name: "done", kind: commerce.JobRefund, status: commerce.Paid, gone: true},
		{name: "leased", kind: commerce.JobRefund, status: commerce.Paid, job: func(j *commerce.Job) { waiting(j); *j = j.LeasedTo("you", now+1) }},
		{name: "parked", kind: commerce.JobRefund, status: commerce.Paid, job: func(j *commerce.Job) { j.State = commerce.JobParked }},
		{name: "given up", kind: commerce.JobRefund, status: commerce.Paid, job: func(j *commerce.Job) { j.State = commerce.JobGivenUp }},
		{name: "session of an order that ended", kind: commerce.JobOpenSession, status: commerce.FailedPayment},
		{name: "session", kind: commerce.JobOpenSession, status: commerce.PendingPayment, want: "waiting after 7 tries, next in 0 s"},
		{name: "courier", kind: commerce.JobDispatch, status: commerce.Processed, delivery: in("", stuck),
			want: "delivery 1 dispatching  , waiting after 7 tries, next in 0 s"},
		{name: "courier of a cancelled order", kind: commerce.JobDispatch, status: commerce.Cancelled, delivery: in("", stuck)},
		{name: "another courier by now", kind: commerce.JobDispatch, status: commerce.Processed, delivery: in("", stuck, secondOne)},
		{name: "courier, waiting, of a cancelled order", kind: commerce.JobDispatch, status: commerce.Cancelled, delivery: in("", stuck), job: waiting, want: "waiting after 7 tries, next in 0 s"},
		{name: "dead, and its lease has ended", kind: commerce.JobRefund, status: commerce.Paid, job: func(j *commerce.Job) { *j = j.LeasedTo("you", now) }, want: "waiting after 7 tries, next in 0 s"},
		{name: "a courier has it", kind: commerce.JobDispatch, status: commerce.Shipped, delivery: in(commerce.CourierAssigned)},
	} {
		o := deliveryOrder(c.status)
		d := in(commerce.CourierAssigned)(o)
		if c.delivery != nil {
			d = c.delivery(o)
		}
		j := deadJob(c.kind, "x")
		if c.job != nil {
			c.job(&j)
		}
		before := withDelivery(o, d, j)
		if c.gone {
			before.Jobs = nil
		}
		facts := FactsOf(o)
		cmd := RetryJob{Job: j.Key(), Kind: c.kind, Facts: &facts, Attempt: 1}
		got, changes, err := decided(cmd, before, now)
		if s := summary(changes); s != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, s, c.want)
		}
		if err == nil && (got.Probes != 1 || got.LeasedBy != "" || got.LeasedUntil != 0) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if len(changes.Deliveries) == 1 && changes.Deliveries[0].Changes != d.Changes+1 {
			t.Errorf("%s: %+v", c.name, changes.Deliveries[0])
		}
	}
	due, dead := deadJob(commerce.JobDeliverWebhook, "x"), deadJob(commerce.JobDispatch, "x")
	due.State, due.RunAt = commerce.JobWaiting, now
	if got, _, err := decided(RetryJob{Job: due.Key(), Kind: due.Kind}, commerce.Changes{Jobs: []commerce.Job{due}}, now); err != nil || got.Probes != 0 {
		t.Errorf("a job that is due: %+v, %v", got, err)
	}
	due.State = commerce.JobDead
	if got, _, err := decided(RetryJob{Job: due.Key(), Kind: due.Kind}, commerce.Changes{Jobs: []commerce.Job{due}}, now); err != nil || got.State != commerce.JobWaiting {
		t.Errorf("a job about no order: %+v, %v", got, err)
	}
	o := deliveryOrder(commerce.Processed)
	facts, before := FactsOf(o), stored(o, 1)
	before.Jobs = []commerce.Job{dead}
	if _, changes, err := decided(RetryJob{Job: dead.Key(), Kind: dead.Kind, Facts: &facts, Attempt: 1}, before, now); codeOf(err) != "not_found" || !changes.Empty() {
		t.Errorf("without a delivery: %+v, %v", changes, err)
	}
}
