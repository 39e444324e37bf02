package payment

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakestripe"
)

func newOrderID(n byte) string {
	return commerce.NewOrderID(7, 1_790_000_000_000, commerce.Entropy{n})
}

func standIn(t *testing.T) (*Stripe, *fakestripe.Server) {
	t.Helper()
	server := fakestripe.New(t)
	return NewStripe(StripeOptions{Key: server.Key, WebhookSecrets: []string{server.Secret}, URL: server.URL}), server
}

func request(n byte) SessionRequest {
	return SessionRequest{
		OrderID: newOrderID(n), StoreName: "Corner Grocery", CustomerEmail: "jo@example.com",
		Lines: []Line{
			{Name: "Crème & café", ImageURL: "https://shop.example/a.jpg?x=1&y=2", PriceCents: 450, Quantity: 2},
			{Name: "Bread", ImageURL: "/bread.svg", PriceCents: 399, Quantity: 1},
		},
		DeliveryFeeCents: 500, TaxCents: 115, TotalCents: 1914,
		SuccessURL: "https://shop.example/thanks?s={CHECKOUT_SESSION_ID}", CancelURL: "https://shop.example/cart",
		ExpiresOn: commerce.MillisOf(time.Now().Add(time.Hour)),
	}
}

func opened(t *testing.T, s *Stripe, n byte) Session {
	t.Helper()
	session, err := s.OpenSession(t.Context(), request(n))
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func paid(t *testing.T, s *Stripe, server *fakestripe.Server, n byte) Session {
	t.Helper()
	session := opened(t, s, n)
	if err := server.Pay(session.ID); err != nil {
		t.Fatal(err)
	}
	return read(t, s, session.ID)
}

func read(t *testing.T, s *Stripe, id string) Session {
	t.Helper()
	session, err := s.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func refundOf(session Session, id string, amount commerce.Cents) RefundRequest {
	return RefundRequest{ID: id, OrderID: newOrderID(1), SessionID: session.ID, PaymentID: session.PaymentID, AmountCents: amount}
}

func refusal(t *testing.T, err error, want string) {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) || !strings.Contains(r.Message, want) {
		t.Errorf("%v; want a refusal with %q", err, want)
	}
}

func temporary(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || refused(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want a temporary error with %q", err, want)
	}
}

func denied(t *testing.T, err error, want string) {
	t.Helper()
	var d *commerce.CredentialsError
	if !errors.As(err, &d) || refused(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want a refusal of our credentials with %q", err, want)
	}
}

func TestStripeOpenSession(t *testing.T) {
	s, server := standIn(t)
	r := request(1)
	session, err := s.OpenSession(t.Context(), r)
	if err != nil || session.Status != SessionOpen || !strings.HasSuffix(session.URL, session.ID) || session.PaymentID != "" {
		t.Fatalf("%+v, %v", session, err)
	}
	made := server.Requests()[0]
	want := map[string]string{
		"mode":                                               "payment",
		"payment_method_types[0]":                            "card",
		"adaptive_pricing[enabled]":                          "false",
		"client_reference_id":                                r.OrderID,
		"metadata[order_id]":                                 r.OrderID,
		"payment_intent_data[metadata][order_id]":            r.OrderID,
		"payment_intent_data[description]":                   "Order " + r.OrderID + ", Corner Grocery",
		"customer_email":                                     "jo@example.com",
		"success_url":                                        r.SuccessURL,
		"cancel_url":                                         r.CancelURL,
		"expires_at":                                         json.Number(check.JSON(r.ExpiresOn / 1000)).String(),
		"line_items[0][quantity]":                            "2",
		"line_items[0][price_data][currency]":                "usd",
		"line_items[0][price_data][unit_amount]":             "450",
		"line_items[0][price_data][product_data][name]":      "Crème & café",
		"line_items[0][price_data][product_data][images][0]": "https://shop.example/a.jpg?x=1&y=2",
		"line_items[1][quantity]":                            "1",
		"line_items[1][price_data][currency]":                "usd",
		"line_items[1][price_data][unit_amount]":             "399",
		"line_items[1][price_data][product_data][name]":      "Bread",
		"line_items[2][quantity]":                            "1",
		"line_items[2][price_data][currency]":                "usd",
		"line_items[2][price_data][unit_amount]":             "500",
		"line_items[2][price_data][product_data][name]":      "Delivery",
		"line_items[3][quantity]":                            "1",
		"line_items[3][price_data][currency]":                "usd",
		"line_items[3][price_data][unit_amount]":             "115",
		"line_items[3][price_data][product_data][name]":      "Tax",
	}
	for field, values := range made.Form {
		if want[field] != values[0] {
			t.Errorf("%s=%q, want %q", field, values[0], want[field])
		}
	}
	if len(made.Form) != len(want) || made.IdempotencyKey != r.OrderID {
		t.Errorf("%d fields, want %d; key %q", len(made.Form), len(want), made.IdempotencyKey)
	}
}

func TestStripeOpenSessionLeavesOut(t *testing.T) {
	s, server := standIn(t)
	r := request(1)
	r.CustomerEmail, r.DeliveryFeeCents, r.TaxCents = "", 0, 0
	for _, image := range []string{"", "/a.jpg", "//host/a.jpg", "data:image/png;base64,AAAA", "javascript:alert(1)", "https:", "ht\ntp://x/",
		"https://shop.example/" + strings.Repeat("a", 2048)} {
		r.Lines = append(r.Lines, Line{Name: "Bread", ImageURL: image, PriceCents: 399, Quantity: 1})
	}
	r.Lines = r.Lines[1:]
	if _, err := s.OpenSession(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for field := range server.Requests()[0].Form {
		if strings.Contains(field, "images") || field == "customer_email" || strings.HasPrefix(field, "line_items[9]") {
			t.Error(field)
		}
	}
}

// The largest order has 98 lines, to which a fee and a tax are added.
func TestStripeHundredLines(t *testing.T) {
	s, _ := standIn(t)
	r := request(1)
	r.Lines = slices.Repeat(r.Lines[:1], 98)
	if _, err := s.OpenSession(t.Context(), r); err != nil {
		t.Error(err)
	}
	r = request(2)
	r.Lines = slices.Repeat(r.Lines[:1], 99)
	_, err := s.OpenSession(t.Context(), r)
	refusal(t, err, "101 line items")
}

func TestStripeOpenSessionAgain(t *testing.T) {
	s, server := standIn(t)
	r := request(1)
	server.Next(fakestripe.Fault{Lost: true})
	_, err := s.OpenSession(t.Context(), r)
	temporary(t, err, "cannot be reached")
	first, err := s.OpenSession(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.OpenSession(t.Context(), r); again != first || err != nil {
		t.Errorf("%+v, %v; want %+v", again, err, first)
	}
	if err := server.Pay(first.ID); err != nil {
		t.Fatal(err)
	}
	// Stripe repeats its first answer, in which the session was open.
	if again, err := s.OpenSession(t.Context(), r); err != nil || again.Status != SessionPaid || again.ID != first.ID || again.PaidCents != 1914 {
		t.Errorf("%+v, %v", again, err)
	}
	r.StoreName = "another"
	_, err = s.OpenSession(t.Context(), r)
	refusal(t, err, "same parameters")
}

func TestStripeExpireSession(t *testing.T) {
	s, server := standIn(t)
	session := opened(t, s, 1)
	want := Session{ID: session.ID, Status: SessionExpired}
	for range 2 { // the second time it is no longer open
		if got, err := s.ExpireSession(t.Context(), session.ID); got != want || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if err := server.Pay(session.ID); err == nil {
		t.Error("an expired session was paid")
	}
	session = paid(t, s, server, 2)
	if got, err := s.ExpireSession(t.Context(), session.ID); got != session || err != nil || got.Status != SessionPaid || got.PaidCents != 1914 {
		t.Errorf("%+v, %v; want %+v", got, err, session)
	}
	_, err := s.ExpireSession(t.Context(), "cs_test_none")
	refusal(t, err, "No such object")
	session = opened(t, s, 3)
	server.Next(fakestripe.Fault{Status: 400, Type: "invalid_request_error", Message: "not now"})
	_, err = s.ExpireSession(t.Context(), session.ID)
	refusal(t, err, "not now")
}

func TestStripeSessionStates(t *testing.T) {
	s, server := standIn(t)
	session := opened(t, s, 1)
	if got := read(t, s, session.ID); got != session {
		t.Errorf("%+v, want %+v", got, session)
	}
	if err := server.PayLater(session.ID); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, s, session.ID), (Session{ID: session.ID, Status: SessionPending}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	server.Arrive(session.ID)
	if got := read(t, s, session.ID); got.Status != SessionPaid || got.PaidCents != 1914 || got.PaymentID == "" || got.URL != "" {
		t.Errorf("%+v", got)
	}
	_, err := s.Session(t.Context(), "cs_test_none")
	refusal(t, err, "No such object")
}

func TestStripeRefund(t *testing.T) {
	s, server := standIn(t)
	session := paid(t, s, server, 1)
	first, err := s.Refund(t.Context(), refundOf(session, "rfd_1", 1000))
	if err != nil || first.ID == "" {
		t.Fatal(first, err)
	}
	if again, err := s.Refund(t.Context(), refundOf(session, "rfd_1", 1000)); again != first || err != nil {
		t.Errorf("%+v, %v; want %+v", again, err, first)
	}
	_, err = s.Refund(t.Context(), refundOf(session, "rfd_1", 999))
	refusal(t, err, "of 1000 cents")
	_, err = s.Refund(t.Context(), refundOf(session, "rfd_2", 915))
	refusal(t, err, "greater than unrefunded amount")
	if rest, err := s.Refund(t.Context(), refundOf(session, "rfd_3", 914)); err != nil || rest == first {
		t.Errorf("%+v, %v", rest, err)
	}
	_, err = s.Refund(t.Context(), refundOf(session, "rfd_4", 1))
	refusal(t, err, "already been refunded")
	if got := read(t, s, session.ID); got.RefundedCents != 1914 || got.PaidCents != 1914 {
		t.Errorf("%+v", got)
	}
	server.FailRefund(first.ID)
	if got := read(t, s, session.ID); got.RefundedCents != 914 {
		t.Errorf("after a refund failed: %+v", got)
	}
	_, err = s.Refund(t.Context(), refundOf(session, "rfd_1", 1000))
	refusal(t, err, "expired_or_canceled_card")
}

// A refund is made once, even if its answer was lost and its idempotency key
// forgotten.
func TestStripeRefundOnce(t *testing.T) {
	s, server := standIn(t)
	session := paid(t, s, server, 1)
	for n, forget := range []bool{false, true} {
		r := refundOf(session, "rfd_"+string(rune('a'+n)), 100)
		server.Next(fakestripe.Fault{}) // the list of refunds
		for range 2 {                   // net/http itself repeats a request with an idempotency key once
			server.Next(fakestripe.Fault{Lost: true})
		}
		_, err := s.Refund(t.Context(), r)
		temporary(t, err, "cannot be reached")
		if forget {
			server.ForgetKeys()
		}
		if _, err := s.Refund(t.Context(), r); err != nil {
			t.Error(err)
		}
		if got := read(t, s, session.ID); got.RefundedCents != commerce.Cents(100*(n+1)) {
			t.Errorf("forgotten: %v: %+v", forget, got)
		}
	}
}

func TestStripeManyRefunds(t *testing.T) {
	s, server := standIn(t)
	session := paid(t, s, server, 1)
	for range 103 { // more than one page
		server.RefundInDashboard(session.PaymentID, 1)
	}
	if got := read(t, s, session.ID); got.RefundedCents != 103 {
		t.Errorf("%+v", got)
	}
}

func TestStripeRefundStates(t *testing.T) {
	s, server := standIn(t)
	session := paid(t, s, server, 1)
	for n, status := range []string{"pending", "requires_action", "succeeded"} {
		server.SetRefundStatus(status)
		if got, err := s.Refund(t.Context(), refundOf(session, "rfd_"+status, 100)); err != nil || got.ID == "" {
			t.Errorf("%s: %+v, %v", status, got, err)
		}
		if got := read(t, s, session.ID); got.RefundedCents != commerce.Cents(100*(n+1)) {
			t.Errorf("%s: %+v", status, got)
		}
	}
	for _, status := range []string{"failed", "canceled"} {
		server.SetRefundStatus(status)
		_, err := s.Refund(t.Context(), refundOf(session, "rfd_"+status, 100))
		refusal(t, err, "the refund "+status+": lost_or_stolen_card")
	}
	if got := read(t, s, session.ID); got.RefundedCents != 300 {
		t.Errorf("%+v", got)
	}
}

func TestStripeRefundReasons(t *testing.T) {
	s, server := standIn(t)
	session := paid(t, s, server, 1)
	for n, c := range []struct{ reason, sent, note string }{
		{"", "", ""},
		{"duplicate", "duplicate", ""},
		{"fraudulent", "fraudulent", ""},
		{"requested_by_customer", "requested_by_customer", ""},
		{"Fraudulent", "", "Fraudulent"},
		{"expired_uncaptured_charge", "", "expired_uncaptured_charge"},
		{"the bread was stale", "", "the bread was stale"},
		{strings.Repeat("é", 501), "", strings.Repeat("é", 500)},
	} {
		r := refundOf(session, "rfd_"+string(rune('a'+n)), 10)
		r.Reason = c.reason
		if _, err := s.Refund(t.Context(), r); err != nil {
			t.Error(err)
		}
		all := server.Requests()
		made := all[len(all)-1]
		form := made.Form
		if form.Get("reason") != c.sent || form.Get("metadata[reason]") != c.note || made.IdempotencyKey != r.ID || form.Get("amount") != "10" ||
			form.Get("metadata[order_id]") != r.OrderID || form.Get("metadata[refund_id]") != r.ID || form.Get("payment_intent") != session.PaymentID {
			t.Errorf("%q: %v, key %q", c.reason, form, made.IdempotencyKey)
		}
	}
	_, err := s.Refund(t.Context(), RefundRequest{ID: "rfd_z", AmountCents: 1})
	refusal(t, err, "no payment")
}
