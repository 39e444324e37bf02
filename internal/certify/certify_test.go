package certify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// integration is one that does all that it should, except for its flaw. It lives in the moment: what it is
// asked for is done before the next step.
type integration struct {
	t      *testing.T
	flaw   string
	run    Run
	now    commerce.Millis
	seen   Seen
	done   map[string]bool // tasks
	fault  Act
	books  []string
	events int
	conns  int
}

const hour = commerce.Millis(3_600_000)

func open(t *testing.T, flaw string, groups ...Group) *integration {
	goods := Goods{StoreID: "s", Items: []Item{{"p", 1, 100}}, DeliveryStore: "s", DeliveryItems: []Item{{"p", 1, 100}}, Address: &Address{}}
	return &integration{t: t, flaw: flaw, run: New("run_12345678", "ptn_1", groups, goods, "ptn_1", "https://p.example/", hour), now: hour, done: map[string]bool{},
		seen: Seen{Products: ManyProducts, Orders: map[string]commerce.Order{}, Events: map[string][]Event{}}}
}

func (i *integration) is(flaw string) bool { return i.flaw == flaw }

// play plays the whole script, a second at a time.
func (i *integration) play() Run {
	for range 3 * 3600 {
		if i.run.Over() {
			return i.run
		}
		i.now += 1000
		var acts []Act
		i.run, acts = Step(i.run, i.seen, i.now)
		for _, a := range acts {
			i.run = i.run.Did(a, i.act(a))
		}
		if len(acts) > 0 {
			continue
		}
		for _, task := range i.run.Tasks {
			if !i.done[task.ID] {
				i.done[task.ID] = true
				i.do(task)
			}
		}
	}
	i.t.Fatalf("stage %d does not end", i.run.Stage)
	return i.run
}

// called notes a call.
func (i *integration) called(operation, target, key, external, order string, status int) {
	if i.is("a connection a call") || i.conns == 0 {
		i.conns++
	}
	if i.is("no keys") {
		key = ""
	}
	i.seen.Requests = append(i.seen.Requests, Request{At: i.now + 1, Took: time.Millisecond, Operation: operation, Target: target, Status: status, Key: key,
		ExternalID: external, OrderID: order, RetryAfter: 2, TraceID: fmt.Sprint("trace-", len(i.seen.Requests)), Connection: fmt.Sprint(i.conns)})
}

// takes counts a call that the fault hits.
func (i *integration) takes(kind commerce.FaultKind, operation string) bool {
	if i.fault.Fault != kind || i.fault.Operation != operation || i.fault.Calls == 0 {
		return false
	}
	i.fault.Calls--
	return true
}

func (i *integration) do(task Task) {
	key := task.ID
	switch task.Do {
	case "report", "checkout":
		i.place(task, key)
	case "cancel":
		if o, there := i.seen.Orders[task.Order]; there && !(i.is("trips over a field") && strings.HasSuffix(task.Order, "-2")) && !(i.is("trips over a value") && strings.HasSuffix(task.Order, "-3")) {
			i.called("cancelOrder", "/cancel", key, "", o.ID, 200)
			i.moves(task.Order, commerce.Cancelled, commerce.WebhookCancelled)
		}
	case "refund":
		o := i.seen.Orders[task.Order]
		if o.RefundedCents = commerce.Cents(task.Body.AmountCents); i.is("refunds twice") {
			o.RefundedCents *= 2
		}
		i.seen.Orders[task.Order] = o
		i.called("refundOrder", "/refund", key, "", o.ID, 202)
	case "sync":
		target := "/v1/products?limit=100"
		if strings.HasSuffix(task.ID, "changes") && !i.is("syncs all") {
			target += "&updated_since=5"
		}
		i.called("listProducts", target, "", "", "", 200)
		for n := 1; n < 5 && !i.is("one page"); n++ {
			i.called("listProducts", fmt.Sprint(target, "&cursor=", n), "", "", "", 200)
		}
	case "ack":
		statuses := map[string]string{}
		for _, o := range i.seen.Orders {
			statuses[o.ID] = string(o.Status)
			if i.is("moves back") {
				statuses[o.ID] = "processed"
			}
		}
		i.run = i.run.Ack(i.books, statuses)
	}
}

