package certify

import (
	"slices"
	"time"

	"purveyor/internal/commerce"
)

// stages are the script.
var stages = slices.Concat(callStages, mannerStages, webhookStages, storyStages, repairStages)

// keyed are the operations that need an Idempotency-Key. A call that is repeated without a key sells, refunds or counts
// goods once more.
var keyed = []string{"reportOrder", "createCheckoutSession", "cancelOrder", "refundOrder", "adjustInventory"}

var callStages = []stage{
	{group: Calls, number: 1, before: fault(commerce.FaultLostAnswer, "reportOrder", 1), task: report(1), look: seesLostAnswer,
		late: map[string]string{"same_key_after_lost_answer": "The answer to the report of {order} was lost, and the call was not made again"}},
	{group: Calls, number: 2, before: fault(commerce.FaultExtraField, "reportOrder", 1), task: report(2), look: func(v *view) bool {
		list := v.calls("reportOrder", 2)
		for _, q := range list {
			v.decide("new_key_for_new_order", q.Key != "" && !slices.ContainsFunc(v.calls("reportOrder", 1), func(before Request) bool { return before.Key == q.Key }),
				"The report of {order} had the key of another order, or none", q)
		}
		return slices.ContainsFunc(list, Request.ok)
	}, late: map[string]string{"new_key_for_new_order": "Order {order} was not reported", "unknown_fields": "Order {order} was not reported"}},
	{group: Calls, number: 2, task: cancel(2), look: cancelled(2, "unknown_fields"),
		late: map[string]string{"unknown_fields": "The answer to the report of {order} had a field that is not documented, and the order was not cancelled afterwards"}},
	{group: Calls, number: 3, before: fault(commerce.FaultNewValue, "reportOrder", 1), task: report(3), look: reported(3),
		late: map[string]string{"unknown_values": "Order {order} was not reported"}},
	{group: Calls, number: 3, task: cancel(3), look: cancelled(3, "unknown_values"),
		late: map[string]string{"unknown_values": "The answer to the report of {order} had a status that is not documented, and the order was not cancelled afterwards"}},
	{group: Calls, number: 4, before: fault(commerce.FaultLostAnswer, "createCheckoutSession", 1), task: checkout(4), look: seesOneOrder,
		late: map[string]string{"no_doubles": "The answer to the checkout of {order} was lost, and the call was not made again"}},
	{group: Calls, look: func(v *view) bool {
		var without []Request
		for _, q := range v.Requests {
			if slices.Contains(keyed, q.Operation) && q.Key == "" {
				without = append(without, q)
			}
		}
		v.decide("idempotency_key", len(without) == 0, "Calls had no Idempotency-Key", without...)
		return true
	}},
}

func fault(kind commerce.FaultKind, operation string, calls int64) func(Run) []Act {
	return func(Run) []Act { return []Act{{Fault: kind, Operation: operation, Calls: calls}} }
}

func seesLostAnswer(v *view) bool {
	list := v.calls("reportOrder", v.stage.number)
	if len(list) < 2 {
		return false
	}
	same := list[0].Key != "" && !slices.ContainsFunc(list, func(q Request) bool { return q.Key != list[0].Key })
	v.decide("same_key_after_lost_answer", same, "The report of {order} was made again with another key, or without one", list...)
	return true
}

func reported(n int) func(*view) bool {
	return func(v *view) bool { return slices.ContainsFunc(v.calls("reportOrder", n), Request.ok) }
}

func cancelled(n int, check string) func(*view) bool {
	return func(v *view) bool {
		o, there := v.order(n)
		if there = there && o.Status == commerce.Cancelled; there {
			v.settle(check, CheckPassed, "", v.calls("cancelOrder", n))
		}
		return there
	}
}

// seesOneOrder looks at what the checkouts of one order have made.
func seesOneOrder(v *view) bool {
	list := v.since("createCheckoutSession")
	made, answered := map[string]bool{}, 0
	for _, q := range list {
		if q.ok() && q.OrderID != "" {
			made[q.OrderID], answered = true, answered+1
		}
	}
	if answered < 2 {
		return false
	}
	v.decide("no_doubles", len(made) == 1, "The checkout of {order} was started again as another order, so it can be paid twice", list...)
	return true
}

