package payment_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/testkit/fakesandbox"
)

// TestMagicPayments has customers with each tag press Pay.
func TestMagicPayments(t *testing.T) {
	for _, c := range []struct {
		email  string
		status int
		posted string
	}{
		{"jo@example.com", http.StatusSeeOther, " paid"},
		{"jo+friday@example.com", http.StatusSeeOther, " paid"},
		{"decline@example.com", http.StatusSeeOther, " paid"},
		{"jo@decline+decline.example", http.StatusSeeOther, " paid"},
		{`"jo+decline@x"@example.com`, http.StatusSeeOther, " paid"},
		{"decline+", http.StatusSeeOther, " paid"},
		{"jo+decline@example.com", http.StatusPaymentRequired, " declined"},
		{"Jo+DECLINE@Example.com", http.StatusPaymentRequired, " declined"},
		{"jo+decline.twice@example.com", http.StatusPaymentRequired, " declined declined"},
		{"jo+late@example.com", http.StatusSeeOther, " paid@3s"},
		{"jo+twice@example.com", http.StatusSeeOther, " paid paid"},
		{"jo+late.twice@example.com", http.StatusSeeOther, " paid@3s paid@3s"},
		{"jo+unordered@example.com", http.StatusSeeOther, " paid pending@3s"},
		{"jo+unordered.late@example.com", http.StatusSeeOther, " paid@3s pending@6s"},
		{"jo+paid-twice@example.com", http.StatusSeeOther, " paid paid@3s"},
		{"jo+paid-less@example.com", http.StatusSeeOther, " paid"},
		{"jo+disputed@example.com", http.StatusSeeOther, " paid disputed@3s"},
		{"jo+late.disputed.paid-twice@example.com", http.StatusSeeOther, " paid@3s paid@6s disputed@6s"},
		{"jo+x.twice.unordered@example.com", http.StatusSeeOther, " paid paid pending@3s pending@3s"},
	} {
		t.Run(c.email, func(t *testing.T) {
			s := newCheckout(t)
			session := s.open(t, s.order("ord_1", c.email))
			if w := s.click(t, session.ID, "pay"); w.Code != c.status {
				t.Errorf("status %d, want %d", w.Code, c.status)
			}
			if posted := s.kinds(t); posted != c.posted {
				t.Errorf("posted%s, want%s", posted, c.posted)
			}
			// Only the callback is late, not the payment.
			if now := s.read(t, session.ID); (now.Status == payment.SessionPaid) != (c.status == http.StatusSeeOther) {
				t.Errorf("the session is %s", now.Status)
			}
		})
	}
}

// TestPay pays without the page, once.
func TestPay(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo@example.com"))
	for range 2 {
		if paid, err := s.sandbox.Pay(t.Context(), session.ID); err != nil || paid.Status != payment.SessionPaid {
			t.Errorf("the session is %s, %v", paid.Status, err)
		}
	}
	if posted := s.kinds(t); posted != " paid" {
		t.Errorf("posted%s", posted)
	}
}

// TestMagicMoney checks what the callbacks of payments say that are doubted, too low or made twice, and
// that no more is given back than was taken.
func TestMagicMoney(t *testing.T) {
	for _, c := range []struct {
		tag      string
		price    commerce.Cents
		payments int
	}{{"disputed", 5740, 1}, {"paid-less", 5739, 1}, {"paid-twice", 5740, 2}} {
		s := newCheckout(t)
		session := s.open(t, s.order("ord_1", "jo+"+c.tag+"@example.com"))
		s.click(t, session.ID, "pay")
		payments, last := map[string]bool{}, ""
		for _, n := range s.callbacks(t) {
			payments[n.PaymentID], last = true, n.PaymentID
			if n.AmountCents != c.price || (n.SessionID == "") != (n.Kind == payment.CallbackDisputed) || (n.Message == "") != (n.Kind != payment.CallbackDisputed) {
				t.Errorf("%s: posted %+v", c.tag, n)
			}
		}
		now := s.read(t, session.ID)
		if len(payments) != c.payments || now.PaidCents != c.price {
			t.Errorf("%s: %d payments, %d cents", c.tag, len(payments), now.PaidCents)
		}
		r := payment.RefundRequest{ID: "rfd_1", SessionID: session.ID, PaymentID: last, AmountCents: c.price + 1}
		if _, err := s.sandbox.Refund(t.Context(), r); err == nil {
			t.Errorf("%s: more was given back than was paid", c.tag)
		}
		r.AmountCents = c.price
		if _, err := s.sandbox.Refund(t.Context(), r); err != nil {
			t.Errorf("%s: %v", c.tag, err)
		}
	}
}

