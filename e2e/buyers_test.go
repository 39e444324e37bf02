package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"purveyor/internal/testkit/check"
)

// purchase is an order that is paid in the sandbox, with its requests so far, one
// after the other.
type purchase struct {
	id      string
	orderID string
	page    string // path of the payment page
	total   int64
	steps   []*step
}

// step is a request of a purchase, and what its sender knows of its outcome.
type step struct {
	kind string // checkout, pay, part, rest, cancel
	request
	answer answer
	err    error // a transport error: the outcome is unknown
}

// done reports whether the step was acknowledged.
func (st *step) done() bool {
	want := http.StatusOK
	switch st.kind {
	case "checkout":
		want = http.StatusCreated
	case "pay":
		want = http.StatusSeeOther
	}
	return st.err == nil && st.answer.status == want
}

// inProgress reports whether the step has to be repeated for its answer.
func (st *step) inProgress() bool {
	return st.err == nil && st.answer.status == http.StatusConflict && strings.Contains(string(st.answer.body), `"code":"in_progress"`)
}

const partCents = 50

// next returns the request of the next step.
func (p *purchase) next(kind string) *step {
	st := &step{kind: kind}
	refund := "/v1/orders/" + p.orderID + "/refund"
	switch kind {
	case "checkout":
		st.request = post("/v1/checkout/session", p.id, map[string]any{"store_id": "s1", "fulfillment_type": "pickup",
			"success_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no",
			"items": []map[string]any{{"product_id": fmt.Sprintf("p%d", p.total/200), "quantity": 2}}})
	case "pay":
		st.request = request{method: "POST", path: p.page}
	case "part":
		st.request = post(refund, p.id+" part", map[string]any{"amount_cents": partCents})
	case "rest":
		st.request = post(refund, p.id+" rest", map[string]any{})
	case "cancel":
		st.request = post("/v1/orders/"+p.orderID+"/cancel", p.id, map[string]any{"refund": true})
	}
	p.steps = append(p.steps, st)
	return st
}

// plans are the steps of customers and partners after a checkout.
var plans = [][]string{{}, {"cancel"}, {"pay"}, {"pay", "part"}, {"pay", "part", "rest"}, {"pay", "cancel"}, {"pay", "rest"}, {"pay", "part", "cancel"}}

// state returns the state that a purchase has to have after these steps.
func (p *purchase) state(steps []*step) string {
	status, refunded, paid := "none", int64(0), false
	for _, st := range steps {
		switch st.kind {
		case "checkout":
			status = "pending_payment"
		case "pay":
			status, paid = "paid", true
		case "part":
			refunded = partCents
		case "rest", "cancel":
			if status = "cancelled"; paid {
				status, refunded = "refunded", p.total
			}
		}
	}
	return fmt.Sprintf("%s, %d refunded", status, refunded)
}

// buyers are all customers of one shop.
type buyers struct {
	shop  *shop
	all   []*purchase
	acked atomic.Int64
}

// load makes many purchases at once until the service is gone.
func (b *buyers) load(c *client, round int) (wait func() []*purchase) {
	const workers = 12
	var wg sync.WaitGroup
	lists := make([][]*purchase, workers)
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(round), uint64(w)))
			for n := 0; ; n++ {
				p := &purchase{id: fmt.Sprintf("%d-%d-%d", round, w, n), total: 200 * (1 + r.Int64N(shopProducts))}
				lists[w] = append(lists[w], p)
				for _, kind := range append([]string{"checkout"}, plans[r.IntN(len(plans))]...) {
					if !b.take(c, p, p.next(kind)) {
						return
					}
				}
			}
		})
	}
	return func() (bought []*purchase) {
		wg.Wait()
		bought = slices.Concat(lists...)
		b.all = append(b.all, bought...)
		return bought
	}
}

// take makes the request of a step, and reports whether it was acknowledged.
func (b *buyers) take(c *client, p *purchase, st *step) bool {
	st.answer, st.err = c.click(st.request)
	switch {
	case st.err != nil:
		return false
	case !st.done():
		if !st.inProgress() {
			c.t.Errorf("%s of %s was answered %d: %s", st.kind, p.id, st.answer.status, st.answer.body)
		}
		return false
	case st.kind == "checkout":
		p.checkedOut(c.t, st.answer)
	}
	b.acked.Add(1)
	return true
}

func (p *purchase) checkedOut(t *testing.T, a answer) {
	var body struct {
		OrderID string `json:"order_id"`
		URL     string `json:"checkout_url"`
	}
	err := json.Unmarshal(a.body, &body)
	page, urlErr := url.Parse(body.URL)
	if err != nil || urlErr != nil || body.OrderID == "" || p.orderID != "" && p.orderID != body.OrderID {
		t.Errorf("the checkout of %s (%s) was answered: %s", p.id, p.orderID, a.body)
		return
	}
	p.orderID, p.page = body.OrderID, page.Path
}