var mannerStages = []stage{
	{group: Manners, number: 5, before: fault(commerce.FaultLimited, "reportOrder", 2), task: report(5), look: seesLimits,
		late: map[string]string{"rate_limited": "The report of {order} was refused with 429, and not made again until it was accepted",
			"retry_after": "The report of {order} was refused with 429, and not made again until it was accepted"}},
	{group: Manners, before: fault(commerce.FaultShortPage, "listProducts", shortPages), task: sync("all", "Sync the whole catalog."), look: seesPages,
		late: map[string]string{"cursors": "The pages of the products were not read to the last one"}},
	{group: Manners, task: sync("changes", "Sync the catalog again."), look: func(v *view) bool {
		list := v.since("listProducts")
		if len(list) == 0 {
			return false
		}
		v.decide("updated_since", list[0].asks("updated_since"), "The second sync read the whole catalog again", list[0])
		return true
	}, late: map[string]string{"updated_since": "The catalog was not synced again"}},
	{group: Manners, look: func(v *view) bool {
		v.seePolls()
		v.seeConnections()
		return true
	}},
}

// mostReports is how often a report may be made that is refused twice.
const mostReports = 6

// seesLimits looks at all reports of its time: of those that are refused so early, the log has no body.
func seesLimits(v *view) bool {
	list := v.since("reportOrder")
	if len(list) == 0 || !list[len(list)-1].ok() {
		return false
	}
	refused, early := 0, false
	for i, q := range list[:len(list)-1] {
		if q.Status == 429 {
			refused++
			early = early || list[i+1].began() < q.At.Add(time.Duration(q.RetryAfter)*time.Second-clockRoom)
		}
	}
	v.decide("rate_limited", refused > 0 && len(list) <= mostReports, "The report of {order} was made too often", list...)
	v.decide("retry_after", refused > 0 && !early, "A call that was refused with 429 was made again before the time in Retry-After was over", list...)
	return true
}

// clockRoom is what a wait may be shorter, because both sides measure it.
const clockRoom = 200 * time.Millisecond

// The first pages of the sync have so many products that there is more than one page.
const (
	shortPages = 4
	PageOfSync = 2
)

func seesPages(v *view) bool {
	further := min(shortPages, (v.Products+PageOfSync-1)/PageOfSync-1)
	if further < 1 {
		v.settle("cursors", CheckSkipped, "The partner can read so few products that they are one page", nil)
		return len(v.since("listProducts")) > 0
	}
	met := map[string]bool{}
	list := v.since("listProducts")
	for _, q := range list {
		if q.ok() && q.asks("cursor") {
			met[q.Target] = true
		}
	}
	if len(met) < further {
		return false
	}
	v.settle("cursors", CheckPassed, "", list)
	return true
}

// polled are the operations that tell how an order, or all of them, stand.
var polled = []string{"getOrder", "getOrderByExternalId", "getOrderTracking", "getDriverLocation", "pingOrder", "getOrderTimeline", "listEvents", "listOrders"}

// leastPoll is the time between two polls (SPEC, Tracking), less what the way to the service may take longer for the
// first than for the second.
const leastPoll = 4 * time.Second

func (v *view) seePolls() {
	last := map[string]Request{}
	var early []Request
	for _, q := range v.Requests {
		if !slices.Contains(polled, q.Operation) {
			continue
		}
		if before, again := last[q.Target]; again && before.ok() && q.began() < before.began().Add(leastPoll) {
			early = append(early, q)
		}
		last[q.Target] = q
	}
	v.decide("polls_apart", len(early) == 0, "The same was asked again within less than five seconds", early...)
}

// fewCalls tell nothing of connections.
const fewCalls = 6

func (v *view) seeConnections() {
	met, known := map[string]bool{}, 0
	for _, q := range v.Requests {
		if q.Connection != "" {
			met[q.Connection], known = true, known+1
		}
	}
	if known < fewCalls {
		v.settle("kept_connections", CheckSkipped, "Too few calls came directly to this service to tell", nil)
		return
	}
	v.decide("kept_connections", len(met) <= known*2/3, "Nearly every call was made over a new connection")
}
