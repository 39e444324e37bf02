package certify

import (
	"fmt"
	"slices"
	"time"

	"purveyor/internal/commerce"
)

const noWebhook = "No webhook about {order} was answered with 200 at the endpoint"

var webhookStages = []stage{
	{group: Webhooks, number: 6, task: report(6), gate: true, look: func(v *view) bool {
		return slices.ContainsFunc(v.events(6), Event.delivered)
	}, late: map[string]string{"wrong_signature": noWebhook, "old_time": noWebhook, "replayed_webhook": noWebhook, "duplicate_webhook": noWebhook,
		"disorder": noWebhook, "five_seconds": noWebhook}},
	{group: Webhooks, number: 6, look: forges},
	{group: Webhooks, number: 7, post: PostLate, task: report(7), look: func(v *view) bool {
		o, there := v.order(7)
		return there && v.do(Act{Do: "merchant_cancel", OrderID: o.ID}) && v.allDelivered(7, 2)
	}, late: map[string]string{"disorder": "The events of {order} were not answered with 200"}},
	{group: Webhooks, look: seesBooksOfWebhooks, wait: booksPatience, late: map[string]string{"wrong_signature": noBooks, "old_time": noBooks,
		"replayed_webhook": "The books do not have the event once", "duplicate_webhook": "The books do not have the event once", "disorder": "The books do not have both events and the status of the newer one"}},
}

// booksPatience is the least time that is left for the books to have all events: some poll the feed seldom.
const booksPatience = 90 * time.Second

// courierPatience is the least time for a courier to be found, and to give up: steps of this service
// more than of the partner.
const courierPatience = 90 * time.Second

const noBooks = "The books were not told: POST /v1/certify/ack"

// allDelivered reports whether the order has so many events, and each was answered with 200.
func (v *view) allDelivered(n, least int) bool {
	list := v.events(n)
	return len(list) >= least && !slices.ContainsFunc(list, func(e Event) bool { return !e.delivered() })
}

// forges sends webhooks that are not as they should be, about the first event of the stage's order.
func forges(v *view) bool {
	event := v.events(v.stage.number)[0]
	for _, f := range []Forgery{WrongSignature, OldTime, Replay, Duplicate} {
		if !v.do(Act{Forge: f, EventID: event.ID}) {
			return false
		}
	}
	took := func(f Forgery) bool { return v.Forged[f].Status/100 == 2 }
	if took(WrongSignature) {
		v.fail("wrong_signature", "A webhook that another secret had signed was answered with "+fmt.Sprint(v.Forged[WrongSignature].Status))
	}
	if took(OldTime) {
		v.fail("old_time", "A webhook that was signed ten minutes before was answered with "+fmt.Sprint(v.Forged[OldTime].Status))
	}
	if s := v.Forged[Replay].Status; s == 0 || s/100 == 5 {
		v.fail("replayed_webhook", fmt.Sprintf("The second of two equal webhooks was answered with %d", s))
	}
	if !took(Duplicate) {
		v.fail("duplicate_webhook", fmt.Sprintf("An event that came again was answered with %d, so it will come again and again", v.Forged[Duplicate].Status))
	}
	return true
}

// askBooks asks what the books have, until all of the events are in them. It reports whether they were told
// in this stage, and whether they have all.
func (v *view) askBooks(events []Event) (told, all bool) {
	if len(v.Tasks) == 0 || v.Tasks[0].ID != v.ack().ID {
		v.Tasks = []Task{v.ack()}
	}
	if _, began := v.Marks["ack"]; !began {
		v.Marks["ack"] = int64(v.AckNo)
	}
	told = int64(v.AckNo) > v.Marks["ack"]
	return told, told && !slices.ContainsFunc(events, func(e Event) bool { return v.Books[e.ID] == 0 })
}

