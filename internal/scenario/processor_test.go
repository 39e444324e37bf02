package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/payment"
)

// lineTo is the connection to the processor, which may be down, or refuse us.
type lineTo struct {
	*payment.Sandbox
	down, denies atomic.Bool
}

var (
	errDown   = errors.New("the line is down")
	errDenied = &commerce.CredentialsError{Message: "it does not accept the key sk_secret"}
)

// barred returns why a call does not get through; nil: it does.
func (l *lineTo) barred() error {
	switch {
	case l.down.Load():
		return errDown
	case l.denies.Load():
		return errDenied
	}
	return nil
}

func (l *lineTo) OpenSession(ctx context.Context, r payment.SessionRequest) (payment.Session, error) {
	if err := l.barred(); err != nil {
		return payment.Session{}, err
	}
	return l.Sandbox.OpenSession(ctx, r)
}

func (l *lineTo) ExpireSession(ctx context.Context, id string) (payment.Session, error) {
	if err := l.barred(); err != nil {
		return payment.Session{}, err
	}
	return l.Sandbox.ExpireSession(ctx, id)
}

// Refund is worse than down: the call takes effect, and its answer is lost.
func (l *lineTo) Refund(ctx context.Context, r payment.RefundRequest) (payment.Refund, error) {
	if l.denies.Load() {
		return payment.Refund{}, errDenied
	}
	made, err := l.Sandbox.Refund(ctx, r)
	if l.down.Load() {
		return payment.Refund{}, errDown
	}
	return made, err
}

// inProgress expects the answer that tells a client to repeat the call.
func (w *world) inProgress(t *testing.T, c call) {
	t.Helper()
	if a := w.refuses(t, c, http.StatusConflict, "in_progress"); a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
	}
}

// replays expects a stored answer.
func (w *world) replays(t *testing.T, c call, status int) *answer {
	t.Helper()
	a := w.do(t, c)
	if a.status != status || a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s: want the stored answer %d, got %d %s", c.path, status, a.status, a.body)
	}
	return a
}

// The processor is unreachable for a while: a repeat with the same key returns the
// outcome of the first request.
func TestRepeatGetsTheResult(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		w.line.down.Store(true)
		buy := checkout("k1", "jo@example.com", 2)
		w.inProgress(t, buy)
		w.inProgress(t, buy)
		w.line.down.Store(false)
		var b bought
		if err := json.Unmarshal(w.replays(t, buy, http.StatusCreated).body, &b); err != nil {
			t.Fatal(err)
		}
		w.replays(t, buy, http.StatusCreated)
		w.click(t, b.SessionID, "pay")
		w.finishJobs(t)

		w.line.down.Store(true)
		part := refund(b.OrderID, "r1", `{"amount_cents":100}`)
		if a := w.do(t, part); a.status != http.StatusOK && a.code() != "in_progress" {
			t.Errorf("%d %s", a.status, a.body) // a callback may have reported it by now
		}
		w.line.down.Store(false)
		var first struct {
			Total commerce.Cents `json:"total_refunded_cents"`
		}
		if err := json.Unmarshal(w.replays(t, part, http.StatusOK).body, &first); err != nil || first.Total != 100 {
			t.Errorf("%d cents are refunded, want 100 (%v)", first.Total, err)
		}

		w.line.down.Store(true)
		cancel := call{method: http.MethodPost, path: "/v1/orders/" + b.OrderID + "/cancel", key: "busy-test", idem: "c", body: `{"refund":true}`}
		if a := w.do(t, cancel); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
		w.line.down.Store(false)
		if a := w.replays(t, cancel, http.StatusOK); !strings.Contains(string(a.body), `"amount_refunded_cents":200`) {
			t.Errorf("%s", a.body)
		}
		w.finishJobs(t)
		s := w.stateOf(t, b.OrderID)
		s.is(t, commerce.Refunded, "", " order.paid order.refunded order.cancelled order.refunded",
			"order.paid order.refunded order.cancelled order.refunded", 300, 300)
		w.processorAgrees(t, s.Account)
	})
}

// An order is cancelled while all of its money is being refunded. When the processor
// refuses the refund after all, the merchant is asked to look.
func TestCancelDuringRefund(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		b := w.buyAndPay(t, checkout("k1", "jo+refund-refused@example.com", 2))
		w.line.down.Store(true)
		whole := refund(b.OrderID, "r1", "")
		w.inProgress(t, whole)
		cancel := call{method: http.MethodPost, path: "/v1/orders/" + b.OrderID + "/cancel", key: "busy-test", idem: "c", body: `{"refund":true}`}
		if a := w.do(t, cancel); a.status != http.StatusOK || strings.Contains(string(a.body), "refund") {
			t.Errorf("%d %s", a.status, a.body)
		}
		w.line.down.Store(false)
		w.refuses(t, whole, http.StatusBadGateway, "payment_processor_error")
		w.stateOf(t, b.OrderID).is(t, commerce.Cancelled, "refund_due", " order.paid order.cancelled refund_refused", "order.paid order.cancelled", 300, 0)
	})
}

// An order without a session can be cancelled, and nothing else.
func TestRefusedSession(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		w.refuses(t, checkout("k1", "jo+session-refused@example.com", 1), http.StatusBadGateway, "payment_processor_error")
		payments := w.payments(t)
		if len(payments) != 1 {
			t.Fatalf("%d payments", len(payments))
		}
		id := payments[0].OrderID
		w.stateOf(t, id).is(t, commerce.FailedPayment, "", " order.failed_payment", "", 0, 0)
		path := "/v1/orders/" + id
		w.refuses(t, call{method: http.MethodPost, path: path + "/confirm", key: "busy"}, http.StatusConflict, "wrong_status")
		w.refuses(t, refund(id, "r", ""), http.StatusConflict, "no_processor_payment")
		if a := w.do(t, call{method: http.MethodPost, path: path + "/cancel", key: "busy", idem: "c", body: `{"refund":true}`}); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
		w.finishJobs(t)
		w.stateOf(t, id).is(t, commerce.Cancelled, "", " order.failed_payment order.cancelled", "order.cancelled", 0, 0)
		w.expectStock(t, "prd_roll", 50)
	})
}

// Refused checkouts leave nothing behind.
func TestNothingIsCreated(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "small")
		live := checkout("k1", "jo@example.com", 1)
		live.key = "busy"
		if a := w.refuses(t, live, http.StatusInternalServerError, "payment_not_configured"); !strings.Contains(a.error().Error, "PURVEYOR_STRIPE_KEY") {
			t.Errorf("%s does not say what to configure", a.body)
		}
		w.refuses(t, checkout("k1", "jo@example.com", 51), http.StatusConflict, "insufficient_stock")
		if left := w.payments(t); len(left) != 0 {
			t.Errorf("payments were begun: %+v", left)
		}
		if left := w.jobs(t); len(left) != 0 {
			t.Errorf("something is to be done: %+v", left)
		}
		if a := w.do(t, checkout("k1", "jo@example.com", 1)); a.status != http.StatusCreated { // the key was released
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func (w *world) payments(t *testing.T) []commerce.Payment {
	t.Helper()
	list, err := w.engine.Reader().Payments(context.Background(), commerce.OrderKey{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