// Ten of many declines are reported by callbacks. The page reports every one, and the
// card can still pay.
func TestFewDeclinesArePosted(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo@example.com"))
	for range 14 {
		is(t, s.click(t, session.ID, "decline"), http.StatusPaymentRequired)
	}
	if posted := s.kinds(t); posted != strings.Repeat(" declined", 10) {
		t.Errorf("posted%s", posted)
	}
	_, before := s.objects.Calls()
	is(t, s.click(t, session.ID, "decline"), http.StatusPaymentRequired)
	if _, after := s.objects.Calls(); after != before {
		t.Error("one more decline is stored")
	}
	is(t, s.click(t, session.ID, "pay"), http.StatusSeeOther)
	if posted := s.kinds(t); posted != " paid" {
		t.Errorf("then posted%s", posted)
	}
}

func TestMagicSessions(t *testing.T) {
	for _, c := range []struct {
		email         string
		fails, refuse bool
	}{
		{"jo+session-refused@example.com", true, true},
		{"jo+twice.session-refused@example.com", true, true},
		{"jo+session-unreachable@example.com", true, false},
		{"jo+session@example.com", false, false},
	} {
		s := newCheckout(t)
		_, err := s.sandbox.OpenSession(t.Context(), s.order("ord_1", c.email))
		refusal, refused := errors.AsType[*payment.Refusal](err)
		if (err != nil) != c.fails || refused != c.refuse || refused && refusal.Message == "" {
			t.Errorf("%s: got %v", c.email, err)
		}
		if _, puts := s.objects.Calls(); c.fails && puts > 0 {
			t.Errorf("%s: something is stored", c.email)
		}
	}
}

func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := payment.NewSandbox(env.Env{}, &fakesandbox.Objects{}, "https://pay.example")
		r := payment.SessionRequest{OrderID: "ord_1", CustomerEmail: "jo+slow@example.com", SuccessURL: "https://shop.example", CancelURL: "https://shop.example"}
		start := time.Now()
		if session, err := slow.OpenSession(t.Context(), r); err != nil || time.Since(start) != 5*time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(start), session, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if _, err := slow.OpenSession(ctx, r); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

func TestMagicRefunds(t *testing.T) {
	for _, c := range []struct {
		email, posted string
		fails         bool
		refuse        bool
	}{
		{"jo@example.com", " refunded", false, false},
		{"jo+twice@example.com", " refunded refunded", false, false},
		{"jo+refund-refused@example.com", "", true, true},
		{"jo+refund-unreachable@example.com", "", true, false},
		{"jo+refund-fails-later@example.com", " refunded refund_failed@3s", false, false},
	} {
		t.Run(c.email, func(t *testing.T) {
			s := newCheckout(t)
			session := s.open(t, s.order("ord_1", c.email))
			s.click(t, session.ID, "pay")
			s.callbacks(t)
			r := payment.RefundRequest{ID: "rfd_1", SessionID: session.ID, PaymentID: s.read(t, session.ID).PaymentID, AmountCents: 5740}
			for range 2 { // repeats of every request are answered alike
				_, err := s.sandbox.Refund(t.Context(), r)
				refusal, refused := errors.AsType[*payment.Refusal](err)
				if (err != nil) != c.fails || refused != c.refuse || refused && refusal.Message == "" {
					t.Errorf("got %v", err)
				}
			}
			if posted := s.kinds(t); posted != c.posted {
				t.Errorf("posted%s, want%s", posted, c.posted)
			}
		})
	}
}

