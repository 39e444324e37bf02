package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"

	"pgregory.net/rapid"
)

// road is one paid order that is to be delivered, with its couriers, their callbacks, and
// the webhooks of its partner.
type road struct {
	*till
	t *rapid.T

	parcels   []parcel
	tries     []dispatchTry
	callbacks []RecordCourierUpdate
	ran       []commerce.JobKey // the jobs of courier updates that have run; they may run again

	// The rows before the current command.
	wasOrder    commerce.Order
	wasDelivery commerce.Delivery

	replaced      int64 // how often staff asked for another courier
	restored      int   // how often the stock came back
	lastUpdate    commerce.Millis
	published     map[string]int // counts webhooks by kind and attempt
	lastPublished string         // the courier's position in the last webhook
}

// parcel is the delivery that a provider created for an attempt.
type parcel struct {
	provider string
	update   CourierUpdate
	attempt  int64
}

// dispatchTry is a worker that looks for a courier, or did until its lease ended.
type dispatchTry struct {
	job     commerce.Job
	attempt int64
	asked   string
}

func newRoad(t *rapid.T) *road {
	r := &road{till: newTill(commerce.ByDelivery), t: t, published: map[string]int{}}
	r.saved = r.checkChanges
	r.remember()
	r.pay(300)
	r.till.callbacks[0](t)
	r.mustMove(commerce.PendingPayment, commerce.Paid)
	return r
}

func (r *road) mustMove(from, to commerce.OrderStatus) {
	if r.order.Status != to {
		r.t.Fatalf("the order is %s, from %s, want %s", r.order.Status, from, to)
	}
}

func (r *road) delivery() commerce.Delivery {
	if len(r.deliveries) == 0 {
		return commerce.Delivery{Attempt: 1}
	}
	return r.deliveries[0]
}

func (r *road) remember() { r.wasOrder, r.wasDelivery = r.order, r.delivery() }

// jobsOf returns the jobs of a kind, sorted by id.
func (r *road) jobsOf(kind commerce.JobKind) (list []commerce.Job) {
	for _, j := range r.jobs {
		if j.Kind == kind {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b commerce.Job) int { return byID(a.Key(), b.Key()) })
	return list
}

// drawn draws an element of a list. It skips the step if the list is empty.
func drawn[V any](t *rapid.T, list []V, what string) V {
	if len(list) == 0 {
		t.Skip("no ", what)
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(t, what)]
}

// checkChanges compares the changes of a command with the rows before it.
func (r *road) checkChanges(changes commerce.Changes) {
	was, now, t := r.wasOrder, r.order, r.t
	if from, to := was.Beneath(), now.Beneath(); from != to && (from.Terminal() && to != commerce.Refunded ||
		slices.Index(commerce.Statuses, to) < slices.Index(commerce.Statuses, from)) {
		t.Fatalf("the order went from %s to %s", was.Status, now.Status)
	}
	d, before := r.delivery(), r.wasDelivery
	if d.Attempt < before.Attempt || d.Attempt > before.Attempt+1 || d.Attempt > commerce.MaxDispatches+r.replaced || d.Attempt == before.Attempt && (d.Status.Rank() < before.Status.Rank() || d.SeenOn < before.SeenOn) {
		t.Fatalf("the delivery went from %+v\nto %+v", before, d)
	}
	if was.InventoryDeducted && !now.InventoryDeducted {
		r.restored++
	}
	if r.restored > 1 || now.InventoryDeducted != (r.stock.Quantity == 2) {
		t.Fatalf("stock came back %d times; %d are left, deducted %v", r.restored, r.stock.Quantity, now.InventoryDeducted)
	}
	for i, e := range changes.Timeline {
		if e.Seq != was.Events+int64(i)+1 {
			t.Fatalf("timeline %+v after %d", changes.Timeline, was.Events)
		}
	}
	last := was.NotifiedOn
	for _, w := range changes.Webhooks {
		if w.Timestamp <= last {
			t.Fatalf("%s at %d, after %d", w.Kind, w.Timestamp, last)
		}
		last = w.Timestamp
		r.receive(w)
	}
	if last != now.NotifiedOn {
		t.Fatalf("the last event is of %d, and the order says %d", last, now.NotifiedOn)
	}
	r.remember()
}

// receive is the partner that gets a webhook.
func (r *road) receive(w commerce.WebhookEvent) {
	switch w.Kind {
	case commerce.WebhookDeliveryCreated, commerce.WebhookDeliveryOut, commerce.WebhookDeliveryDone:
		what := fmt.Sprint(w.Kind, " of attempt ", r.wasDelivery.Attempt)
		if r.published[what]++; r.published[what] > 1 {
			r.t.Fatalf("%s is published twice", what)
		}
	case commerce.WebhookCourierUpdate:
		if r.now < r.lastUpdate.Add(commerce.CourierUpdateEvery) {
			r.t.Fatalf("courier updates at %d and %d", r.lastUpdate, r.now)
		}
		r.lastUpdate = r.now
	}
	if strings.HasPrefix(string(w.Kind), "delivery.") {
		r.lastPublished = place(w.About.Delivery.Courier.At)
	}
}