// click is send for pages: it follows no redirect.
func (c *client) click(r request) (answer, error) {
	page := strings.HasPrefix(r.path, "/sandbox/")
	if page {
		r.body = "outcome=pay"
	}
	req, err := c.httpRequest(r)
	if err != nil {
		return answer{}, err
	}
	if page {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	stays := *c
	stays.http = &http.Client{Transport: c.http.Transport, Timeout: c.http.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return stays.do(req)
}

// checkAcknowledged checks that every acknowledged step took effect, and that of the
// others either everything or nothing did, or, while a step's job waits, its first
// half.
func (b *buyers) checkAcknowledged(c *client, bought []*purchase) {
	c.t.Helper()
	for _, p := range bought {
		if p.orderID == "" {
			continue
		}
		last := len(p.steps)
		allowed := []string{p.state(p.steps)}
		if st := p.steps[last-1]; !st.done() {
			allowed = append(allowed, p.state(p.steps[:last-1]))
			if _, refunded, _ := strings.Cut(allowed[1], ", "); st.kind == "cancel" {
				allowed = append(allowed, "cancelled, "+refunded)
			}
		}
		if got := c.purchaseState(p.orderID); !slices.Contains(allowed, got) {
			c.t.Errorf("%s is %s, want one of %q", p.orderID, got, allowed)
		}
	}
}

func (c *client) purchaseState(orderID string) string {
	c.t.Helper()
	var body struct {
		Order struct {
			Status   string `json:"status"`
			Refunded int64  `json:"refunded_total"`
		} `json:"order"`
	}
	c.must(http.StatusOK, get("/v1/orders/"+orderID)).decode(c.t, &body)
	return fmt.Sprintf("%s, %d refunded", body.Order.Status, body.Order.Refunded)
}

// repeatUnanswered repeats unacknowledged steps until they are acknowledged, and then every
// step once more: each key has one answer.
func (b *buyers) repeatUnanswered(c *client, bought []*purchase) {
	c.t.Helper()
	repeated := 0
	for _, p := range bought {
		if st := p.steps[len(p.steps)-1]; !st.done() {
			repeated++
			check.Eventually(c.t, patience, pollPause, "an answer to "+st.path, func() bool { return b.take(c, p, st) || st.err != nil })
		}
		for _, st := range p.steps {
			again, err := c.click(st.request)
			if err != nil || again.status != st.answer.status {
				c.t.Fatalf("%s of %s, repeated: %d, %v: %s", st.kind, p.id, again.status, err, again.body)
			}
			if st.kind != "pay" && (string(again.body) != string(st.answer.body) || again.header.Get("Idempotent-Replayed") != "true") {
				c.t.Errorf("%s of %s was answered %s, then %s", st.kind, p.id, st.answer.body, again.body)
			}
		}
	}
	c.t.Logf("%d purchases, of which %d were cut", len(bought), repeated)
}

// check compares all orders with their purchases, and the ledger with the sandbox.
func (b *buyers) check(c *client) {
	c.t.Helper()
	check.Eventually(c.t, patience, pollPause, "all jobs to be done", func() bool {
		return b.shop.count("SELECT count(*) || '' FROM jobs WHERE state = 'waiting'") == "0"
	})
	want := map[string]string{}
	for _, p := range b.all {
		if _, twice := want[p.orderID]; twice || p.orderID == "" {
			c.t.Errorf("%s has the order %q of another one", p.id, p.orderID)
		}
		want[p.orderID] = p.state(p.steps)
		if got := c.purchaseState(p.orderID); got != want[p.orderID] {
			c.t.Errorf("%s is %s, want %s", p.orderID, got, want[p.orderID])
		}
	}
	for what, query := range map[string]string{"orders": "SELECT count(*) || '' FROM orders", "payments": "SELECT count(*) || '' FROM payments",
		"sessions in the sandbox": "SELECT count(*) || '' FROM sandbox_objects WHERE id LIKE 'cs_test%'"} {
		if got := b.shop.count(query); got != strconv.Itoa(len(want)) {
			c.t.Errorf("%s %s, want %d", got, what, len(want))
		}
	}
	books := b.shop.rows(`SELECT p.session_id || ' ' || p.captured_cents || ' ' || p.refunded_cents || ' ' || p.pending_cents || ' ' ||
		coalesce((SELECT sum(CASE kind WHEN 'refund' THEN -amount_cents ELSE amount_cents END) FROM ledger l WHERE l.store_id = p.store_id AND l.order_id = p.order_id), 0) || ' ' ||
		(SELECT count(*) FROM refunds r WHERE r.store_id = p.store_id AND r.order_id = p.order_id) FROM payments p ORDER BY 1`)
	if sandbox := b.sandbox(); !slices.Equal(books, sandbox) {
		c.t.Errorf("the books (session, captured, refunded, pending, ledger, refunds):\n%s\nthe sandbox:\n%s", strings.Join(books, "\n"), strings.Join(sandbox, "\n"))
	}
	b.shop.checkFile()
}

// sandbox returns the expected ledger, worked out from what the sandbox has stored.
func (b *buyers) sandbox() (books []string) {
	b.shop.t.Helper()
	for _, data := range b.shop.rows("SELECT data FROM sandbox_objects WHERE id LIKE 'cs_test%'") {
		var session struct {
			ID, Status string
			Request    struct{ TotalCents int64 }
			Refunds    []struct{ AmountCents int64 }
		}
		if err := json.Unmarshal([]byte(data), &session); err != nil {
			b.shop.t.Fatal(err)
		}
		var captured, refunded int64
		if session.Status == "paid" {
			captured = session.Request.TotalCents
		}
		for _, r := range session.Refunds {
			refunded += r.AmountCents
		}
		books = append(books, fmt.Sprintf("%s %d %d 0 %d %d", session.ID, captured, refunded, captured-refunded, len(session.Refunds)))
	}
	slices.Sort(books)
	return books
}
