package command

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

var answerKey = commerce.ReplyKey{PartnerID: "p", Op: "live POST /v1/x", Key: "k"}

// paying is the payment of orderIn, as far as it was captured.
func paying(state commerce.PaymentState, captured commerce.Cents) commerce.Payment {
	p := commerce.Payment{StoreID: "s", OrderID: "o", Processor: "box", TraceID: "t", State: state, CapturedCents: captured}
	if state != commerce.PaymentOpening && state != commerce.PaymentRefused {
		p.SessionID, p.CheckoutURL = "cs", "https://pay.example"
	}
	if captured > 0 {
		p.PaymentID, p.Entries = "pi", 1
	}
	return p
}

// withPayment is what is stored of an order, five pieces in stock, and its payment.
func withPayment(o commerce.Order, p commerce.Payment) commerce.Changes {
	c := stored(o, 5)
	c.Payments = []commerce.Payment{p}
	return c
}

// payJob is a job of payments, leased to the worker "me".
func payJob(kind commerce.JobKind, subject string, tries int64) commerce.Job {
	return commerce.Job{Slot: 1, ID: "job_1", Kind: kind, Owner: "s", Subject: subject, ReplyTo: answerKey, RunAt: now - 1, State: commerce.JobWaiting, Tries: tries}.
		LeasedTo("me", now+10)
}

func openReplyOf(j commerce.Job) commerce.Reply {
	return commerce.Reply{ReplyKey: answerKey, Job: j.Key(), Body: []byte{}}
}

// noteCodes are the codes of the notes among events.
func noteCodes(events []commerce.TimelineEvent) (codes []string) {
	for _, e := range events {
		if e.Kind == commerce.TimelineNote {
			codes = append(codes, e.Data.(commerce.NoteData).Code)
		}
	}
	return codes
}

// TestRecordPayment goes through every status, with the right amount and
// another one.
func TestRecordPayment(t *testing.T) {
	for _, status := range commerce.Statuses {
		for _, amount := range []commerce.Cents{300, 299} {
			o := orderIn(status, commerce.ByPickup, false)
			cmd := RecordPayment{Facts: FactsOf(o), Actor: byProcessor, SessionID: "cs", PaymentID: "pi", AmountCents: amount}
			before := withPayment(o, paying(commerce.PaymentOpen, 0))
			got, changes, err := decided(cmd, before, now)
			if err != nil || len(changes.Payments) != 1 || len(changes.Ledger) != 1 {
				t.Fatalf("%s, %d cents: %+v, %v", status, amount, changes, err)
			}
			paid, entry := changes.Payments[0], changes.Ledger[0]
			if paid.State != commerce.PaymentPaid || paid.PaymentID != "pi" || paid.CapturedCents != amount ||
				entry.Kind != commerce.EntryCapture || entry.AmountCents != amount || entry.Ref != "pi" {
				t.Errorf("%s, %d cents: %+v, %+v", status, amount, paid, entry)
			}
			switch late := commerce.LateRefundID("o"); {
			case status != commerce.PendingPayment:
				if got.Status != status || paid.PendingCents != amount || len(changes.Refunds) != 1 || changes.Refunds[0].ID != late ||
					changes.Refunds[0].Origin != commerce.RefundLate || changes.Refunds[0].AmountCents != amount || len(changes.NewJobs) != 1 ||
					changes.NewJobs[0] != (commerce.Job{Kind: commerce.JobRefund, Mode: commerce.Live, Owner: "s", PartnerID: "p", Subject: late, RunAt: now}) ||
					!reflect.DeepEqual(noteCodes(changes.Timeline), []string{"payment_too_late"}) || len(changes.Webhooks) != 0 {
					t.Errorf("%s: late money: %+v", status, changes)
				}
			case amount != o.TotalCents:
				if got.Status != status || openCodes(changes.Attention) != "payment_mismatch" || len(changes.Webhooks)+len(changes.NewJobs)+len(changes.Refunds) != 0 {
					t.Errorf("another amount: %+v", changes)
				}
			default:
				if got.Status != commerce.Paid || len(changes.Webhooks) != 1 || changes.Webhooks[0].Kind != commerce.WebhookPaid || len(changes.NewJobs) != 2 ||
					len(changes.Timeline) != 1 || changes.Timeline[0].Kind != commerce.TimelinePaid || paid.PendingCents != 0 {
					t.Errorf("paid: %+v", changes)
				}
			}
			checkRepeatedPayment(t, cmd, before, changes)
		}
	}
}