func place(p *commerce.Point) string {
	if p == nil {
		return "unknown"
	}
	return fmt.Sprint(*p)
}

// check verifies that a job exists for each state of the delivery that needs one.
func (r *road) check() {
	if len(r.deliveries) == 0 {
		return
	}
	d, over := r.delivery(), r.order.Stopped()
	has := func(kind commerce.JobKind, subject string) bool {
		return slices.ContainsFunc(r.jobsOf(kind), func(j commerce.Job) bool { return j.Subject == subject && j.State == commerce.JobWaiting })
	}
	cancelling := has(commerce.JobCancelDelivery, r.order.ID)
	switch {
	case d.Untold && !has(commerce.JobCourierUpdate, r.order.ID):
		r.t.Fatalf("no job will send the courier update: %+v", d)
	case d.State == commerce.DeliveryDispatching && !has(commerce.JobDispatch, d.Ref()) && !(over && (cancelling || openCodes(r.attention) != "")):
		r.t.Fatalf("no job looks for a courier: %+v", d)
	case d.Replacing && !over && d.State == commerce.DeliveryActive && !cancelling:
		r.t.Fatalf("no job calls the courier off: %+v", d)
	case d.State == commerce.DeliveryActive && !over && !has(commerce.JobCheckDelivery, d.Ref()):
		r.t.Fatalf("no job checks the delivery: %+v", d)
	case d.State == commerce.DeliveryActive && over && !cancelling && openCodes(r.attention) == "" && d.Status != commerce.CourierReturning:
		r.t.Fatalf("a courier is on the way for an order that is %s: %+v", r.order.Status, d)
	case d.State == commerce.DeliveryActive && !over && !d.Untold && r.lastPublished != place(d.Courier.At):
		r.t.Fatalf("the partner was informed that the courier is at %s, and it is at %s", r.lastPublished, place(d.Courier.At))
	}
}

// take has a new worker take the job that looks for a courier, even if another has it.
func (r *road) take(t *rapid.T) {
	j := drawn(t, r.jobsOf(commerce.JobDispatch), "dispatch")
	_, attempt, _ := commerce.ParseDeliveryRef(j.Subject)
	j = j.LeasedTo(fmt.Sprint("worker ", len(r.tries)), r.now+10)
	r.jobs[j.Key()] = j
	r.tries = append(r.tries, dispatchTry{job: j, attempt: attempt})
}

// askProvider has a worker store the provider that it asks. The provider may create the
// delivery at once, even if the worker never records that.
func (r *road) askProvider(t *rapid.T) {
	if len(r.tries) == 0 {
		t.Skip("no worker")
	}
	w := &r.tries[rapid.IntRange(0, len(r.tries)-1).Draw(t, "worker")]
	provider := rapid.SampledFrom([]string{"u", "v"}).Draw(t, "provider")
	before := r.delivery()
	if before.Attempt == w.attempt && before.Provider != "" {
		provider = before.Provider // it may have created the delivery, so no other may be asked
	}
	var asked Asked
	try(t, r.till, spy[Asked]{AskCourier{Facts: FactsOf(r.order), Job: w.job, Attempt: w.attempt, Provider: provider}, &asked})
	if !asked.Go {
		return
	}
	if w.asked = provider; rapid.IntRange(0, 3).Draw(t, "refuses at 0") != 0 {
		r.makeParcel(provider, w.attempt)
	}
}

func (r *road) makeParcel(provider string, attempt int64) {
	if r.parcelOf(provider, attempt) == nil {
		ref := commerce.DeliveryRef(r.order.ID, attempt)
		r.parcels = append(r.parcels, parcel{provider, CourierUpdate{ID: provider + ref, Ref: ref, QuoteID: "q", Status: commerce.CourierPending, SeenOn: r.now}, attempt})
	}
}

func (r *road) parcelOf(provider string, attempt int64) *parcel {
	for i, p := range r.parcels {
		if p.provider == provider && p.attempt == attempt {
			return &r.parcels[i]
		}
	}
	return nil
}

// spy keeps the result of a command.
type spy[R any] struct {
	decider[R]
	got *R
}

func (s spy[R]) Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error) {
	got, changes, err := s.decider.Decide(rows, now)
	*s.got = got
	return got, changes, err
}

