package command

import (
	"errors"
	"testing"

	"purveyor/internal/commerce"
)

func TestAskCourier(t *testing.T) {
	for _, c := range []struct {
		change
		attempt int64
		worker  string
	}{
		{change{"the first one", commerce.Processed, in("", unasked), "delivery 1 dispatching  u"}, 1, "me"},
		{change{"again", commerce.Processed, in("", dispatching), "delivery 1 dispatching  u"}, 1, "me"},
		{change{"after another one", commerce.Processed, in("", dispatching, func(d *commerce.Delivery) { d.Provider = "v" }), "delivery 1 dispatching  u"}, 1, "me"},
		{change{"made", commerce.Shipped, in(commerce.CourierPending), ""}, 1, "me"},
		{change{"another attempt", commerce.Processed, in("", dispatching, secondOne), ""}, 1, "me"},
		{change{"another worker's", commerce.Processed, in("", unasked), ""}, 1, "you"},
		{change{"cancelled", commerce.Cancelled, in("", dispatching), ""}, 1, "me"},
		{change{"refunded", commerce.Refunded, in("", unasked), ""}, 1, "me"},
	} {
		o := deliveryOrder(c.order)
		d := c.delivery(o)
		job := leased(commerce.JobDispatch, d.Ref())
		cmd := AskCourier{Facts: FactsOf(o), Job: job.LeasedTo(c.worker, now+10), Attempt: c.attempt, Provider: "u"}
		got, changes, err := decided(cmd, withDelivery(o, d, job), now)
		if s := summary(changes); err != nil || s != c.want || got.Go != (c.want != "") {
			t.Errorf("%s: %+v, %v\n%q, want\n%q", c.name, got, err, s, c.want)
		}
		if got.Go && (changes.Deliveries[0].UpdatedOn != now || got.AskedOn != changes.Deliveries[0].AskedOn || (got.AskedOn == now) == (d.Provider == "u")) {
			t.Errorf("%s: %+v, %+v", c.name, got, changes.Deliveries[0])
		}
	}
}

var madeByU = &CourierUpdate{ID: "d1", QuoteID: "q1", FeeCents: 500, Status: commerce.CourierPending}

const shippedByU = "order shipped, delivery 1 active pending u, delivery.created, delivery.shipped, POST delivery.created, POST order.shipped, " +
	"job check_delivery in 300 s, done, answered"

// madeCase is a test of what came of looking for a courier.
type madeCase struct {
	change
	made    *CourierUpdate
	refused string
	failed  string
	tries   int64
	worker  string // empty: me
	attempt int64  // 0: the first
	raised  string // the reason that is open before
}

