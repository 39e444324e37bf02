package payment_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/outside/payment"
)

func contains(t *testing.T, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("the page does not say %q:\n%s", text, body(w))
		}
	}
}

func lacks(t *testing.T, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(w.Body.String(), text) {
			t.Errorf("the page says %q:\n%s", text, body(w))
		}
	}
}

// body returns the page without its style.
func body(w *httptest.ResponseRecorder) string {
	_, body, _ := strings.Cut(w.Body.String(), "</style>")
	return body
}

func is(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d:\n%s", w.Code, status, body(w))
	}
}

const form = `<form method="post">`

func TestPageStates(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo@example.com"))
	thanks := s.site.URL + "/thanks?session=" + session.ID

	w := s.get(t, session.ID)
	is(t, w, http.StatusOK)
	contains(t, w, form, "Harbor Street Market", "Sourdough bread", "2 × $6.50", "$13.00", "$47.97", "Delivery fee", "$4.99", "Tax", "$4.44", "Pay $57.40",
		`src="`+s.site.URL+`/image.svg"`, `href="`+s.site.URL+`/cart?order=ord_1"`, "Test mode", `value="jo@example.com" readonly`)
	if names := regexp.MustCompile(` name="(\w+)"`).FindAllString(body(w), -1); strings.Join(names, "") != ` name="outcome" name="outcome"` {
		t.Errorf("the form sends%v", names)
	}

	w = s.click(t, session.ID, "decline")
	is(t, w, http.StatusPaymentRequired)
	contains(t, w, form, `role="alert"`, "Card declined", "You have not been charged")

	w = s.post(t, session.ID, "outcome=perhaps")
	is(t, w, http.StatusBadRequest)
	contains(t, w, form, `role="alert"`)
	is(t, s.post(t, session.ID, ""), http.StatusBadRequest)
	is(t, s.post(t, session.ID+"?outcome=pay", ""), http.StatusBadRequest)
	is(t, s.post(t, session.ID, "%zz"), http.StatusBadRequest)
	is(t, s.post(t, session.ID, "outcome=pay&x="+strings.Repeat("x", 10<<20)), http.StatusRequestEntityTooLarge)
	if posted := s.kinds(t); posted != " declined" {
		t.Errorf("posted%s", posted)
	}

	w = s.click(t, session.ID, "pay")
	is(t, w, http.StatusSeeOther)
	if to := w.Header().Get("Location"); to != thanks {
		t.Errorf("the customer is sent to %s, not to %s", to, thanks)
	}
	w = s.get(t, session.ID)
	is(t, w, http.StatusOK)
	contains(t, w, "Payment complete", `href="`+thanks+`"`)
	lacks(t, w, form)
	for _, outcome := range []string{"pay", "decline", ""} { // redirects, and changes nothing
		is(t, s.click(t, session.ID, outcome), http.StatusSeeOther)
	}
	if posted := s.kinds(t); posted != " paid" {
		t.Errorf("posted%s", posted)
	}
}

func TestExpiredPage(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo@example.com"))
	s.Lapse(t, session)
	for range 2 {
		w := s.get(t, session.ID)
		is(t, w, http.StatusGone)
		contains(t, w, "has expired", `href="`+s.site.URL+`/cart?order=ord_1"`)
		lacks(t, w, form, "thanks")
	}
	is(t, s.click(t, session.ID, "pay"), http.StatusGone)
	if posted := s.kinds(t); posted != " expired" {
		t.Errorf("posted%s", posted)
	}
}

// TestUnknownPage checks that all unknown pages get the same answer, which says
// nothing about existing ones.
func TestUnknownPage(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", "jo@example.com"))
	want := s.get(t, "cs_test_0")
	is(t, want, http.StatusNotFound)
	lacks(t, want, "Harbor", "ord_1", s.site.URL)
	for _, id := range []string{"secret", "ord_1", "cs_test_", session.ID[:len(session.ID)-1], session.ID + "0", strings.ToUpper(session.ID), "%00", "cs_test_" + strings.Repeat("0", 40)} {
		for _, w := range []*httptest.ResponseRecorder{s.get(t, id), s.click(t, id, "pay")} {
			is(t, w, http.StatusNotFound)
			if w.Body.String() != want.Body.String() {
				t.Errorf("%s is another page:\n%s", id, body(w))
			}
		}
	}
	for method, status := range map[string]int{http.MethodPut: 405, http.MethodDelete: 405, http.MethodHead: 200} {
		is(t, s.serve(httptest.NewRequest(method, "/sandbox/pay/"+session.ID, nil)), status)
	}
}