// record has a worker record the outcome of its attempt. A worker may do so repeatedly.
func (r *road) record(t *rapid.T) {
	w := drawn(t, r.tries, "worker")
	cmd := RecordDelivery{RecordJob: RecordJob{Job: w.job, Delays: commerce.DispatchDelays}, Facts: FactsOf(r.order), Attempt: w.attempt, Provider: w.asked}
	made := r.parcelOf(w.asked, w.attempt)
	switch {
	case made != nil && rapid.IntRange(0, 3).Draw(t, "answer lost at 0") != 0:
		update := made.update
		cmd.Made = &update
	case made != nil || w.asked != "" && rapid.Bool().Draw(t, "away"):
		cmd.Failed = errors.New("no answer")
	case r.delivery().Provider != "" && r.parcelOf(r.delivery().Provider, r.delivery().Attempt) != nil:
		t.Skip("another provider was asked")
	default:
		cmd.Refused = "no courier is free"
	}
	try(t, r.till, cmd)
}

// drive moves a courier on. The callback about it arrives later, or never.
func (r *road) drive(t *rapid.T) {
	if len(r.parcels) == 0 {
		t.Skip("no courier")
	}
	p := &r.parcels[len(r.parcels)-1]
	if rapid.IntRange(0, 3).Draw(t, "any at 0") == 0 {
		p = &r.parcels[rapid.IntRange(0, len(r.parcels)-1).Draw(t, "parcel")]
	}
	to := rapid.SampledFrom([]commerce.CourierStatus{commerce.CourierPending, commerce.CourierAssigned, commerce.CourierLoaded, commerce.CourierEnRoute,
		commerce.CourierReturning, commerce.CourierDone, commerce.CourierCancelled, commerce.CourierReturned}).Draw(t, "status")
	if p.update.Status.Over() {
		return
	}
	if to.Rank() > p.update.Status.Rank() {
		p.update.Status = to
	}
	at := commerce.Point{Lat: 30, Lng: float64(rapid.IntRange(-99, -95).Draw(t, "lng"))}
	p.update.SeenOn, p.update.Courier = r.now, commerce.Courier{Name: "Kim", At: &at}
	r.callbacks = append(r.callbacks, RecordCourierUpdate{Attempt: p.attempt, Provider: p.provider, Update: p.update})
}

// bring is a worker that finds a courier at once.
func (r *road) bring(t *rapid.T) {
	r.take(t)
	w := &r.tries[len(r.tries)-1]
	w.asked = r.delivery().Provider
	if w.asked == "" {
		w.asked = "u"
	}
	var asked Asked
	try(t, r.till, spy[Asked]{AskCourier{Facts: FactsOf(r.order), Job: w.job, Attempt: w.attempt, Provider: w.asked}, &asked})
	if asked.Go {
		r.makeParcel(w.asked, w.attempt)
		update := r.parcelOf(w.asked, w.attempt).update
		try(t, r.till, RecordDelivery{RecordJob: RecordJob{Job: w.job}, Facts: FactsOf(r.order), Attempt: w.attempt, Provider: w.asked, Made: &update})
	}
}

// driveAndPost moves a courier on, and the callback about it arrives at once.
func (r *road) driveAndPost(t *rapid.T) {
	before := len(r.callbacks)
	r.drive(t)
	if len(r.callbacks) > before {
		n := r.callbacks[before]
		n.Facts = FactsOf(r.order)
		try(t, r.till, n)
	}
}

// callback has a callback arrive: one that was posted, or one that is wrong about the
// attempt and the provider.
func (r *road) callback(t *rapid.T) {
	n := drawn(t, r.callbacks, "callback")
	if n.Facts = FactsOf(r.order); rapid.IntRange(0, 9).Draw(t, "astray at 0") == 0 {
		n.Attempt = rapid.Int64Range(0, commerce.MaxDispatches+1).Draw(t, "attempt")
		n.Provider = rapid.SampledFrom([]string{"", "u", "v", "w"}).Draw(t, "by")
	}
	if len(r.deliveries) > 0 {
		try(t, r.till, n)
	}
}