var madeCases = []madeCase{
	{change: change{"made", commerce.Processed, in("", dispatching), shippedByU}, made: madeByU},
	{change: change{"made, with another worker's job", commerce.Processed, in("", dispatching), shippedByU}, made: madeByU, worker: "you"},
	{change: change{"made, and cancelled meanwhile", commerce.Cancelled, in("", dispatching),
		"order cancelled, delivery 1 active pending u, job cancel_delivery in 0 s, done, answered"}, made: madeByU},
	{change: change{"made, although cancelling has not found it", commerce.Cancelled, in("", givenUp),
		"order cancelled, delivery 1 active pending u, job cancel_delivery in 0 s, done, answered"}, made: madeByU},
	{change: change{"made, as a callback reported", commerce.Shipped, in(commerce.CourierAssigned), "done, answered"}, made: madeByU},
	{change: change{"made, as a callback reported without the quote", commerce.Shipped, in(commerce.CourierAssigned, func(d *commerce.Delivery) { d.QuoteID = "" }),
		"order shipped, delivery 1 active pickup u, done, answered"}, made: madeByU},
	{change: change{"made, and another attempt is under way", commerce.Shipped, in("", dispatching, secondOne), "done, answered"}, made: madeByU},
	{change: change{"made, and with its courier", commerce.Processed, in("", dispatching),
		"order shipped, delivery 1 active pickup u, delivery.created, delivery.shipped, delivery.courier_assigned, delivery.courier_update, " +
			"POST delivery.created, POST order.shipped, POST delivery.courier_update, job check_delivery in 300 s, done, answered"},
		made: &CourierUpdate{ID: "d1", Status: commerce.CourierAssigned}},
	{change: change{"refused", commerce.Processed, in("", dispatching),
		"order processed, raised not_dispatched, delivery 1 dispatching  , order.note, waiting after 1 tries, next in 5 s"}, refused: "no courier is free"},
	{change: change{"refused, as before", commerce.Processed, in("", dispatching, func(d *commerce.Delivery) { d.Error = "no courier is free" }),
		"delivery 1 dispatching  , waiting after 1 tries, next in 5 s"}, refused: "no courier is free"},
	{change: change{"refused for the last time", commerce.Processed, in("", dispatching),
		"order processed, raised not_dispatched, delivery 1 over  , order.note, dead after 10 tries, answered"}, refused: "no courier is free", tries: 9},
	{change: change{"refused, by a worker without the job", commerce.Processed, in("", dispatching), ""}, refused: "no courier is free", worker: "you"},
	{change: change{"refused, and cancelled meanwhile", commerce.Cancelled, in("", dispatching), "done, answered"}, refused: "no courier is free"},
	{change: change{"failed", commerce.Processed, in("", dispatching),
		"order processed, raised not_dispatched, delivery 1 dispatching  u, order.note, waiting after 1 tries, next in 5 s"}, failed: "timeout"},
	{change: change{"failed for the last time", commerce.Processed, in("", dispatching),
		"order processed, raised not_dispatched, delivery 1 over  u, order.note, dead after 10 tries, answered"}, failed: "timeout", tries: 9},
	{change: change{"failed, by a worker without the job", commerce.Processed, in("", dispatching), ""}, failed: "timeout", worker: "you"},
	{change: change{"the order no longer needs a courier", commerce.Cancelled, in("", unasked), "delivery 1 over  , done, answered"}},
	{change: change{"the job that cancels it ends it", commerce.Cancelled, in("", dispatching), "done, answered"}},
	{change: change{"no provider was asked", commerce.Processed, in("", unasked), "done, answered"}},
	{change: change{"made by another provider than the one that was given up", commerce.Processed, in("", givenUp, func(d *commerce.Delivery) { d.Provider = "v" }), "done, answered"}, made: madeByU},
	{change: change{"made, and a callback reported another one without its quote", commerce.Shipped, in(commerce.CourierAssigned, func(d *commerce.Delivery) { d.ProviderID, d.QuoteID = "d2", "" }),
		"done, answered"}, made: madeByU},
	{change: change{"made for an order that is shipped", commerce.Shipped, in("", dispatching, secondOne),
		"order shipped, resolved not_dispatched, delivery 2 active pending u, delivery.created, POST delivery.created, job check_delivery in 300 s, done, answered"},
		made: madeByU, attempt: 2, raised: "not_dispatched"},
	{change: change{"made, and given up by its courier at once", commerce.Processed, in("", dispatching),
		"order shipped, delivery 2 dispatching  , delivery.created, delivery.shipped, delivery.cancelled, POST delivery.created, POST order.shipped, POST delivery.cancelled, " +
			"job check_delivery in 300 s, job dispatch in 0 s, done, answered"},
		made: &CourierUpdate{ID: "d1", Status: commerce.CourierCancelled}},
	{change: change{"made, and given up by the courier of the last attempt", commerce.Processed, in("", dispatching, lastOne),
		"order shipped, raised courier_gave_up, delivery 4 over cancelled u, delivery.created, delivery.shipped, delivery.cancelled, order.note, POST delivery.created, POST order.shipped, " +
			"POST delivery.cancelled, job check_delivery in 300 s, done, answered"},
		made: &CourierUpdate{ID: "d1", Status: commerce.CourierCancelled}, attempt: 4},
	{change: change{"failed, and another attempt is under way", commerce.Shipped, in("", dispatching, secondOne), "done, answered"}, failed: "timeout"},
	{change: change{"failed, and none is looked for any more", commerce.Processed, in("", givenUp), "done, answered"}, failed: "timeout"},
	{change: change{"failed otherwise than before", commerce.Processed, in("", dispatching, func(d *commerce.Delivery) { d.Error = "timeout" }),
		"delivery 1 dispatching  u, waiting after 1 tries, next in 5 s"}, failed: "no route", raised: "not_dispatched"},
	{change: change{"refused otherwise than before", commerce.Processed, in("", dispatching, func(d *commerce.Delivery) { d.Error = "timeout" }),
		"order processed, raised not_dispatched, delivery 1 dispatching  , order.note, waiting after 1 tries, next in 5 s"}, refused: "no courier is free", raised: "not_dispatched"},
	{change: change{"failed for the last time, as before", commerce.Processed, in("", dispatching, func(d *commerce.Delivery) { d.Error = "timeout" }),
		"order processed, raised not_dispatched, delivery 1 over  u, order.note, dead after 10 tries, answered"}, failed: "timeout", tries: 9, raised: "not_dispatched"},
}

