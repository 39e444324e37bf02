package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/inbound"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
)

const callbackPath = inbound.Prefix + payment.CallbackPath + "/" + sandboxName

// callback is a callback as the sandbox posts it.
type callback struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	OrderID     string `json:"order_id"`
	SessionID   string `json:"session_id,omitempty"`
	PaymentID   string `json:"payment_id,omitempty"`
	AmountCents int64  `json:"amount_cents"`
	RefundID    string `json:"refund_id,omitempty"`
	OurRefundID string `json:"our_refund_id,omitempty"`
	Message     string `json:"message,omitempty"`
}

// signed returns a call that posts a body as the sandbox does.
func (w *world) signed(t *testing.T, body string) call {
	t.Helper()
	signatures, err := w.signatures(body)
	if err != nil {
		t.Fatal(err)
	}
	return call{method: http.MethodPost, path: callbackPath, body: body, header: http.Header{sandbox.SignatureHeader: signatures}}
}

func (w *world) signatures(body string) ([]string, error) {
	signature, err := w.signer.Sign(context.Background(), w.clock.Now(), []byte(body))
	return []string{signature}, err
}

func (w *world) callbackCall(t *testing.T, n callback) call {
	t.Helper()
	body, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return w.signed(t, string(body))
}

// takes posts a callback that has to be accepted.
func (w *world) takes(t *testing.T, n callback) {
	t.Helper()
	if a := w.do(t, w.callbackCall(t, n)); a.status != http.StatusOK || string(a.body) != `{"ok":true}` {
		t.Errorf("%+v: %d %s", n, a.status, a.body)
	}
	w.finishJobs(t)
}

// bought is an order that waits for its payment, as the checkout's answer shows it.
type bought struct {
	OrderID   string `json:"order_id"`
	SessionID string `json:"session_id"`
}

func (w *world) buy(t *testing.T, c call) (b bought) {
	t.Helper()
	a := w.do(t, c)
	if err := json.Unmarshal(a.body, &b); err != nil || a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return b
}

// paid returns the callback that reports the payment of this order, at 150 cents per
// roll.
func (b bought) paid(cents int64) callback {
	return callback{ID: "evt_paid", Kind: "paid", OrderID: b.OrderID, SessionID: b.SessionID, PaymentID: "pi_1", AmountCents: cents}
}

// state is everything that callbacks can change.
type state struct {
	commerce.Account
	timeline []string // kinds, and codes of notes
	webhooks []string
}

func (w *world) stateOf(t *testing.T, orderID string) state {
	t.Helper()
	return state{w.account(t, w.orderKey(t, orderID)), w.timeline(t, orderID), w.webhooks(t, orderID)}
}

// account reads the stored account of an order.
func (w *world) account(t *testing.T, key commerce.OrderKey) (a commerce.Account) {
	t.Helper()
	ctx, reader := context.Background(), w.engine.Reader()
	var errs [5]error
	a.Order, errs[0] = reader.Order(ctx, key)
	a.Payment, errs[1] = reader.Payment(ctx, key)
	a.Entries, errs[2] = reader.Ledger(ctx, key)
	a.Refunds, errs[3] = reader.Refunds(ctx, key)
	a.Attention, errs[4] = reader.Attention(ctx, key)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return a
}

// timeline returns the timeline as partners read it: kinds, and codes of notes.
func (w *world) timeline(t *testing.T, orderID string) (list []string) {
	t.Helper()
	var timeline struct {
		Events []struct {
			Event string `json:"event"`
			Data  struct {
				Code string `json:"code"`
			} `json:"data"`
		} `json:"events"`
	}
	a := w.do(t, call{method: http.MethodGet, path: "/v1/orders/" + orderID + "/timeline", key: w.keyOf(t, orderID)})
	if err := json.Unmarshal(a.body, &timeline); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	for _, e := range timeline.Events {
		if e.Data.Code != "" {
			e.Event = e.Data.Code
		}
		list = append(list, e.Event)
	}
	return list
}

// keyOf returns the live key of an order's partner.
func (w *world) keyOf(t *testing.T, orderID string) string {
	t.Helper()
	return strings.TrimPrefix(w.storedOrder(t, orderID).PartnerID, partnerID(""))
}

// webhooks returns the events of an order, and checks that their times ascend.
func (w *world) webhooks(t *testing.T, orderID string) (list []string) {
	t.Helper()
	var page struct {
		Events []struct {
			Event   string    `json:"event"`
			OrderID string    `json:"order_id"`
			At      time.Time `json:"timestamp"`
		} `json:"events"`
	}
	a := w.do(t, call{method: http.MethodGet, path: "/v1/events?limit=300", key: w.keyOf(t, orderID)})
	if err := json.Unmarshal(a.body, &page); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	var last time.Time
	for _, e := range page.Events {
		if e.OrderID != orderID {
			continue
		}
		if !e.At.After(last) {
			t.Errorf("%s at %v comes after another at %v", e.Event, e.At, last)
		}
		list, last = append(list, e.Event), e.At
	}
	return list
}