// TestRefundsThatAreRefused makes the mistakes that a caller can make.
func TestRefundsThatAreRefused(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo@example.com"))
	s.click(t, session.ID, "pay")
	good := payment.RefundRequest{ID: "rfd_1", SessionID: session.ID, PaymentID: s.read(t, session.ID).PaymentID, AmountCents: 1000}
	if _, err := s.sandbox.Refund(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*payment.RefundRequest){
		"the same id, another amount": func(r *payment.RefundRequest) { r.AmountCents = 999 },
		"nothing":                     func(r *payment.RefundRequest) { r.ID, r.AmountCents = "rfd_2", 0 },
		"less than nothing":           func(r *payment.RefundRequest) { r.ID, r.AmountCents = "rfd_2", -1 },
		"no id":                       func(r *payment.RefundRequest) { r.ID = "" },
		"no session":                  func(r *payment.RefundRequest) { r.SessionID = "secret" },
	} {
		r := good
		change(&r)
		made, err := s.sandbox.Refund(t.Context(), r)
		if refusal, ok := errors.AsType[*payment.Refusal](err); !ok || refusal.Message == "" {
			t.Errorf("%s: got %+v, %v", name, made, err)
		}
	}
	if now := s.read(t, session.ID); now.RefundedCents != 1000 {
		t.Errorf("refunded %d", now.RefundedCents)
	}
}