func TestRecordDelivery(t *testing.T) {
	for _, c := range madeCases {
		o := deliveryOrder(c.order)
		d := c.delivery(o)
		if d.Status == "" {
			o.CourierDeliveryID, o.CourierTrackingURL = "", ""
		}
		job := leased(commerce.JobDispatch, commerce.DeliveryRef(o.ID, 1))
		job.Tries = c.tries
		cmd := RecordDelivery{RecordJob: RecordJob{Job: job, Delays: commerce.DispatchDelays}, Facts: FactsOf(o), Attempt: max(c.attempt, 1), Provider: "u",
			Made: c.made, Refused: c.refused}
		if c.worker != "" {
			cmd.Job.LeasedBy = c.worker
		}
		if c.failed != "" {
			cmd.Failed = errors.New(c.failed)
		}
		d.TraceID, d.AskedOn = "t7", now-9
		before := withDelivery(o, d, job)
		before.Replies, before.Attention = []commerce.Reply{openReplyOf(job)}, raisedOn(o, c.raised)
		got, changes, err := decideAndClose(cmd, cmd.Job, before)
		if s := summary(changes); err != nil || s != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, s, c.want)
		}
		if c.made != nil && len(changes.Deliveries) > 0 && c.made.QuoteID != "" && (changes.Orders[0].CourierQuoteID != "q1" || changes.Deliveries[0].FeeCents != 500) {
			t.Errorf("%s: the quote is lost: %+v", c.name, changes.Deliveries[0])
		}
		for _, w := range changes.Webhooks {
			if w.TraceID != "t7" {
				t.Errorf("%s: an event of the trace %q", c.name, w.TraceID)
			}
		}
		if c.made == nil && len(changes.Deliveries) > 0 && (changes.Deliveries[0].AskedOn == 0) != (c.refused != "") {
			t.Errorf("%s: first asked at %d", c.name, changes.Deliveries[0].AskedOn)
		}
		for _, j := range changes.NewJobs {
			if j.Awaited {
				t.Errorf("%s: no call waits for %+v", c.name, j)
			}
		}
		if c.name == "made" && (got.Order.CourierDeliveryID != "d1" || got.Delivery.ProviderID != "d1") {
			t.Errorf("answered with %+v", got)
		}
	}
}