func seesBooksOfWebhooks(v *view) bool {
	event, two := v.events(6)[0], v.events(7)
	told, all := v.askBooks(append([]Event{event}, two...))
	if !told {
		return false
	}
	for check, f := range map[string]Forgery{"wrong_signature": WrongSignature, "old_time": OldTime} {
		v.decide(check, v.Books[v.Forged[f].EventID] == 0, "A webhook that must be refused is in the books")
	}
	if n := v.Books[event.ID]; n > 0 {
		message := fmt.Sprintf("The books have the event %s %d times", event.ID, n)
		v.decide("replayed_webhook", n == 1, message)
		v.decide("duplicate_webhook", n == 1, message)
	}
	slow := ""
	for _, list := range v.Seen.Events {
		for _, e := range list {
			for _, a := range e.Tries {
				if time.Duration(a.TookMs)*time.Millisecond >= answerTime {
					slow = fmt.Sprintf("The webhook %s was answered after %d ms", e.ID, a.TookMs)
				}
			}
		}
	}
	v.decide("five_seconds", slow == "", slow)
	if !all {
		return false
	}
	o, _ := v.order(7)
	status, named := v.Statuses[o.ID]
	switch {
	case !named:
		return false // "orders" may come with the next ack
	case status != string(commerce.Cancelled):
		v.fail("disorder", fmt.Sprintf("Order %s was cancelled, and the books have %q, which is older", v.number(7), status))
	}
	v.settle("disorder", CheckPassed, "", nil)
	return true
}

// answerTime is how long an endpoint may take (SPEC, Webhooks).
const answerTime = 5 * time.Second

var storyStages = []stage{
	{group: Stories, number: 8, task: checkout(8), look: func(v *view) bool {
		o, paid := v.pays(8)
		if paid = paid && o.Status == commerce.Processed; paid {
			v.settle("paid", CheckPassed, "", v.calls("confirmOrder", 8))
		}
		return paid
	}, late: map[string]string{"paid": "Order {order} was paid, and not confirmed"}},
	{group: Stories, number: 9, before: fault(commerce.FaultStock, "confirmOrder", 1), task: checkout(9), look: func(v *view) bool {
		o, paid := v.pays(9)
		stopped := o.Status == commerce.Cancelled || o.Status == commerce.Refunded
		if !paid || !stopped && o.Status != commerce.Processed {
			return false
		}
		v.decide("short_stock", stopped, "Order {order} was refused for want of stock, and confirmed again", v.calls("confirmOrder", 9)...)
		return true
	}, late: map[string]string{"short_stock": "Order {order} was paid and refused for want of stock, and not cancelled"}},
	{group: Stories, number: 10, task: report(10), look: func(v *view) bool {
		o, there := v.order(10)
		_, happened := v.happened(10, commerce.WebhookCancelled)
		return there && v.do(Act{Do: "merchant_cancel", OrderID: o.ID}) && happened
	}, late: map[string]string{"merchant_cancels": "Order {order} was not reported"}},
	{group: Stories, number: 11, task: reportDelivery(11), skip: func(r Run) string {
		if r.Goods.DeliveryStore == "" {
			return "No store that the partner may use delivers"
		}
		return ""
	}, look: func(v *view) bool {
		o, there := v.order(11)
		_, sent := v.happened(11, commerce.WebhookDeliveryCreated)
		_, happened := v.happened(11, commerce.WebhookDeliveryCancelled)
		return there && sent && v.do(Act{Do: "courier_cancel", OrderID: o.ID}) && happened
	}, wait: courierPatience, late: map[string]string{"courier_gives_up": "Order {order} was not reported for delivery"}},
	{group: Stories, number: 8, task: refund(8), look: func(v *view) bool {
		o, _ := v.order(8)
		list := v.calls("refundOrder", 8)
		if back := int64(o.RefundedCents); !slices.ContainsFunc(list, Request.ok) || back == 0 {
			return false
		}
		v.decide("partial_refund", int64(o.RefundedCents) == v.refundCents(), fmt.Sprintf("%d cents of {order} were given back, and not %d", o.RefundedCents, v.refundCents()), list...)
		return true
	}, late: map[string]string{"partial_refund": "The money was not refunded", "refund_fails_later": "The money was not refunded, so nothing could fail"}},
	{group: Stories, number: 8, skip: func(r Run) string {
		if r.Orders[r.number(8)] == "" {
			return "There is no refund that could fail"
		}
		return ""
	}, look: func(v *view) bool {
		o, _ := v.order(8)
		_, happened := v.happened(8, commerce.WebhookRefundFailed)
		return o.ID != "" && v.do(Act{Do: "refund_fail", OrderID: o.ID}) && happened
	}, late: map[string]string{"refund_fails_later": "There was no refund that could fail"}},
	{group: Stories, wait: booksPatience, look: seesBooksOfStories, late: map[string]string{
		"merchant_cancels":   "The books do not have the event order.cancelled, or not the status cancelled",
		"courier_gives_up":   "The books do not have the event delivery.cancelled",
		"refund_fails_later": "The books do not have the event order.refund_failed"}},
}