// checkRepeatedPayment: a repeated callback changes nothing; another payment is
// flagged, once.
func checkRepeatedPayment(t *testing.T, cmd RecordPayment, before, changes commerce.Changes) {
	t.Helper()
	before.Orders, before.Payments = changes.Orders, changes.Payments
	key := commerce.JobKey{Slot: 1, ID: "job_1"}
	cmd.Job = &key // it may be the job that ends the session that finds out
	if _, again, err := decided(cmd, before, now+1); err != nil || !reflect.DeepEqual(again, commerce.Changes{DoneJobs: []commerce.JobKey{key}}) {
		t.Errorf("repeated: %+v, %v", again, err)
	}
	cmd.Job, cmd.PaymentID = nil, "pi_2"
	order, second, err := decided(cmd, before, now+1)
	if err != nil || openCodes(second.Attention) != "second_payment" || order.Status != before.Orders[0].Status || len(second.Ledger)+len(second.Payments) != 0 ||
		!reflect.DeepEqual(noteCodes(second.Timeline), []string{"second_payment"}) {
		t.Errorf("a second payment: %+v, %v", second, err)
	}
	before.Orders, before.Attention = second.Orders, second.Attention
	if _, again, err := decided(cmd, before, now+2); err != nil || !reflect.DeepEqual(again, commerce.Changes{}) {
		t.Errorf("a second payment, repeated: %+v, %v", again, err)
	}
}