// TestRefundFailsLater checks that a failed refund gives the money back to the
// merchant, and can be made again.
func TestRefundFailsLater(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo+refund-fails-later@example.com"))
	s.click(t, session.ID, "pay")
	r := payment.RefundRequest{ID: "rfd_1", SessionID: session.ID, PaymentID: s.read(t, session.ID).PaymentID, AmountCents: 5000}
	if _, err := s.sandbox.Refund(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.ID = "rfd_2"
	if _, err := s.sandbox.Refund(t.Context(), r); err == nil {
		t.Error("more is refunded than was paid")
	}
	if now := s.read(t, session.ID); now.RefundedCents != 5000 {
		t.Errorf("refunded %d", now.RefundedCents)
	}
	s.ahead.Add(int64(4 * time.Second))
	if now := s.read(t, session.ID); now.RefundedCents != 0 {
		t.Errorf("refunded %d, after the bank sent it back", now.RefundedCents)
	}
	if _, err := s.sandbox.Refund(t.Context(), r); err != nil {
		t.Errorf("what came back cannot be refunded: %v", err)
	}
}

// TestOpenSessionIsCheap counts storage accesses, which bound the rate of sessions:
// once the secret is known, a new session is one write, and a repeated one is one
// read.
func TestOpenSessionIsCheap(t *testing.T) {
	s := newCheckout(t)
	s.open(t, s.order("ord_1", ""))
	reads, puts := s.objects.Calls()
	r := s.order("ord_2", "")
	s.open(t, r)
	if r2, p2 := s.objects.Calls(); r2 != reads || p2 != puts+1 {
		t.Errorf("a new session takes %d reads and %d writes", r2-reads, p2-puts)
	}
	s.open(t, r)
	if r2, p2 := s.objects.Calls(); r2 != reads+1 || p2 != puts+2 {
		t.Errorf("with its repeat it takes %d reads and %d writes", r2-reads, p2-puts)
	}
}

// TestTwoProcesses checks that processes share all state, and that a restart changes
// nothing.
func TestTwoProcesses(t *testing.T) {
	s := newCheckout(t)
	r := s.order("ord_1", "jo@example.com")
	session := s.open(t, r)
	other := payment.NewSandbox(env.Env{}, s.objects, s.pages.URL)
	if again, err := other.OpenSession(t.Context(), r); err != nil || again != session {
		t.Errorf("another process opens %+v, %v; the first opened %+v", again, err, session)
	}
	s.click(t, session.ID, "pay")
	if now, err := other.Session(t.Context(), session.ID); err != nil || now.Status != payment.SessionPaid {
		t.Errorf("another process sees %+v, %v", now, err)
	}
	for _, post := range s.Posted(t) {
		if callbacks, err := other.ReadCallback(t.Context(), post.Header, post.Body); err != nil || len(callbacks) != 1 {
			t.Errorf("another process reads %+v, %v", callbacks, err)
		}
	}
	if again, err := other.OpenSession(t.Context(), r); err != nil || again.Status != payment.SessionPaid || again.URL != "" {
		t.Errorf("a repeated request of a paid session gives %+v, %v", again, err)
	}
}

// TestConcurrentClicks checks that concurrent clicks pay once and report it once, and
// that an expired session takes no money.
func TestConcurrentClicks(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo@example.com"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if w := s.click(t, session.ID, "pay"); w.Code != http.StatusSeeOther && w.Code != http.StatusGone {
				t.Errorf("status %d", w.Code)
			}
		})
		all.Go(func() {
			if _, err := s.sandbox.ExpireSession(t.Context(), session.ID); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	posted, now := s.kinds(t), s.read(t, session.ID)
	if posted != " paid" && posted != " expired" || posted != " "+string(now.Status) {
		t.Errorf("the session is %s, posted%s", now.Status, posted)
	}
}

// TestConcurrentRefunds checks that refunds never exceed what was paid.
func TestConcurrentRefunds(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo@example.com"))
	s.click(t, session.ID, "pay")
	paid := s.read(t, session.ID)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := payment.RefundRequest{ID: "rfd_" + string(rune('a'+i/2)), SessionID: paid.ID, PaymentID: paid.PaymentID, AmountCents: 2000}
			_, err := s.sandbox.Refund(t.Context(), r)
			if _, refused := errors.AsType[*payment.Refusal](err); err != nil && !refused {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if now := s.read(t, session.ID); now.RefundedCents != 4000 {
		t.Errorf("refunded %d of 5740 in portions of 2000", now.RefundedCents)
	}
}

// TestUnknownOutcome repeats calls that were reported as failed, whether or not they
// were stored: they take effect once.
func TestUnknownOutcome(t *testing.T) {
	broken := errors.New("connection lost")
	for _, stored := range []bool{false, true} {
		s := newCheckout(t)
		failing := false
		fail := func(o sandbox.Object) error {
			if failing && strings.HasPrefix(o.ID, "cs_") {
				failing = false
				return broken
			}
			return nil
		}
		if stored {
			s.objects.AfterPut = fail
		} else {
			s.objects.BeforePut = fail
		}
		r := s.order("ord_1", "jo@example.com")
		failing = true
		if _, err := s.sandbox.OpenSession(t.Context(), r); !errors.Is(err, broken) {
			t.Fatalf("got %v", err)
		}
		session := s.open(t, r)
		failing = true
		if w := s.click(t, session.ID, "pay"); w.Code != http.StatusServiceUnavailable {
			t.Errorf("status %d", w.Code)
		}
		if w := s.click(t, session.ID, "pay"); w.Code != http.StatusSeeOther {
			t.Errorf("status %d", w.Code)
		}
		refund := payment.RefundRequest{ID: "rfd_1", SessionID: session.ID, PaymentID: s.read(t, session.ID).PaymentID, AmountCents: 5740}
		failing = true
		if _, err := s.sandbox.Refund(t.Context(), refund); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		if _, err := s.sandbox.Refund(t.Context(), refund); err != nil {
			t.Error(err)
		}
		if posted := s.kinds(t); posted != " paid refunded" {
			t.Errorf("posted%s", posted)
		}
	}
}

func TestSessionRequestsThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(*payment.SessionRequest){
		"no order":            func(r *payment.SessionRequest) { r.OrderID = "" },
		"another sum":         func(r *payment.SessionRequest) { r.TotalCents++ },
		"script":              func(r *payment.SessionRequest) { r.SuccessURL = "javascript:alert(1)" },
		"script with a host":  func(r *payment.SessionRequest) { r.SuccessURL = "javascript://shop.example/%0aalert(1)" },
		"data":                func(r *payment.SessionRequest) { r.CancelURL = "data:text/html,<script>alert(1)</script>" },
		"relative":            func(r *payment.SessionRequest) { r.SuccessURL = "/thanks" },
		"no scheme":           func(r *payment.SessionRequest) { r.SuccessURL = "//shop.example/thanks" },
		"no host":             func(r *payment.SessionRequest) { r.SuccessURL = "https:///thanks" },
		"a password":          func(r *payment.SessionRequest) { r.SuccessURL = "https://shop.example:x@evil.example/" },
		"a header":            func(r *payment.SessionRequest) { r.SuccessURL = "https://shop.example/\r\nSet-Cookie: a=b" },
		"a backslash":         func(r *payment.SessionRequest) { r.CancelURL = `https://shop.example\@evil.example/` },
		"empty cancel URL":    func(r *payment.SessionRequest) { r.CancelURL = "" },
		"leading white space": func(r *payment.SessionRequest) { r.CancelURL = " https://shop.example/" },
	} {
		s := newCheckout(t)
		r := s.order("ord_1", "")
		change(&r)
		session, err := s.sandbox.OpenSession(t.Context(), r)
		if refusal, ok := errors.AsType[*payment.Refusal](err); !ok || refusal.Message == "" {
			t.Errorf("%s: got %+v, %v", name, session, err)
		}
	}
}

// TestCallbacksThatAreSignedAndWrong checks callbacks of another version or another
// sandbox.
func TestCallbacksThatAreSignedAndWrong(t *testing.T) {
	s := newCheckout(t)
	for _, body := range []string{
		`{"id":"evt_1","kind":"surprise","order_id":"ord_1"}`, `{"kind":"paid","order_id":"ord_1"}`, `{"id":"evt_1","kind":"paid"}`,
		`{"id":"evt_1","kind":"paid","order_id":"ord_1","amount_cents":1e99}`, `[]`, `null`, ``, `{}{}`,
	} {
		callbacks, err := s.sandbox.ReadCallback(t.Context(), s.Sign(t, []byte(body), time.Now()), []byte(body))
		if _, bad := errors.AsType[*payment.BadCallback](err); !bad || len(callbacks) > 0 {
			t.Errorf("%s: got %+v, %v", body, callbacks, err)
		}
	}
	newer := `{"id":"evt_1","kind":"paid","order_id":"ord_1","amount_cents":7,"since":"the next version"}`
	callbacks, err := s.sandbox.ReadCallback(t.Context(), s.Sign(t, []byte(newer), time.Now()), []byte(newer))
	if err != nil || len(callbacks) != 1 || callbacks[0].AmountCents != 7 {
		t.Errorf("got %+v, %v", callbacks, err)
	}
}

// FuzzReadCallback signs its input, so that all of it reaches the decoder.
func FuzzReadCallback(f *testing.F) {
	f.Add([]byte(`{"id":"evt_1","kind":"paid","order_id":"ord_1","amount_cents":7}`), "t=1,v1=00")
	f.Add([]byte(`{"ID":"","kind":["paid"],"order_id":"\ud800"}`), "v1=,t=,")
	objects := &fakesandbox.Objects{}
	box := payment.NewSandbox(env.Env{}, objects, "https://pay.example")
	signer := sandbox.NewSigner(env.Env{}, objects)
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		if callbacks, err := box.ReadCallback(t.Context(), http.Header{sandbox.SignatureHeader: {header}}, body); err == nil {
			t.Errorf("the signature %q is taken: %+v", header, callbacks)
		}
		signature, err := signer.Sign(t.Context(), time.Now(), body)
		if err != nil {
			t.Fatal(err)
		}
		callbacks, err := box.ReadCallback(t.Context(), http.Header{sandbox.SignatureHeader: {signature}}, body)
		if _, bad := errors.AsType[*payment.BadCallback](err); err != nil && !bad {
			t.Errorf("got %v", err)
		}
		if err == nil && (len(callbacks) != 1 || callbacks[0].ID == "" || callbacks[0].OrderID == "" || callbacks[0].Kind == "") {
			t.Errorf("got %+v", callbacks)
		}
		if err == nil && !json.Valid(body) {
			t.Errorf("no JSON is read as %+v", callbacks)
		}
	})
}