// pays has the customer of a checkout pay, and returns the order once that is done.
func (v *view) pays(n int) (commerce.Order, bool) {
	if v.Run.Orders[v.number(n)] == "" {
		for _, q := range v.since("createCheckoutSession") {
			if q.ok() && q.OrderID != "" {
				v.Run.Orders[v.number(n)] = q.OrderID
			}
		}
	}
	o, there := v.order(n)
	return o, there && v.do(Act{Do: "pay", OrderID: o.ID})
}

func seesBooksOfStories(v *view) bool {
	all := true
	for _, story := range []struct {
		check  string
		number int
		kind   commerce.WebhookKind
		status commerce.OrderStatus // that the books must have, if they name one; empty: any
	}{{"merchant_cancels", 10, commerce.WebhookCancelled, commerce.Cancelled}, {"courier_gives_up", 11, commerce.WebhookDeliveryCancelled, ""},
		{"refund_fails_later", 8, commerce.WebhookRefundFailed, ""}} {
		event, happened := v.happened(story.number, story.kind)
		if !happened {
			continue
		}
		told, has := v.askBooks([]Event{event})
		status, named := v.Statuses[v.Run.Orders[v.number(story.number)]]
		if has = told && has && (story.status == "" || !named || status == string(story.status)); has {
			v.settle(story.check, CheckPassed, "", nil)
		}
		all = all && has
	}
	return all
}

// repairs are the orders of the group, by their checks.
var repairs = []struct {
	check  string
	number int
	post   Post
}{{"endpoint_down", 12, PostDown}, {"endpoint_slow", 13, PostSlow}, {"endpoint_failing", 14, PostFailing}, {"late_events", 15, PostLate},
	{"doubled_events", 16, PostDoubled}, {"feed_only", 17, PostNever}}

var repairStages = append(reportsOfRepair(), stage{group: Repair, wait: booksPatience, look: seesRepair, late: map[string]string{
	"endpoint_down": "The books do not have all events once", "endpoint_slow": "The books do not have all events once",
	"endpoint_failing": "The books do not have all events once", "late_events": "The books do not have all events once",
	"doubled_events": "The books do not have all events once", "feed_only": "The books do not have an event that only the feed has"}})

func reportsOfRepair() (list []stage) {
	for _, r := range repairs {
		s := stage{group: Repair, number: r.number, post: r.post, task: report(r.number), look: func(v *view) bool {
			o, there := v.order(r.number)
			return there && (r.post != PostLate || v.do(Act{Do: "merchant_cancel", OrderID: o.ID}))
		}, late: map[string]string{r.check: "Order {order} was not reported"}}
		list = append(list, s)
	}
	return list
}

// seesRepair asks the books once every event has been delivered as often as it will be: what comes twice
// could still come.
func seesRepair(v *view) bool {
	var events []Event
	for _, r := range repairs {
		list := v.events(r.number)
		if r.post != PostNever && slices.ContainsFunc(list, func(e Event) bool { return !e.delivered() }) {
			return false
		}
		events = append(events, list...)
	}
	told, all := v.askBooks(events)
	if !told {
		return false
	}
	for _, r := range repairs {
		list, whole := v.events(r.number), true
		for _, e := range list {
			if n := v.Books[e.ID]; n > 1 {
				v.fail(r.check, fmt.Sprintf("The books have the event %s %d times", e.ID, n))
			}
			whole = whole && v.Books[e.ID] == 1
		}
		if whole && len(list) > 0 {
			v.settle(r.check, CheckPassed, "", nil)
		}
	}
	return all
}