func (i *integration) place(task Task, key string) {
	operation := map[string]string{"report": "reportOrder", "checkout": "createCheckoutSession"}[task.Do]
	if i.is("one key") && task.Do == "report" {
		key = "always"
	}
	id := "ord_" + task.Order
	for i.takes(commerce.FaultLimited, operation) {
		i.called(operation, "/", key, task.Body.ExternalOrderID, "", 429)
		if i.now += 2000; i.is("hurries") {
			i.now -= 1900
		}
		if i.is("gives up") {
			return
		}
	}
	tries := 1
	if i.takes(commerce.FaultLostAnswer, operation) {
		tries = 2
	}
	for n := range tries {
		if i.is("forgets") && n > 0 {
			return
		}
		if i.is("new key") && n > 0 {
			key += " again"
		}
		made := id
		if i.is("two checkouts") && n > 0 && task.Do == "checkout" {
			made += " again"
		}
		i.called(operation, "/", key, task.Body.ExternalOrderID, made, 201)
	}
	i.seen.Orders[task.Order] = commerce.Order{ID: id, Status: commerce.PendingPayment}
	if task.Do == "report" {
		i.moves(task.Order, commerce.Processed, commerce.WebhookAccepted)
	}
	if task.Body.Fulfillment == "delivery" {
		i.happens(task.Order, commerce.WebhookDeliveryCreated)
	}
}

func (i *integration) moves(number string, to commerce.OrderStatus, kind commerce.WebhookKind) {
	o := i.seen.Orders[number]
	o.Status = to
	i.seen.Orders[number] = o
	i.happens(number, kind)
}

// happens sends an event as the run wants it.
func (i *integration) happens(number string, kind commerce.WebhookKind) {
	i.events++
	id := fmt.Sprint("evt_", i.events)
	post := i.run.PostOf(number)
	e := Event{ID: id, Kind: kind, Tries: []commerce.WebhookAttempt{{Status: 200, TookMs: 30}}}
	if i.is("slow answers") {
		e.Tries[0].TookMs = 5001
	}
	if i.is("answers nothing") {
		e.Tries[0] = commerce.WebhookAttempt{Error: "refused"}
	}
	if post == PostNever {
		e.Tries = nil
	}
	i.seen.Events[number] = append(i.seen.Events[number], e)
	if i.is("loses "+string(post)) || i.is("loses "+string(kind)) || post == PostNever && i.is("no feed") {
		return
	}
	i.books = append(i.books, id)
	if twice := post == PostSlow || post == PostFailing || post == PostDoubled; twice && i.is("doubles "+string(post)) {
		i.books = append(i.books, id)
	}
}

func (i *integration) act(a Act) Forged {
	if a.Fault != "" {
		i.fault = a
	}
	number := strings.TrimPrefix(a.OrderID, "ord_")
	switch a.Do {
	case "merchant_cancel":
		i.moves(number, commerce.Cancelled, commerce.WebhookCancelled)
	case "courier_cancel":
		i.happens(number, commerce.WebhookDeliveryCancelled)
	case "refund_fail":
		i.happens(number, commerce.WebhookRefundFailed)
	case "pay":
		i.moves(number, commerce.Paid, commerce.WebhookPaid)
		switch short := i.takes(commerce.FaultStock, "confirmOrder"); {
		case short && !i.is("confirms again"):
			if !i.is("keeps the money") {
				i.moves(number, commerce.Cancelled, commerce.WebhookCancelled)
			}
		case !i.is("no confirmation"):
			i.moves(number, commerce.Processed, commerce.WebhookProcessed)
		}
	}
	switch a.Forge {
	case WrongSignature, OldTime:
		forged := Forged{"evt_" + string(a.Forge), 400}
		if i.is("takes " + string(a.Forge)) {
			forged.Status = 200
		}
		if i.is("keeps " + string(a.Forge)) {
			i.books = append(i.books, forged.EventID)
		}
		return forged
	case Replay, Duplicate:
		forged := Forged{a.EventID, 200}
		if i.is("doubles " + string(a.Forge)) {
			i.books = append(i.books, a.EventID)
		}
		if i.is("fails at " + string(a.Forge)) {
			forged.Status = 500
		}
		return forged
	}
	return Forged{}
}