func TestRecordDeliveryCancelled(t *testing.T) {
	for _, c := range []struct {
		change
		cancelled bool
		tooLate   string
		failed    string
		tries     int64
		other     bool // the reply waits for another job
		closed    bool // the reply is closed already, with a refund
	}{
		{change: change{"cancelled", commerce.Cancelled, in(commerce.CourierAssigned), "delivery 1 over cancelled u, done, answered"}, cancelled: true},
		{change: change{"cancelled, by its name alone", commerce.Cancelled, in("", dispatching), "delivery 1 over cancelled u, done, answered"}, cancelled: true},
		{change: change{"cancelled, and a refund is awaited", commerce.Cancelled, in(commerce.CourierAssigned), "delivery 1 over cancelled u, done, amended"}, cancelled: true, other: true},
		{change: change{"cancelled, and a refund was faster", commerce.Cancelled, in(commerce.CourierAssigned), "delivery 1 over cancelled u, done, answered"}, cancelled: true, closed: true},
		{change: change{"it was never made", commerce.Cancelled, in("", dispatching), "delivery 1 over  u, done, answered"}},
		{change: change{"the courier has left with the goods", commerce.Cancelled, in(commerce.CourierEnRoute),
			"order cancelled, raised goods_with_courier, delivery 1 over cancelled u, order.note, done, answered"}, cancelled: true},
		{change: change{"it is over", commerce.Cancelled, in(commerce.CourierCancelled, over), "delivery 1 over cancelled u, done, answered"}, cancelled: true},
		{change: change{"too late", commerce.Cancelled, in(commerce.CourierLoaded), "order cancelled, raised goods_with_courier, order.note, done, answered"}, tooLate: "no"},
		{change: change{"failed", commerce.Cancelled, in(commerce.CourierAssigned), "waiting after 1 tries, next in 5 s"}, failed: "timeout"},
		{change: change{"failed for the last time", commerce.Cancelled, in(commerce.CourierAssigned),
			"order cancelled, raised courier_not_cancelled, order.note, dead after 9 tries, answered"}, failed: "timeout", tries: 8},
	} {
		o := deliveryOrder(c.order)
		d := c.delivery(o)
		job := leased(commerce.JobCancelDelivery, o.ID)
		job.Tries = c.tries
		cmd := RecordDeliveryCancelled{RecordJob: RecordJob{Job: job, Delays: commerce.CancelDelays}, Facts: FactsOf(o),
			Cancelled: c.cancelled, TooLate: c.tooLate}
		if c.cancelled {
			cmd.ProviderID = "d1"
		}
		if c.failed != "" {
			cmd.Failed = errors.New(c.failed)
		}
		before := withDelivery(o, d, job)
		before.Replies = []commerce.Reply{openReplyOf(job)}
		if c.other || c.closed {
			cmd.RefundID, before.Refunds = "rfd", []commerce.Refund{pendingRefund(commerce.RefundCancelled, 100)}
			before.Replies[0].Job.ID = map[bool]string{c.other: "job_2"}[true]
		}
		got, changes, err := decideAndClose(cmd, job, before)
		if s := summary(changes); err != nil || s != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, s, c.want)
		}
		if len(changes.Replies) > 0 && (got.Delivery.CalledOff != c.cancelled || (got.Refund != nil) != (cmd.RefundID != "") || got.Order.ID != o.ID) {
			t.Errorf("%s: answered with %+v", c.name, got)
		}
		if len(changes.Deliveries) > 0 && changes.Deliveries[0].CalledOff != c.cancelled {
			t.Errorf("%s: called off: %+v", c.name, changes.Deliveries[0])
		}
		if after := merge(before, changes); c.cancelled && after.Deliveries[0].ProviderID != "d1" {
			t.Errorf("%s: %+v", c.name, after.Deliveries[0])
		}
	}
}

// TestCancelWithDelivery: a courier that may be on the way is called off.
func TestCancelWithDelivery(t *testing.T) {
	const events = "order.cancelled, delivery.cancelled, POST order.cancelled, POST delivery.cancelled"
	for _, c := range []change{
		{"on the way to the store", commerce.Shipped, in(commerce.CourierAssigned), "order cancelled, delivery 1 active pickup u, " + events + ", job cancel_delivery in 0 s"},
		{"asked for", commerce.Processed, in("", dispatching), "order cancelled, delivery 1 dispatching  u, " + events + ", job cancel_delivery in 0 s"},
		{"given up, with an unknown outcome", commerce.Processed, in("", givenUp), "order cancelled, delivery 1 over  u, " + events + ", job cancel_delivery in 0 s"},
		{"before any call to a provider", commerce.Processed, in("", unasked), "order cancelled, delivery 1 over  , " + events},
		{"over", commerce.Shipped, in(commerce.CourierCancelled, over), "order cancelled, " + events},
	} {
		o := deliveryOrder(c.order)
		cmd := CancelOrder{Facts: FactsOf(o), Actor: byPartner}
		_, changes, err := decided(cmd, withDelivery(o, c.delivery(o)), now)
		if s := summary(changes); err != nil || s != c.want {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, s, c.want)
		}
		if len(changes.NewJobs) > 0 && !changes.NewJobs[0].Awaited {
			t.Errorf("%s: no job waits for the courier: %+v", c.name, changes)
		}
	}
}

func TestSendCourierUpdate(t *testing.T) {
	for _, c := range []struct {
		change
		gone bool
	}{
		{change{"unpublished", commerce.Shipped, in(commerce.CourierAssigned, unpublished), "order shipped, delivery 1 active pickup u, delivery.courier_update, POST delivery.courier_update, done"}, false},
		{change{"published by now", commerce.Shipped, in(commerce.CourierAssigned, publishedBefore), "done"}, false},
		{change{"over by now", commerce.Delivered, in(commerce.CourierDone, unpublished, over), "delivery 1 over delivered u, done"}, false},
		{change{"done by another worker", commerce.Shipped, in(commerce.CourierAssigned, unpublished), ""}, true},
	} {
		o := deliveryOrder(c.order)
		job := leased(commerce.JobCourierUpdate, o.ID)
		d := c.delivery(o)
		d.TraceID = "t7"
		before := withDelivery(o, d, job)
		if c.gone {
			before.Jobs = nil
		}
		cmd := SendCourierUpdate{Facts: FactsOf(o), Job: job.Key()}
		published, changes, err := decided(cmd, before, now)
		if s := summary(changes); err != nil || s != c.want || published != (len(changes.Webhooks) == 1) {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, s, c.want)
		}
		for _, w := range changes.Webhooks {
			if w.TraceID != "t7" {
				t.Errorf("%s: an event of the trace %q", c.name, w.TraceID)
			}
		}
	}
}

