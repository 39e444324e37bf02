package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptrace"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// attempt is a request of a load, and what its sender knows of its outcome.
type attempt struct {
	request
	external string   // of a report
	products []string // of a report or an adjustment: one of each
	delta    int64    // of an adjustment, for each product
	of       *attempt // of a cancel: the report that made the order
	orderID  string   // of a report, once it is known

	sent   atomic.Int64 // Unix ns when it was sent completely; 0: it was not
	answer answer
	err    error // a transport error: the outcome is unknown
}

func (a *attempt) acknowledged() bool { return a.err == nil && a.answer.status/100 == 2 }

// callLog records all requests of the partners of one shop.
type callLog struct {
	shop  *shop
	all   []*attempt
	acked atomic.Int64 // so far, while a load runs
}

const loadWorkers = 16

// times returns the number of requests of a load: n, multiplied by PURVEYOR_TEST_LOAD
// (scripts/test full sets it).
func times(n int64) int64 {
	more, err := strconv.ParseInt(os.Getenv("PURVEYOR_TEST_LOAD"), 10, 64)
	if err != nil {
		return n
	}
	return n * more
}

// load sends reports, cancellations and adjustments until the service is gone. The
// returned function waits for that, and returns the requests.
func (l *callLog) load(c *client, round int) (wait func() []*attempt) {
	return l.loadBy(round, func(a *attempt) (more bool) {
		l.send(c, a)
		return a.err == nil
	})
}

// loadBy is load with another function to send, which also decides when to end.
func (l *callLog) loadBy(round int, send func(*attempt) (more bool)) (wait func() []*attempt) {
	var wg sync.WaitGroup
	lists := make([][]*attempt, loadWorkers)
	for w := range loadWorkers {
		wg.Go(func() {
			lists[w] = l.work(send, fmt.Sprintf("%d-%d", round, w), rand.New(rand.NewPCG(uint64(round), uint64(w))))
		})
	}
	return func() (sent []*attempt) {
		wg.Wait()
		for _, list := range lists {
			sent = append(sent, list...)
		}
		l.all = append(l.all, sent...)
		return sent
	}
}

// work is one caller.
func (l *callLog) work(send func(*attempt) (more bool), name string, r *rand.Rand) (list []*attempt) {
	var open []*attempt // orders that can still be cancelled
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s-%d", name, n)
		var a *attempt
		switch kind := r.IntN(10); {
		case kind < 3 && len(open) > 0:
			i := r.IntN(len(open))
			a = cancelAttempt(open[i], id)
			open = append(open[:i], open[i+1:]...)
		case kind < 5:
			a = adjustAttempt(id, r)
		default:
			a = reportAttempt(id, r)
		}
		list = append(list, a)
		more := send(a)
		if a.external != "" && a.acknowledged() {
			a.orderID = a.answer.orderID(l.shop.t)
			open = append(open, a)
		}
		if !more {
			return list
		}
	}
}

func (l *callLog) send(c *client, a *attempt) {
	req, err := c.httpRequest(a.request)
	if err != nil {
		a.err = err
		return
	}
	trace := &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err == nil {
			a.sent.Store(time.Now().UnixNano())
		}
	}}
	a.answer, a.err = c.do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if a.acknowledged() {
		l.acked.Add(1)
	}
}

func reportAttempt(id string, r *rand.Rand) *attempt {
	a := &attempt{external: "ext-" + id, products: someProducts(r)}
	a.request = report(a.external, a.products...)
	return a
}

func cancelAttempt(of *attempt, id string) *attempt {
	return &attempt{of: of, request: post("/v1/orders/"+of.orderID+"/cancel", "cancel "+id, map[string]any{"reason": "changed my mind"})}
}

func adjustAttempt(id string, r *rand.Rand) *attempt {
	a := &attempt{products: someProducts(r), delta: int64(r.IntN(9)) - 4}
	lines := make([]map[string]any, len(a.products))
	for i, p := range a.products {
		lines[i] = map[string]any{"product_id": p, "delta": a.delta}
	}
	a.request = post("/v1/inventory/adjustments", "adjust "+id, map[string]any{"adjustments": lines})
	return a
}

// someProducts returns one to three of a few products, so that callers meet on the
// same rows.
func someProducts(r *rand.Rand) []string {
	list := make([]string, 1+r.IntN(3))
	for i, n := range r.Perm(shopProducts)[:len(list)] {
		list[i] = fmt.Sprintf("p%d", n+1)
	}
	return list
}