// callOff is an attempt of the job that cancels a delivery.
func (r *road) callOff(t *rapid.T) {
	j := drawn(t, r.jobsOf(commerce.JobCancelDelivery), "cancelling")
	d := r.delivery()
	cmd := RecordDeliveryCancelled{RecordJob: RecordJob{Job: j, Delays: commerce.CancelDelays}, Facts: FactsOf(r.order), Attempt: d.Attempt}
	switch p := r.parcelOf(d.Provider, d.Attempt); {
	case !r.order.Stopped() && !d.Replacing:
	case d.State == commerce.DeliveryOver && !d.Unsure(), d.Provider == "":
		cmd.Cancelled = d.Status == commerce.CourierCancelled
	case rapid.IntRange(0, 3).Draw(t, "away at 0") == 0:
		cmd.Failed = errors.New("away")
	case p == nil:
	case p.update.Status.HasGoods():
		cmd.TooLate = "the goods are on their way"
	default:
		p.update.Status = commerce.CourierCancelled
		r.callbacks = append(r.callbacks, RecordCourierUpdate{Attempt: p.attempt, Provider: p.provider, Update: p.update})
		cmd.Cancelled, cmd.ProviderID = true, p.update.ID
		if rapid.Bool().Draw(t, "callback is faster") {
			n := r.callbacks[len(r.callbacks)-1]
			n.Facts = FactsOf(r.order)
			try(t, r.till, n)
		}
	}
	try(t, r.till, cmd)
}

// sendUpdate runs the job of a courier update once it is due. A job that has run may run
// again at any time, because another worker may have claimed it as well.
func (r *road) sendUpdate(t *rapid.T) {
	if again := rapid.IntRange(0, 3).Draw(t, "again at 0") == 0; again {
		try(t, r.till, SendCourierUpdate{Facts: FactsOf(r.order), Job: drawn(t, r.ran, "job that has run")})
		return
	}
	j := drawn(t, r.jobsOf(commerce.JobCourierUpdate), "courier update")
	r.till.now = max(r.till.now, j.RunAt)
	r.ran = append(r.ran, j.Key())
	try(t, r.till, SendCourierUpdate{Facts: FactsOf(r.order), Job: j.Key()})
}

// checkDelivery runs the job that asks the provider for a delivery.
func (r *road) checkDelivery(t *rapid.T) {
	j := drawn(t, r.jobsOf(commerce.JobCheckDelivery), "check")
	_, attempt, _ := commerce.ParseDeliveryRef(j.Subject)
	d := r.delivery()
	cmd := RecordCheck{Job: j, Record: RecordCourierUpdate{Facts: FactsOf(r.order), Attempt: attempt, Provider: d.Provider}}
	if p := r.parcelOf(d.Provider, attempt); p != nil && rapid.Bool().Draw(t, "answers") {
		update := p.update
		cmd.Update = &update
	}
	try(t, r.till, cmd)
}

// TestDeliveriesGoForward: partner, couriers, providers and processes act in a random
// order. No status goes back, no webhook is sent twice or too often, and a job exists for
// each delivery that is not over.
func TestDeliveriesGoForward(t *testing.T) {
	for range 5 { // the way to a second courier is long
		deliveriesGoForward(t)
	}
}

func deliveriesGoForward(t *testing.T) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		r := newRoad(t)
		facts := FactsOf(r.order)
		n := 0
		try(t, r.till, ConfirmOrder{Facts: facts, Actor: byPartner})
		r.mustMove(commerce.Paid, commerce.Processed)
		if rapid.Bool().Draw(t, "with courier") {
			r.bring(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"confirm": func(t *rapid.T) { try(t, r.till, ConfirmOrder{Facts: facts, Actor: byPartner}) },
			"cancel": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "cancel at 0") == 0 {
					try(t, r.till, CancelOrder{Facts: facts, Actor: byPartner})
				}
			},
			"refund": func(t *rapid.T) {
				if n++; rapid.IntRange(0, 9).Draw(t, "refund at 0") == 0 {
					try(t, r.till, RefundOrder{Facts: facts, Actor: byPartner, RefundID: fmt.Sprint("rfd_", n)})
				}
			},
			"another courier": func(t *rapid.T) {
				var d commerce.Delivery
				r.replaced++
				try(t, r.till, spy[commerce.Delivery]{DispatchAgain{Facts: facts, Actor: byStaff, Reason: "late"}, &d})
			},
			"request refund": func(t *rapid.T) { try(t, r.till, RequestRefund{Facts: facts, Actor: byStaff}) },
			"decline refund": func(t *rapid.T) { try(t, r.till, DeclineRefund{Facts: facts, Actor: byStaff}) },
			"refund job":     func(t *rapid.T) { r.run(t, drawn(t, r.jobsOf(commerce.JobRefund), "refund"), true, false) },
			"take":           r.take,
			"ask":            r.askProvider,
			"record":         r.record,
			"drive":          r.drive,
			"bring":          r.bring,
			"drive, posted":  r.driveAndPost,
			"callback":       r.callback,
			"more callback":  r.callback,
			"call off":       r.callOff,
			"send update":    r.sendUpdate,
			"check":          r.checkDelivery,
			"time":           func(t *rapid.T) { r.till.now += commerce.Millis(rapid.Int64Range(0, 40_000).Draw(t, "ms")) },
			"":               func(t *rapid.T) { r.check() },
		})
	})
}