func TestRecordCheck(t *testing.T) {
	silent := func(d *commerce.Delivery) { d.HeardOn = now.Add(-commerce.CheckEvery) }
	for _, c := range []struct {
		change
		due    bool
		update commerce.CourierStatus // empty: it does not answer
		worker string                 // empty: me
	}{
		{change{"heard of lately", commerce.Shipped, in(commerce.CourierAssigned), "waiting after 0 tries, next in 299 s"}, false, "", ""},
		{change{"silent, and does not answer", commerce.Shipped, in(commerce.CourierAssigned, silent), "waiting after 0 tries, next in 150 s"}, true, "", ""},
		{change{"silent, and nothing new", commerce.Shipped, in(commerce.CourierAssigned, silent), "delivery 1 active pickup u, waiting after 0 tries, next in 300 s"}, true, commerce.CourierAssigned, ""},
		{change{"delivered", commerce.OutForDelivery, in(commerce.CourierEnRoute, silent),
			"order delivered, delivery 1 over delivered u, delivery.delivered, POST order.delivered, POST delivery.delivered, done"}, true, commerce.CourierDone, ""},
		{change{"gave up", commerce.Shipped, in(commerce.CourierAssigned, silent),
			"order shipped, delivery 2 dispatching  , delivery.cancelled, POST delivery.cancelled, job dispatch in 0 s, done"}, true, commerce.CourierCancelled, ""},
		{change{"over by now", commerce.Delivered, in(commerce.CourierDone, silent, over), "done"}, false, "", ""},
		{change{"of the attempt before", commerce.Shipped, in(commerce.CourierAssigned, silent, secondOne), "done"}, false, "", ""},
		{change{"another worker's by now", commerce.Shipped, in(commerce.CourierAssigned, silent), ""}, true, commerce.CourierDone, "you"},
	} {
		o := deliveryOrder(c.order)
		d := c.delivery(o)
		job := leased(commerce.JobCheckDelivery, commerce.DeliveryRef(o.ID, 1))
		cmd := RecordCheck{Job: job, Record: RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u"}}
		if c.worker != "" {
			cmd.Job.LeasedBy = c.worker
		}
		if cmd.Due(d, now) != c.due {
			t.Errorf("%s: due %v, want %v", c.name, !c.due, c.due)
		}
		if c.update != "" {
			cmd.Update = &CourierUpdate{ID: "d1", Status: c.update}
		}
		got, changes, err := decided(cmd, withDelivery(o, d, job), now)
		if s := summary(changes); err != nil || s != c.want || (got.Order.ID != o.ID) != (c.worker != "") {
			t.Errorf("%s: %v\n%s, want\n%s", c.name, err, s, c.want)
		}
	}
}

// TestRefundKeepsFlags: a reason about a courier that only the merchant can resolve is not
// resolved by the refund of the order.
func TestRefundKeepsFlags(t *testing.T) {
	for flag, want := range map[string]string{"goods_with_courier": "goods_with_courier", "courier_not_cancelled": "courier_not_cancelled",
		"two_couriers": "two_couriers", "refund_due": "", "not_dispatched": ""} {
		o, r, run := orderIn(commerce.Cancelled, commerce.ByDelivery, false), pendingRefund(commerce.RefundAsked, 300), payJob(commerce.JobRefund, "rfd", 0)
		before := refunding(o, r, run)
		before.Attention = raisedOn(o, flag)
		cmd := recordRefund(o, r, run)
		_, changes, err := decided(cmd, before, now)
		if err != nil || changes.Orders[0].Status != commerce.Refunded || openCodes(merge(before, changes).Attention) != want {
			t.Errorf("%s: %+v, %v; want %q", flag, changes.Orders, err, want)
		}
	}
}