// TestScript: an integration without a flaw passes, and each flaw is found by the check that is for it,
// and by no check of another group.
func TestScript(t *testing.T) {
	if run := open(t, "").play(); run.State != Passed || len(run.Checks) != 30 || !run.Whole() || len(run.Tasks) != 0 {
		t.Fatalf("%s: %+v", run.State, run.Checks)
	}
	found := map[string]bool{}
	for flaw, want := range map[string]string{
		"no keys": "idempotency_key", "new key": "same_key_after_lost_answer", "forgets": "same_key_after_lost_answer", "one key": "new_key_for_new_order",
		"two checkouts": "no_doubles", "trips over a field": "unknown_fields", "trips over a value": "unknown_values",
		"gives up": "rate_limited", "hurries": "retry_after", "syncs all": "updated_since", "one page": "cursors", "a connection a call": "kept_connections",
		"takes wrong_signature": "wrong_signature", "keeps wrong_signature": "wrong_signature", "takes old_time": "old_time", "keeps old_time": "old_time",
		"doubles replay": "replayed_webhook", "fails at replay": "replayed_webhook", "doubles duplicate": "duplicate_webhook", "fails at duplicate": "duplicate_webhook",
		"moves back": "disorder", "loses late": "disorder", "slow answers": "five_seconds", "answers nothing": "five_seconds",
		"no confirmation": "paid", "confirms again": "short_stock", "keeps the money": "short_stock", "loses order.cancelled": "merchant_cancels",
		"loses delivery.cancelled": "courier_gives_up", "refunds twice": "partial_refund", "loses order.refund_failed": "refund_fails_later",
		"loses down": "endpoint_down", "doubles slow": "endpoint_slow", "doubles failing": "endpoint_failing", "doubles doubled": "doubled_events", "no feed": "feed_only",
	} {
		t.Run(flaw, func(t *testing.T) {
			i := slices.IndexFunc(script, func(c check) bool { return c.ID == want })
			run := open(t, flaw, script[i].Group).play()
			var failed []string
			for _, c := range run.Checks {
				if c.State == CheckFailed && c.Message != "" && !strings.Contains(c.Message, "{order}") {
					failed = append(failed, c.ID)
				}
			}
			if run.State != Failed || !slices.Contains(failed, want) {
				t.Errorf("%s: failed are %v, want %s", run.State, failed, want)
			}
			found[want] = true
		})
	}
	found["late_events"], found["polls_apart"] = true, true // below
	for _, c := range script {
		if !found[c.ID] {
			t.Errorf("no flaw is found by %s", c.ID)
		}
	}
	late := open(t, "loses late", Repair).play()
	if c := late.Checks[slices.IndexFunc(late.Checks, func(c Check) bool { return c.ID == "late_events" })]; c.State != CheckFailed {
		t.Errorf("%+v", c)
	}
}

// TestPolls: what is asked again within five seconds is found; another page, another order and a repeat of a call
// that failed are no polls.
func TestPolls(t *testing.T) {
	for _, c := range []struct {
		name   string
		target string
		after  commerce.Millis
		status int // of the first
		want   Verdict
	}{
		{"five seconds", "/v1/orders/1", 5000, 200, CheckPassed},
		{"at once", "/v1/orders/1", 1000, 200, CheckFailed},
		{"another order", "/v1/orders/2", 1000, 200, CheckPassed},
		{"after an error", "/v1/orders/1", 1000, 500, CheckPassed},
	} {
		r := New("run_1", "p", []Group{Manners}, Goods{}, "p", "u", hour)
		v := &view{Run: &r, Seen: Seen{Requests: []Request{{At: hour, Operation: "getOrder", Target: "/v1/orders/1", Status: c.status},
			{At: hour + c.after, Operation: "getOrder", Target: c.target, Status: 200}}}, stage: stages[0]}
		v.seePolls()
		if got := r.Checks[2]; got.ID != "polls_apart" || got.State != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestTimes: a person has time, a program less, and a run ends.
func TestTimes(t *testing.T) {
	r := New("run_1", "p", nil, Goods{Items: []Item{{"p", 1, 100}}}, "p", "u", hour)
	r, acts := Step(r, Seen{}, hour+1)
	if len(acts) != 1 || len(r.Tasks) != 0 {
		t.Fatalf("%+v %+v", acts, r.Tasks)
	}
	r, _ = Step(r.Did(acts[0], Forged{}), Seen{}, hour+2)
	if len(r.Tasks) != 1 || r.Tasks[0].Do != "report" || r.Tasks[0].Body.ExternalOrderID != r.number(1) {
		t.Fatalf("%+v", r.Tasks)
	}
	if r, _ = Step(r, Seen{}, hour+hour); r.State != Running {
		t.Error("a person had an hour, and it was not enough")
	}
	ended, acts := Step(r, Seen{}, r.EndsOn)
	if ended.State != Ended || len(ended.Tasks) != 0 || len(acts) != 0 {
		t.Errorf("%+v", ended)
	}
	if again, acts := Step(ended, Seen{}, r.EndsOn+1); again.State != Ended || len(acts) != 0 {
		t.Errorf("%+v", again)
	}
	if r.PostOf(r.number(1)) != "" {
		t.Error("events of an order are played with that no stage asks for")
	}
}

// TestAck: what is named stays named, and an event that is named twice at once is there twice.
func TestAck(t *testing.T) {
	r := Run{}.Ack([]string{"a", "b", "b"}, map[string]string{"o": "paid"}).Ack([]string{"a"}, map[string]string{"o": "processed", "q": "paid"})
	if want := map[string]int{"a": 1, "b": 2}; !maps.Equal(r.Books, want) || r.Statuses["o"] != "processed" || r.Statuses["q"] != "paid" || r.AckNo != 2 {
		t.Errorf("%+v", r)
	}
}