// is compares the state of an order.
func (s state) is(t *testing.T, status commerce.OrderStatus, attention, timeline, webhooks string, captured, refunded commerce.Cents) {
	t.Helper()
	if open := openCodes(s.Attention); s.Order.Status != status || open != attention {
		t.Errorf("the order is %s, attention %q; want %s, %q", s.Order.Status, open, status, attention)
	}
	if got := strings.Join(s.timeline, " "); got != "order.created order.pending_payment"+timeline {
		t.Errorf("timeline: %s", got)
	}
	if got := strings.Join(s.webhooks, " "); got != webhooks {
		t.Errorf("webhooks: %q, want %q", got, webhooks)
	}
	if s.Payment.CapturedCents != captured || s.Payment.RefundedCents != refunded {
		t.Errorf("captured %d, refunded %d; want %d, %d", s.Payment.CapturedCents, s.Payment.RefundedCents, captured, refunded)
	}
	for _, fault := range s.Faults() {
		t.Error(fault)
	}
}

// moneyAddsUp checks every payment of the world.
func (w *world) moneyAddsUp(t *testing.T) {
	t.Helper()
	for _, p := range w.payments(t) {
		for _, fault := range w.account(t, p.Key()).Faults() {
			t.Errorf("order %s: %s", p.OrderID, fault)
		}
	}
}

// Repeating a callback about an unknown object would not help: it is accepted,
// logged, and changes nothing.
func TestCallbacksOfTheUnknown(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		reported := w.do(t, reportOne("web-1", "k1", "prd_roll")).error().OrderID
		waiting := w.buy(t, checkout("k1", "jo@example.com", 1))
		for i, id := range []string{"ord_1_00000000000000000000000000", "ord_zz_00000000000000000000000000", "nothing", reported} {
			for _, kind := range []string{"paid", "pending", "declined", "expired", "refunded", "refund_failed"} {
				w.takes(t, callback{ID: fmt.Sprint("evt_", i), Kind: kind, OrderID: id, SessionID: "cs_test_1", PaymentID: "pi_1", AmountCents: 150, RefundID: "re_1"})
			}
		}
		if !logged.has("a payment callback is about an unknown order") {
			t.Error("nothing is logged")
		}
		if got := strings.Join(w.timeline(t, reported), " "); got != "order.created order.processed" {
			t.Errorf("the reported order: %s", got)
		}
		w.stateOf(t, waiting.OrderID).is(t, commerce.PendingPayment, "", "", "", 0, 0)
	})
}

// A repeated callback takes effect once, even if it is posted many times at once.
func TestRepeatedCallbacks(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buy(t, checkout("k1", "jo@example.com", 2))
		for _, n := range []callback{
			{ID: "evt_1", Kind: "declined", OrderID: b.OrderID, SessionID: b.SessionID, AmountCents: 300, Message: "no"},
			b.paid(300),
			{ID: "evt_3", Kind: "refunded", OrderID: b.OrderID, PaymentID: "pi_1", AmountCents: 100, RefundID: "re_1"},
			{ID: "evt_4", Kind: "refund_failed", OrderID: b.OrderID, PaymentID: "pi_1", AmountCents: 100, RefundID: "re_1", Message: "back"},
		} {
			c := w.callbackCall(t, n)
			for _, a := range w.together(t, 20, func(int) call { return c }) {
				if a.status != http.StatusOK {
					t.Errorf("%s: %d %s", n.Kind, a.status, a.body)
				}
			}
		}
		w.finishJobs(t)
		w.stateOf(t, b.OrderID).is(t, commerce.Paid, "refund_failed", " payment_declined order.paid order.refunded refund_failed", "order.paid order.refunded order.refund_failed", 300, 0)
	})
}

// A callback about a refund in the processor's dashboard comes before the one about
// its payment: it is refused, so that the processor repeats it.
func TestCallbacksOutOfOrder(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buy(t, checkout("k1", "jo@example.com", 2))
		refunded := callback{ID: "evt_2", Kind: "refunded", OrderID: b.OrderID, PaymentID: "pi_1", AmountCents: 100, RefundID: "re_1"}
		w.refuses(t, w.callbackCall(t, refunded), http.StatusConflict, "too_early")
		w.stateOf(t, b.OrderID).is(t, commerce.PendingPayment, "", "", "", 0, 0)
		w.takes(t, b.paid(300))
		w.takes(t, refunded)
		w.stateOf(t, b.OrderID).is(t, commerce.Paid, "", " order.paid order.refunded", "order.paid order.refunded", 300, 100)
		for _, kind := range []string{"pending", "declined", "expired"} { // outdated events
			w.takes(t, callback{ID: "evt_" + kind, Kind: kind, OrderID: b.OrderID, SessionID: b.SessionID})
		}
		lost := callback{ID: "evt_5", Kind: "refund_failed", OrderID: b.OrderID, PaymentID: "pi_1", AmountCents: 50, RefundID: "re_3", Message: "back"}
		w.takes(t, lost) // before the callback that it was made
		lost.ID, lost.Kind = "evt_4", "refunded"
		w.takes(t, lost)
		w.refuses(t, w.callbackCall(t, callback{ID: "evt_3", Kind: "refunded", OrderID: b.OrderID, AmountCents: 201, RefundID: "re_2"}),
			http.StatusConflict, "too_early")
		w.takes(t, callback{ID: "evt_3", Kind: "refunded", OrderID: b.OrderID, AmountCents: 200, RefundID: "re_2"})
		w.stateOf(t, b.OrderID).is(t, commerce.Refunded, "", " order.paid order.refunded order.refunded", "order.paid order.refunded order.refunded", 300, 300)
	})
}