// TestPagesAreApart checks that a page shows nothing of another order.
func TestPagesAreApart(t *testing.T) {
	s := newCheckout(t)
	s.open(t, s.order("ord_1", "jo@example.com"))
	r := s.order("ord_2", "kim@example.com")
	r.Lines, r.TotalCents, r.DeliveryFeeCents, r.TaxCents = []payment.Line{{Name: "Tea", PriceCents: 100, Quantity: 1}}, 100, 0, 0
	w := s.get(t, s.open(t, r).ID)
	contains(t, w, "ord_2", "kim@example.com", "Tea", "$1.00")
	lacks(t, w, "ord_1", "jo@", "Sourdough", "Delivery fee", "Tax<")
}

// TestTypedAddress checks that the page asks for an address if the shop has none, and
// that its tags count.
func TestTypedAddress(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", ""))
	contains(t, s.get(t, session.ID), `name="email"`, "required")
	for _, nonsense := range []string{"", "jo", strings.Repeat("j", 300) + "%40example.com"} {
		is(t, s.post(t, session.ID, "outcome=decline&email="+nonsense), http.StatusPaymentRequired)
		contains(t, s.get(t, session.ID), `name="email"`)
	}
	w := s.post(t, session.ID, "outcome=pay&email=jo%2Bdecline%40example.com")
	is(t, w, http.StatusPaymentRequired)
	contains(t, w, `value="jo&#43;decline@example.com"`)

	session = s.open(t, s.order("ord_2", "jo@example.com"))
	is(t, s.post(t, session.ID, "outcome=pay&email=jo%2Bdecline%40example.com"), http.StatusSeeOther)
}

// TestHostileTexts checks that markup in texts of shops stays text.
func TestHostileTexts(t *testing.T) {
	s := newCheckout(t)
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'</title></style>{{.}}`
	r := s.order("ord_1"+hostile, "jo"+hostile+"@example.com")
	r.StoreName = hostile
	r.Lines[0].Name, r.Lines[0].ImageURL = hostile, "javascript:alert(1)"
	r.Lines[1].ImageURL = `https://x.example/"onerror="alert(1)`
	r.SuccessURL = `https://shop.example/"><script>?{CHECKOUT_SESSION_ID}`
	r.CancelURL = `https://shop.example/'onclick='alert(1)`
	session := s.open(t, r)
	for _, w := range []*httptest.ResponseRecorder{s.get(t, session.ID), s.click(t, session.ID, "decline")} {
		lacks(t, w, "<script", "<img src=x", "javascript:", `"onerror`, `'onclick`, "ZgotmplZ")
		contains(t, w, "&lt;script&gt;alert(1)&lt;/script&gt;", "{{.}}")
	}
	w := s.click(t, session.ID, "pay")
	is(t, w, http.StatusSeeOther)
	if to := w.Header().Get("Location"); !strings.HasPrefix(to, "https://shop.example/") || !strings.HasSuffix(to, session.ID) {
		t.Errorf("the customer is sent to %s", to)
	}
	lacks(t, s.get(t, session.ID), "<script", "ZgotmplZ")
}

func TestHeaders(t *testing.T) {
	s := newCheckout(t)
	session := s.open(t, s.order("ord_1", ""))
	first := s.get(t, session.ID)
	_, rest, _ := strings.Cut(first.Body.String(), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; img-src http: https:; form-action 'self' http: https:; frame-ancestors 'none'; base-uri 'none'",
		"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
	}
	for what, w := range map[string]*httptest.ResponseRecorder{
		"open": first, "declined": s.click(t, session.ID, "decline"), "not understood": s.click(t, session.ID, ""), "unknown": s.get(t, "cs_test_0"),
		"too large": s.post(t, session.ID, strings.Repeat("x", 1<<20)), "pay": s.click(t, session.ID, "pay"), "paid": s.get(t, session.ID),
	} {
		for name, value := range want {
			if got := w.Header().Get(name); got != value {
				t.Errorf("%s: %s is %s, want %s", what, name, got, value)
			}
		}
		if kind := w.Header().Get("Content-Type"); w.Code != http.StatusSeeOther && kind != "text/html; charset=utf-8" {
			t.Errorf("%s: the type is %s", what, kind)
		}
	}
}

// TestSessionWithoutEnd opens a session whose request names no end.
func TestSessionWithoutEnd(t *testing.T) {
	s := newCheckout(t)
	r := s.order("ord_1", "")
	r.ExpiresOn = 0
	session := s.open(t, r)
	s.ahead.Add(int64(1000 * time.Hour))
	is(t, s.get(t, session.ID), http.StatusOK)
}
