package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/payment"

	"pgregory.net/rapid"
)

// The same key at once: one order, one session, equal answers.
func TestOneCheckoutAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		answers := w.together(t, 20, func(int) call { return checkout("k1", "jo@example.com", 1) })
		first := 0
		for _, a := range answers {
			if a.status != http.StatusCreated || string(a.body) != string(answers[0].body) {
				t.Fatalf("%d %s and %d %s", answers[0].status, answers[0].body, a.status, a.body)
			}
			if a.header.Get("Idempotent-Replayed") == "" {
				first++
			}
		}
		if first != 1 {
			t.Errorf("%d answers say that they are no replay, want 1", first)
		}
		if begun := w.payments(t); len(begun) != 1 {
			t.Errorf("%d payments were begun, want 1", len(begun))
		}
	})
}

// Forty concurrent refunds of 100 cents out of 1,500: fifteen are made. Each answer
// has the total and the status at its own place in the ledger, and so has a repeat of
// its key.
func TestRefundsAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buyAndPay(t, checkout("k1", "jo@example.com", 10))
		ask := func(i int) call { return refund(b.OrderID, fmt.Sprint("r", i), `{"amount_cents":100}`) }
		made := map[int]commerce.OrderStatus{} // status by the sum of refunds so far
		for i, a := range w.together(t, 40, ask) {
			switch {
			case a.status == http.StatusOK:
				var answer struct {
					Total  int                  `json:"total_refunded_cents"`
					Status commerce.OrderStatus `json:"status"`
				}
				if err := json.Unmarshal(a.body, &answer); err != nil {
					t.Fatal(err)
				}
				made[answer.Total] = answer.Status
				if again := w.do(t, ask(i)); string(again.body) != string(a.body) {
					t.Errorf("answered %s, and then %s", a.body, again.body)
				}
			case a.status != http.StatusConflict || a.code() != "already_refunded":
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		for total := 100; total <= 1500; total += 100 {
			want := commerce.Paid
			if total == 1500 {
				want = commerce.Refunded
			}
			if made[total] != want {
				t.Errorf("with %d cents refunded the order was %q, want %s; all answers: %v", total, made[total], want, made)
			}
		}
		if len(made) != 15 {
			t.Errorf("%d refunds were made, want 15", len(made))
		}
		w.finishJobs(t)
		s := w.stateOf(t, b.OrderID)
		s.is(t, commerce.Refunded, "", " order.paid"+strings.Repeat(" order.refunded", 15),
			"order.paid"+strings.Repeat(" order.refunded", 15), 1500, 1500)
		w.processorAgrees(t, s.Account)
	})
}

// Forty concurrent refunds of one roll out of ten: ten are made, and ten pieces go back.
func TestRefundsByLineAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buyAndPay(t, checkout("k1", "jo@example.com", 10))
		w.do(t, call{method: http.MethodPost, path: "/v1/orders/" + b.OrderID + "/confirm", key: "busy-test"})
		w.do(t, call{method: http.MethodPost, path: "/v1/orders/" + b.OrderID + "/ready-for-pickup", key: "busy-test"})
		w.do(t, call{method: http.MethodPost, path: "/v1/orders/" + b.OrderID + "/picked-up", key: "busy-test"})
		before, made := w.stock(t, "prd_roll"), 0
		for _, a := range w.together(t, 40, func(i int) call {
			return refund(b.OrderID, fmt.Sprint("r", i), `{"lines":[{"product_id":"prd_roll","quantity":1}],"restock":true}`)
		}) {
			if a.status == http.StatusOK {
				made++
			} else if a.code() != "already_refunded" {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if after := w.stock(t, "prd_roll"); made != 10 || after != before+10 {
			t.Errorf("%d refunds were made, and the stock went from %d to %d", made, before, after)
		}
		w.finishJobs(t)
		w.processorAgrees(t, w.stateOf(t, b.OrderID).Account)
	})
}

// One key, forty times at once: one refund.
func TestOneRefundAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buyAndPay(t, checkout("k1", "jo@example.com", 10))
		answers := w.together(t, 40, func(int) call { return refund(b.OrderID, "r", `{"amount_cents":100}`) })
		for _, a := range answers {
			if a.status != http.StatusOK || string(a.body) != string(answers[0].body) {
				t.Errorf("%d %s and %d %s", answers[0].status, answers[0].body, a.status, a.body)
			}
		}
		w.finishJobs(t)
		s := w.stateOf(t, b.OrderID)
		s.is(t, commerce.Paid, "", " order.paid order.refunded", "order.paid order.refunded", 1500, 100)
		w.processorAgrees(t, s.Account)
	})
}