// TestPaidBeforeTheSessionIsKnown: a callback may be faster than the answer of
// the call that opened the session, in which case it names it.
func TestPaidBeforeTheSessionIsKnown(t *testing.T) {
	o := orderIn(commerce.PendingPayment, commerce.ByPickup, false)
	cmd := RecordPayment{Facts: FactsOf(o), Actor: byProcessor, SessionID: "cs", PaymentID: "pi", AmountCents: 300}
	order, changes, err := decided(cmd, withPayment(o, paying(commerce.PaymentOpening, 0)), now)
	if err != nil || order.Status != commerce.Paid || changes.Payments[0].SessionID != "cs" {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestNoPayment: for an order without a card payment, payments, notes and refunds cannot
// be recorded.
func TestNoPayment(t *testing.T) {
	o := orderIn(commerce.Processed, commerce.ByPickup, true)
	paid, note := RecordPayment{Facts: FactsOf(o), Actor: byProcessor}, RecordPaymentCallback{Facts: FactsOf(o), Actor: byProcessor}
	callback, start := RecordRefundCallback{Facts: FactsOf(o), Actor: byProcessor, RefundID: "r", AmountCents: 1}, RefundOrder{Facts: FactsOf(o), Actor: byPartner, RefundID: "r"}
	_, a, paidErr := decided(paid, stored(o, 5), now)
	_, b, noteErr := decided(note, stored(o, 5), now)
	_, c, callbackErr := decided(callback, stored(o, 5), now)
	for _, err := range []error{paidErr, noteErr, callbackErr} {
		if refusal, ok := errors.AsType[*commerce.Error](err); !ok || refusal.Kind != commerce.KindNotFound {
			t.Errorf("%v", err)
		}
	}
	_, d, startErr := decided(start, stored(o, 5), now)
	if refusal, ok := errors.AsType[*commerce.Error](startErr); !ok || refusal.Kind != commerce.KindConflict || refusal.Code != "no_processor_payment" {
		t.Errorf("%v", startErr)
	}
	if n := len(a.Orders) + len(b.Orders) + len(c.Orders) + len(d.Orders); n != 0 {
		t.Errorf("%d orders were changed", n)
	}
}

func TestRecordPaymentCallback(t *testing.T) {
	all := []commerce.PaymentState{commerce.PaymentOpening, commerce.PaymentOpen, commerce.PaymentRefused, commerce.PaymentExpired, commerce.PaymentPaid}
	for _, kind := range []PaymentCallbackKind{CallbackPending, CallbackDeclined, CallbackExpired, CallbackDisputed} {
		for _, state := range all {
			for _, repeated := range []bool{false, true} {
				o, p := orderIn(commerce.PendingPayment, commerce.ByPickup, false), paying(state, 0)
				if repeated {
					p.CallbackID = "evt"
				}
				key := commerce.JobKey{Slot: 1, ID: "job_1"}
				cmd := RecordPaymentCallback{Facts: FactsOf(o), Actor: byProcessor, Kind: kind, CallbackID: "evt", Message: "No\x00.", AmountCents: 300, Job: &key}
				order, changes, err := decided(cmd, withPayment(o, p), now)
				if err != nil || order.Status != commerce.PendingPayment || !reflect.DeepEqual(changes.DoneJobs, []commerce.JobKey{key}) {
					t.Fatalf("%s while %s: %+v, %v", kind, state, changes, err)
				}
				open := state == commerce.PaymentOpening || state == commerce.PaymentOpen
				if hasEffect := !repeated && (open || kind == CallbackDisputed); !hasEffect {
					if len(changes.Timeline)+len(changes.Payments)+len(changes.Orders) != 0 {
						t.Errorf("%s while %s, repeated %v, changes something: %+v", kind, state, repeated, changes)
					}
					continue
				}
				want := p
				want.CallbackID, want.UpdatedOn = "evt", now
				if kind == CallbackExpired {
					want.State = commerce.PaymentExpired
				}
				if !reflect.DeepEqual(noteCodes(changes.Timeline), []string{string(kind)}) || !reflect.DeepEqual(changes.Payments[0], want) ||
					(openCodes(changes.Attention) == string(CallbackDisputed)) != (kind == CallbackDisputed) || strings.Contains(changes.Timeline[0].Message, "\x00") {
					t.Errorf("%s while %s: %+v", kind, state, changes)
				}
			}
		}
	}
}

func TestRecordPaymentSession(t *testing.T) {
	const last = 6 // tries that failed, before the last one
	away := errors.New("no route")
	for _, c := range []struct {
		name     string
		status   commerce.OrderStatus
		state    commerce.PaymentState
		tries    int64
		gone     bool // the job
		swept    bool // the reply
		others   bool // the reply awaits another job
		refused  string
		failed   error
		want     commerce.OrderStatus
		paid     commerce.PaymentState
		closed   bool
		released bool
		expires  bool // the session is to be ended
		job      commerce.JobState
	}{
		{name: "opened", status: commerce.PendingPayment, state: commerce.PaymentOpening, want: commerce.PendingPayment, paid: commerce.PaymentOpen, closed: true},
		{name: "opened, after the reply was swept", status: commerce.PendingPayment, state: commerce.PaymentOpening, swept: true, want: commerce.PendingPayment, paid: commerce.PaymentOpen},
		{name: "opened, the key is another's", status: commerce.PendingPayment, state: commerce.PaymentOpening, others: true, want: commerce.PendingPayment, paid: commerce.PaymentOpen},
		{name: "opened after cancel", status: commerce.Cancelled, state: commerce.PaymentOpening, want: commerce.Cancelled, paid: commerce.PaymentOpen, closed: true, expires: true},
		{name: "the customer was faster", status: commerce.Paid, state: commerce.PaymentPaid, want: commerce.Paid, paid: commerce.PaymentPaid, closed: true},
		{name: "it is over already", status: commerce.PendingPayment, state: commerce.PaymentExpired, want: commerce.PendingPayment, paid: commerce.PaymentExpired, closed: true},
		{name: "refused", status: commerce.PendingPayment, state: commerce.PaymentOpening, refused: "no", want: commerce.FailedPayment, paid: commerce.PaymentRefused, released: true},
		{name: "refused after cancel", status: commerce.Cancelled, state: commerce.PaymentOpening, refused: "no", want: commerce.Cancelled, paid: commerce.PaymentRefused, released: true},
		{name: "refused, after the reply was swept", status: commerce.PendingPayment, state: commerce.PaymentOpening, refused: "no", swept: true, want: commerce.FailedPayment, paid: commerce.PaymentRefused},
		{name: "refused, the key is another's", status: commerce.PendingPayment, state: commerce.PaymentOpening, refused: "no", others: true, want: commerce.FailedPayment, paid: commerce.PaymentRefused},
		{name: "unreachable", status: commerce.PendingPayment, state: commerce.PaymentOpening, failed: away, job: commerce.JobWaiting},
		{name: "unreachable for too long", status: commerce.PendingPayment, state: commerce.PaymentOpening, tries: last, failed: away, want: commerce.FailedPayment, paid: commerce.PaymentRefused, released: true, job: commerce.JobDead},
		{name: "recorded by another worker", status: commerce.PendingPayment, state: commerce.PaymentOpen, gone: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, run := orderIn(c.status, commerce.ByPickup, false), payJob(commerce.JobOpenSession, "o", c.tries)
			before := withPayment(o, paying(c.state, 0))
			if !c.gone {
				before.Jobs = []commerce.Job{run}
			}
			reply := openReplyOf(run)
			if c.others {
				reply.Job.ID = "job_2"
			}
			if !c.swept {
				before.Replies = []commerce.Reply{reply}
			}
			cmd := RecordPaymentSession{RecordJob: RecordJob{Job: run, Failed: c.failed, Delays: commerce.PaymentDelays}, Facts: FactsOf(o),
				SessionID: "cs", URL: "https://pay.example", Refused: c.refused}
			got, changes, err := decideAndClose(cmd, run, before)
			if err != nil {
				t.Fatal(err)
			}
			checkSessionJob(t, run, changes, c.gone, c.job)
			if c.want == "" {
				if len(changes.Orders)+len(changes.Payments)+len(changes.Replies)+len(changes.Released)+len(changes.Timeline) != 0 {
					t.Errorf("%+v", changes)
				}
				return
			}
			status := c.status // of an order that is not changed
			for _, o := range changes.Orders {
				status = o.Status
			}
			if status != c.want || (len(changes.Orders) == 1) != (c.want == commerce.FailedPayment) || changes.Payments[0].State != c.paid || (changes.Payments[0].Error != "") != (c.paid == commerce.PaymentRefused) ||
				(len(changes.Replies) == 1) != c.closed || (len(changes.Released) == 1) != c.released || (len(changes.NewJobs) == 1) != c.expires {
				t.Errorf("%+v", changes)
			}
			if c.closed {
				if r := changes.Replies[0]; r.Open() || got.Order.ID != "o" || got.Payment.SessionID != "cs" || got.Payment.CheckoutURL != "https://pay.example" || got.Payment.TraceID != "t" {
					t.Errorf("closed as %+v, with %+v", r, got)
				}
			}
			if c.expires && changes.NewJobs[0] != (commerce.Job{Kind: commerce.JobExpireSession, Mode: commerce.Live, Owner: "s", PartnerID: "p", Subject: "o", RunAt: now}) {
				t.Errorf("%+v", changes.NewJobs)
			}
			if failed := c.want == commerce.FailedPayment; failed != (len(changes.Timeline) == 1 && changes.Timeline[0].Kind == commerce.TimelineFailedPayment) {
				t.Errorf("timeline %+v", changes.Timeline)
			}
		})
	}
}

// checkSessionJob: the job is done, or goes on in a state, or was gone.
func checkSessionJob(t *testing.T, run commerce.Job, changes commerce.Changes, gone bool, state commerce.JobState) {
	t.Helper()
	switch {
	case gone:
		if len(changes.Jobs)+len(changes.DoneJobs) != 0 {
			t.Errorf("a job that was gone: %+v, done %+v", changes.Jobs, changes.DoneJobs)
		}
	case state == "":
		if !reflect.DeepEqual(changes.DoneJobs, []commerce.JobKey{run.Key()}) || len(changes.Jobs) != 0 {
			t.Errorf("jobs %+v, done %+v", changes.Jobs, changes.DoneJobs)
		}
	default:
		if len(changes.DoneJobs) != 0 || len(changes.Jobs) != 1 || changes.Jobs[0].State != state || changes.Jobs[0].LeasedBy != "" || changes.Jobs[0].Tries != run.Tries+1 {
			t.Errorf("jobs %+v, done %+v", changes.Jobs, changes.DoneJobs)
		}
	}
}

func TestTakeJob(t *testing.T) {
	due := payJob(commerce.JobRefund, "r", 1).LeasedTo("", 0)
	ahead := with(due, func(j *commerce.Job) { j.RunAt = now + commerce.Millis(minute) })
	dead := with(due, func(j *commerce.Job) { j.State, j.Tries = commerce.JobDead, 7 })
	for _, c := range []struct {
		name         string
		stored       []commerce.Job
		there, taken bool
		probes       int64
	}{
		{"due", []commerce.Job{due}, true, true, 0},
		{"not due", []commerce.Job{ahead}, true, true, 1},
		{"due just now", []commerce.Job{with(due, func(j *commerce.Job) { j.RunAt = now })}, true, true, 0},
		{"dead", []commerce.Job{dead}, true, true, 0},
		{"another's", []commerce.Job{due.LeasedTo("you", now+1)}, true, false, 0},
		{"another's whose lease has ended", []commerce.Job{due.LeasedTo("you", now)}, true, true, 0},
		{"another's, whose clock is ahead", []commerce.Job{due.LeasedTo("you", now.Add(commerce.JobLease)+1)}, true, false, 0},
		{"leased for longer than can be", []commerce.Job{due.LeasedTo("you", now.Add(commerce.LongestLease)+1)}, true, true, 0},
		{"done", nil, false, false, 0},
		{"held", []commerce.Job{with(due, func(j *commerce.Job) { j.State = commerce.JobHeld })}, false, false, 0},
		{"given up", []commerce.Job{with(due, func(j *commerce.Job) { j.State = commerce.JobGivenUp })}, false, false, 0},
	} {
		cmd := TakeJob{Job: due.Key(), Worker: "me"}
		got, changes, err := decided(cmd, commerce.Changes{Jobs: c.stored}, now)
		if err != nil || got.There != c.there || got.Taken != c.taken || (len(changes.Jobs) == 1) != c.taken {
			t.Errorf("%s: %+v, %+v, %v", c.name, got, changes, err)
			continue
		}
		if !c.taken && len(c.stored) > 0 && got.Job != c.stored[0] {
			t.Errorf("%s: told of %+v", c.name, got.Job)
		}
		if c.taken {
			want := c.stored[0].LeasedTo("me", now.Add(commerce.JobLease))
			want.State, want.Probes = commerce.JobWaiting, c.probes
			if got.Job != want || changes.Jobs[0] != want {
				t.Errorf("%s: taken as %+v, want %+v", c.name, got.Job, want)
			}
		}
	}
}

// TestImpatience: a caller that repeats a call has an attempt made each time, and does
// not use up the attempts that the schedule makes later.
func TestImpatience(t *testing.T) {
	j := payJob(commerce.JobRefund, "r", 0)
	for range 100 {
		record := RecordJob{Job: j, Failed: errors.New("away"), Delays: commerce.PaymentDelays}
		next, _, _ := decided(record, commerce.Changes{Jobs: []commerce.Job{j}}, now)
		if next.State != commerce.JobWaiting || next.RunAt != now.Add(commerce.PaymentDelays[0]) {
			t.Fatalf("%+v", next)
		}
		take := TakeJob{Job: j.Key(), Worker: "me"}
		taken, _, _ := decided(take, commerce.Changes{Jobs: []commerce.Job{next}}, now)
		j = taken.Job
	}
}

func TestSandboxObjects(t *testing.T) {
	was := commerce.SandboxObject{ID: "cs", Version: 3, Data: []byte("a")}
	for _, c := range []struct {
		stored  []commerce.SandboxObject
		version int64
		ok      bool
	}{{nil, 0, true}, {nil, 1, false}, {[]commerce.SandboxObject{was}, 3, true}, {[]commerce.SandboxObject{was}, 2, false}, {[]commerce.SandboxObject{was}, 0, false}} {
		put := PutSandboxObject{ID: "cs", Version: c.version, Data: []byte("b"), Callbacks: []SandboxCallback{{ID: "sbx_1", After: 5 * time.Millisecond, Data: []byte("n")}}}
		ok, changes, err := decided(put, commerce.Changes{Sandbox: c.stored}, now)
		want := commerce.Changes{}
		if c.ok {
			want.Sandbox = []commerce.SandboxObject{{ID: "cs", Version: c.version + 1, Data: []byte("b"), UpdatedOn: now}, {ID: "sbx_1", Version: 1, Data: []byte("n"), UpdatedOn: now}}
			want.NewJobs = []commerce.Job{{Kind: commerce.JobSandboxCallback, Mode: commerce.Test, Owner: "sandbox", Subject: "sbx_1", RunAt: now + 5}}
		}
		if err != nil || ok != c.ok || !reflect.DeepEqual(changes, want) {
			t.Errorf("version %d over %+v: %v, %+v, %v", c.version, c.stored, ok, changes, err)
		}
	}
	run := payJob(commerce.JobSandboxCallback, "sbx_1", 0)
	before := commerce.Changes{Jobs: []commerce.Job{run}, Sandbox: []commerce.SandboxObject{{ID: "sbx_1", Version: 1}}}
	for _, failed := range []error{nil, errors.New("no")} {
		record := RecordSandboxCallback{RecordJob{Job: run, Failed: failed, Delays: commerce.MessageDelays}}
		_, changes, err := decided(record, before, now)
		if err != nil || (len(changes.GoneSandbox) == 1) != (failed == nil) || (len(changes.DoneJobs) == 1) != (failed == nil) {
			t.Errorf("failed %v: %+v, %v", failed, changes, err)
		}
		step := RecordSandboxStep{RecordJob: RecordJob{Job: run, Failed: failed, Delays: commerce.MessageDelays}, Version: 1}
		if _, changes, err := decided(step, before, now); err != nil || (len(changes.DoneJobs) == 1) != (failed == nil) || failed != nil && changes.Jobs[0].Tries != 1 {
			t.Errorf("a step, failed %v: %+v, %v", failed, changes, err)
		}
	}
	if _, _, err := decided(RecordSandboxCallback{byAnn(run)}, before, now); codeOf(err) != "job_not_dead" {
		t.Errorf("a callback that waits was given up: %v", err)
	}
	put := PutSandboxObject{ID: "cs", Data: []byte("b"), FirstStep: 7 * time.Millisecond}
	step := commerce.Job{Kind: commerce.JobSandboxStep, Mode: commerce.Test, Owner: SandboxOwner, Subject: "cs", RunAt: now + 7}
	if _, changes, err := decided(put, commerce.Changes{}, now); err != nil || !reflect.DeepEqual(changes.NewJobs, []commerce.Job{step}) {
		t.Errorf("with a step: %+v, %v", changes, err)
	}
}