// Callbacks from elsewhere are refused.
func TestCallbacksOfOthers(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buy(t, checkout("k1", "jo@example.com", 1))
		good := w.callbackCall(t, b.paid(150))
		signature := good.header.Get(sandbox.SignatureHeader)
		t0, sum, _ := strings.Cut(signature, ",")
		for _, header := range []string{"", "nonsense", sum, t0, t0 + ",v1=" + strings.Repeat("0", 64), "t=1," + sum, t0 + ",v1=zz"} {
			c := good
			c.header = http.Header{sandbox.SignatureHeader: {header}}
			w.refuses(t, c, http.StatusBadRequest, "bad_notice")
		}
		w.refuses(t, with(good, func(c *call) { c.body += " " }), http.StatusBadRequest, "bad_notice")
		w.refuses(t, with(good, func(c *call) { c.path = inbound.PaymentsPath("stripe") }), http.StatusNotFound, "not_found")
		w.refuses(t, with(good, func(c *call) { c.path = inbound.PaymentsPath("") }), http.StatusNotFound, "not_found")
		w.refuses(t, with(good, func(c *call) { c.method = http.MethodGet; c.body = "" }), http.StatusMethodNotAllowed, "method_not_allowed")
		for _, garbage := range []string{"", "null", "[]", "{}", "nonsense", `{"id":"e","order_id":"` + b.OrderID + `","kind":"gift"}`,
			`{"kind":"paid","amount_cents":150}`, `{"id":"e","kind":"paid","order_id":"` + b.OrderID + `","amount_cents":1.5}`, "\x00\xff"} {
			w.refuses(t, w.signed(t, garbage), http.StatusBadRequest, "bad_notice")
		}
		w.refuses(t, w.signed(t, strings.Repeat(" ", 64<<10)+good.body), http.StatusBadRequest, "invalid_body")
		w.refuses(t, w.signed(t, strings.Repeat("x", 10<<20)), http.StatusBadRequest, "invalid_body")
		w.clock.move(sandbox.Tolerance + time.Second)
		w.refuses(t, good, http.StatusBadRequest, "bad_notice") // replayed too late
		w.stateOf(t, b.OrderID).is(t, commerce.PendingPayment, "", "", "", 0, 0)
	})
}

// An amount other than the total is no payment: the merchant is asked to look, and
// the money can be refunded.
func TestAnotherAmount(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		for i, cents := range []int64{1, 299, 301, 30_000} {
			b := w.buy(t, checkout(fmt.Sprint("k", i), "jo@example.com", 2))
			w.takes(t, b.paid(cents))
			w.takes(t, b.paid(cents))
			w.takes(t, b.paid(300)) // the same payment with another amount
			w.stateOf(t, b.OrderID).is(t, commerce.PendingPayment, "payment_mismatch", " payment_mismatch", "", commerce.Cents(cents), 0)
			w.refuses(t, call{method: http.MethodPost, path: "/v1/orders/" + b.OrderID + "/confirm", key: "busy"}, http.StatusConflict, "wrong_status")
			w.takes(t, callback{ID: "evt_r", Kind: "refunded", OrderID: b.OrderID, PaymentID: "pi_1", AmountCents: cents, RefundID: fmt.Sprint("re_", i)})
			w.refuses(t, refund(b.OrderID, "r", ""), http.StatusConflict, "already_refunded")
		}
	})
}

// A second payment of an order is left to the merchant.
func TestSecondPayment(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buy(t, checkout("k1", "jo@example.com", 2))
		w.takes(t, b.paid(300))
		again := b.paid(300)
		again.PaymentID = "pi_2"
		w.takes(t, again)
		w.takes(t, again)
		w.stateOf(t, b.OrderID).is(t, commerce.Paid, "second_payment", " order.paid second_payment", "order.paid", 300, 0)
	})
}

// A payment never reopens an order that is over. The processor of this test does not
// know the payment and refuses to refund it, so the merchant is asked to look.
func TestPaymentAfterCancel(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buy(t, checkout("k1", "jo@example.com", 2))
		if a := w.do(t, call{method: http.MethodPost, path: "/v1/orders/" + b.OrderID + "/cancel", key: "busy", idem: "c"}); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		w.finishJobs(t)
		w.takes(t, b.paid(300))
		w.takes(t, b.paid(300))
		s := w.stateOf(t, b.OrderID)
		s.is(t, commerce.Cancelled, "refund_due", " order.cancelled payment_session_expired payment_too_late refund_due", "order.cancelled", 300, 0)
		if s.Payment.PendingCents != 0 {
			t.Errorf("%d cents are still set aside", s.Payment.PendingCents)
		}
	})
}