func (w *world) buyAndPay(t *testing.T, c call) bought {
	t.Helper()
	b := w.buy(t, c)
	if a := w.click(t, b.SessionID, "pay"); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	w.finishJobs(t)
	return b
}

// tester is a test, or a check of a property.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
}

// processorAgrees compares an account with what the processor has captured and
// refunded.
func (w *world) processorAgrees(t tester, a commerce.Account) {
	t.Helper()
	session, err := w.sandbox.Session(context.Background(), a.Payment.SessionID)
	if err != nil {
		t.Errorf("%v", err)
	}
	faults := a.Faults()
	for _, d := range a.DifferencesAt(session.PaidCents, session.RefundedCents) {
		faults = append(faults, d.Text)
	}
	for _, fault := range faults {
		t.Errorf("%s", fault)
	}
}

// One key at once, and the processor refuses: whatever each caller is told, each
// order that was made has failed, and nothing stays open.
func TestRefusalsAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		refused := 0
		for _, a := range w.together(t, 20, func(int) call { return checkout("k1", "jo+session-refused@example.com", 1) }) {
			switch {
			case a.status == http.StatusBadGateway && strings.Contains(a.error().Error, "refuses"):
				refused++
			case a.code() != "in_progress":
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		w.finishJobs(t)
		begun := w.payments(t)
		for _, p := range begun {
			if o := w.storedOrder(t, p.OrderID); o.Status != commerce.FailedPayment {
				t.Errorf("order %s is %s", o.ID, o.Status)
			}
		}
		if refused == 0 || len(begun) > 20 {
			t.Errorf("%d callers learned of it; %d orders were made", refused, len(begun))
		}
		w.buy(t, checkout("k1", "jo@example.com", 2)) // the key was released
	})
}

// move is a change to a paid order that is made at the same time as others.
type move struct {
	kind  string
	cents int
}

var moves = rapid.Custom(func(t *rapid.T) move {
	return move{
		kind:  rapid.SampledFrom([]string{"refund", "refund", "refund", "rest", "dashboard", "confirm", "cancel", "cancel and refund", "paid"}).Draw(t, "kind"),
		cents: rapid.IntRange(1, 700).Draw(t, "cents"),
	}
})

// TestMoneyAddsUp has partners, the merchant at the processor, and the customer's
// bank act at once. The ledger then sums to what was captured minus what was
// refunded, the processor agrees, and the stock is right.
func TestMoneyAddsUp(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		w.sandbox.Delay = 0 // late failures happen at once: before, while or after the refund is recorded
		w.do(t, call{method: http.MethodPost, path: "/v1/inventory/adjustments", key: "busy", idem: "plenty",
			body: `{"adjustments":[{"product_id":"prd_roll","delta":1000000}]}`})
		checks := 0
		rapid.Check(t, func(rt *rapid.T) {
			checks++
			p := &paidOrder{w: w, before: w.stock(t, "prd_roll"), name: fmt.Sprint("check ", checks)}
			p.tag = rapid.SampledFrom([]string{"", "", "", "+twice", "+refund-refused", "+refund-fails-later"}).Draw(rt, "tag")
			p.bought = w.buyAndPay(t, checkout(p.name, "jo"+p.tag+"@example.com", rolls))
			for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
				p.down(rapid.IntRange(0, 3).Draw(rt, "line") == 0)
				p.round(t, rapid.SliceOfN(moves, 1, 8).Draw(rt, "at once"))
			}
			w.line.down.Store(false)
			p.check(t, rt)
		})
	})
}

const rolls = 4 // at 150 cents each

// paidOrder is an order of the property, with its known state.
type paidOrder struct {
	w      *world
	name   string
	tag    string
	before int64 // rolls in stock
	bought
	n     int  // number of moves so far
	quiet bool // the line was down: an answer may not show its outcome

	mu       sync.Mutex
	returned commerce.Cents // as far as answers have shown
}

// down cuts the line to the processor for a round, or restores it.
func (p *paidOrder) down(down bool) {
	p.w.line.down.Store(down)
	p.quiet = p.quiet || down
}

func (p *paidOrder) round(t *testing.T, list []move) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, len(list))
	for i, m := range list {
		p.n++
		idem := fmt.Sprint(p.name, " ", p.n)
		wg.Go(func() { errs[i] = p.make(t, m, idem) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%+v: %v", list[i], err)
		}
	}
}