// checkAcknowledged finds every order whose report was answered, with what was
// answered. It runs before any repeat, so that a repeat cannot hide a loss.
func checkAcknowledged(c *client, list []*attempt) {
	c.t.Helper()
	cancels := map[*attempt]*attempt{}
	for _, a := range list {
		if a.of != nil {
			cancels[a.of] = a
		}
		if a.err == nil && !a.acknowledged() {
			c.t.Errorf("%s was answered %d: %s", a.path, a.answer.status, a.answer.body)
		}
	}
	for _, a := range list {
		if a.external == "" || !a.acknowledged() {
			continue
		}
		byID := c.order("/v1/orders/" + a.orderID)
		if byID != c.order("/v1/orders/by-external/"+a.external) || byID.ExternalID != a.external {
			c.t.Errorf("%s is %+v by its id, and another by its external id %s", a.orderID, byID, a.external)
		}
		cancel := cancels[a]
		switch unknown := cancel != nil && cancel.err != nil; {
		case unknown && (byID.Status == "processed" || byID.Status == "cancelled"):
		case cancel != nil && !unknown && byID.Status == "cancelled":
		case cancel == nil && byID.Status == "processed":
		default:
			c.t.Errorf("%s is %s (cancelled by the partner: %v, without an answer: %v)", a.orderID, byID.Status, cancel != nil, unknown)
		}
	}
}

// repeatUnanswered repeats unanswered requests twice, so that every outcome is known.
func (l *callLog) repeatUnanswered(c *client, list []*attempt) {
	c.t.Helper()
	open, had := 0, 0
	for _, a := range list {
		if a.err == nil {
			continue
		}
		open++
		l.send(c, a)
		if !a.acknowledged() {
			c.t.Fatalf("%s repeated: status %d, error %v: %s", a.path, a.answer.status, a.err, a.answer.body)
		}
		if a.answer.header.Get("Idempotent-Replayed") == "true" {
			had++
		}
		if a.external != "" {
			a.orderID = a.answer.orderID(c.t)
		}
		again := c.must(a.answer.status, a.request)
		if again.header.Get("Idempotent-Replayed") != "true" || string(again.body) != string(a.answer.body) {
			c.t.Errorf("%s repeated twice: %s, then %s", a.path, a.answer.body, again.body)
		}
	}
	c.t.Logf("%d requests, %d without an answer, of which %d had taken place", len(list), open, had)
}

// check compares the service with the log, once every outcome is known.
func (l *callLog) check(c *client) {
	c.t.Helper()
	stock := map[string]int64{}
	status, made := map[string]string{}, map[string]*attempt{}
	for _, a := range l.all {
		switch {
		case a.of != nil:
			status[a.of.orderID] = "cancelled"
		case a.external != "":
			if made[a.orderID] != nil {
				c.t.Errorf("%s and %s are one order", made[a.orderID].external, a.external)
			}
			made[a.orderID] = a
		}
	}
	for _, a := range l.all {
		switch {
		case a.external != "" && status[a.orderID] == "cancelled":
		case a.external != "":
			status[a.orderID] = "processed"
			move(stock, a.products, -1)
		case a.of == nil:
			move(stock, a.products, a.delta)
		}
	}
	for i := 1; i <= shopProducts; i++ {
		id := fmt.Sprintf("p%d", i)
		if got, want := c.product(id).Quantity, shopStock+stock[id]; got != want {
			c.t.Errorf("stock of %s is %d, want %d", id, got, want)
		}
	}
	for id := range made {
		checkStory(c, id, status[id])
	}
	if got := l.shop.count("SELECT count(*) || ' orders, ' || count(DISTINCT external_id) || ' external ids' FROM orders"); got !=
		fmt.Sprintf("%d orders, %d external ids", len(made), len(made)) {
		c.t.Errorf("the database has %s, want %d of each", got, len(made))
	}
	l.shop.checkFile()
}

func move(stock map[string]int64, products []string, delta int64) {
	for _, p := range products {
		stock[p] += delta
	}
}

// checkStory compares an order and its timeline with its requests.
func checkStory(c *client, id, status string) {
	c.t.Helper()
	if got := c.order("/v1/orders/" + id).Status; got != status {
		c.t.Errorf("%s is %s, want %s", id, got, status)
	}
	counts := map[string]int{}
	for _, kind := range c.timeline(id) {
		counts[kind]++
	}
	want := map[string]int{"order.created": 1, "order.processed": 1}
	if status == "cancelled" {
		want["order.cancelled"] = 1
	}
	for kind, n := range want {
		if counts[kind] != n {
			c.t.Errorf("the timeline of %s (%s) has %s %d times: %v", id, status, kind, counts[kind], counts)
		}
	}
	if status != "cancelled" && counts["order.cancelled"] > 0 {
		c.t.Errorf("the timeline of %s has a cancellation without a request", id)
	}
}

// waitForLoad waits until this many more requests were acknowledged.
func (l *callLog) waitForLoad(t *testing.T, more int64) {
	t.Helper()
	target := l.acked.Load() + more
	check.Eventually(t, patience, pollPause, "the load to get going", func() bool { return l.acked.Load() >= target })
}