// make makes one move, and records its answer.
func (p *paidOrder) make(t *testing.T, m move, idem string) error {
	c := call{method: http.MethodPost, path: "/v1/orders/" + p.OrderID, key: "busy-test", idem: idem}
	switch m.kind {
	case "dashboard":
		return p.refundElsewhere(idem, commerce.Cents(m.cents))
	case "refund":
		c = refund(p.OrderID, idem, fmt.Sprintf(`{"amount_cents":%d}`, m.cents))
	case "rest":
		c = refund(p.OrderID, idem, "")
	case "confirm":
		c.path, c.idem = c.path+"/confirm", ""
	case "cancel":
		c.path += "/cancel"
	case "cancel and refund":
		c.path, c.body = c.path+"/cancel", `{"refund":true}`
	case "paid": // the payment's callback again
		payment, err := p.w.engine.Reader().Payment(context.Background(), p.w.orderKey(t, p.OrderID))
		if err != nil {
			return err
		}
		n := p.paid(rolls * 150)
		n.PaymentID = payment.PaymentID
		c = p.w.callbackCall(t, n)
	}
	a, err := p.w.exchange(c)
	if err != nil {
		return err
	}
	if a.status >= http.StatusInternalServerError && a.status != http.StatusBadGateway {
		return fmt.Errorf("%d %s", a.status, a.body)
	}
	var answer struct {
		Cents  commerce.Cents `json:"amount_refunded_cents"`
		Refund struct {
			Cents commerce.Cents `json:"amount_refunded_cents"`
		} `json:"refund"`
	}
	if err := json.Unmarshal(a.body, &answer); err != nil {
		return err
	}
	p.returns(answer.Cents + answer.Refund.Cents)
	return nil
}

func (p *paidOrder) returns(cents commerce.Cents) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.returned += cents
}

// refundElsewhere is a refund that the merchant makes in the processor's dashboard.
func (p *paidOrder) refundElsewhere(id string, cents commerce.Cents) error {
	ctx := context.Background()
	session, err := p.w.sandbox.Session(ctx, p.SessionID)
	if err != nil {
		return err
	}
	_, err = p.w.sandbox.Refund(ctx, payment.RefundRequest{ID: "dashboard " + id, OrderID: p.OrderID, SessionID: p.SessionID,
		PaymentID: session.PaymentID, AmountCents: cents})
	if err == nil {
		p.returns(cents)
	}
	if _, refused := err.(*payment.Refusal); refused {
		return nil
	}
	return err
}

// check compares everything with everything, once all work is done.
func (p *paidOrder) check(t *testing.T, rt *rapid.T) {
	t.Helper()
	for range 3 { // callbacks that came too early are repeated
		p.w.finishJobs(t)
		p.w.clock.move(secondTry)
	}
	p.w.finishJobs(t)
	s := p.w.stateOf(t, p.OrderID)
	p.w.processorAgrees(rt, s.Account)
	if s.Payment.PendingCents != 0 {
		rt.Errorf("%d cents are still set aside", s.Payment.PendingCents)
	}
	fails := strings.Contains(p.tag, "fails")
	if !fails && !p.quiet && p.returned != s.Payment.RefundedCents {
		rt.Errorf("the answers tell of %d refunded cents, the ledger of %d", p.returned, s.Payment.RefundedCents)
	}
	if !fails && (s.Order.Status == commerce.Refunded) != s.Payment.Returned() {
		rt.Errorf("the order is %s with %d of %d cents refunded", s.Order.Status, s.Payment.RefundedCents, s.Payment.CapturedCents)
	}
	want := p.before
	if s.Order.InventoryDeducted {
		want -= rolls
	}
	if got := p.w.stock(t, "prd_roll"); got != want {
		rt.Errorf("%d rolls in stock, want %d: the order is %s", got, want, s.Order.Status)
	}
	rt.Logf("order %s, customer jo%s: %v", p.OrderID, p.tag, s.timeline)
}

// secondTry is longer than the pause after which a callback is repeated.
const secondTry = 10 * time.Second

func (w *world) stock(t *testing.T, product string) int64 {
	t.Helper()
	stock, err := w.engine.Reader().Stock(context.Background(), []string{product})
	if err != nil {
		t.Fatal(err)
	}
	return stock[product].Quantity
}
