package payment

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fakestripe"
)

// newCallbacks reads all events since the last call, and checks that their ids differ.
func newCallbacks(t *testing.T, s *Stripe, server *fakestripe.Server) (all []Callback) {
	t.Helper()
	seen := map[string]bool{}
	for _, e := range server.Take() {
		callbacks, err := s.ReadCallback(t.Context(), e.Header(), e.Body)
		if err != nil {
			t.Fatalf("%s: %v", e.Type, err)
		}
		again, err := s.ReadCallback(t.Context(), e.Header(), e.Body)
		if err != nil || !slices.Equal(again, callbacks) {
			t.Errorf("%s again: %+v, %v; want %+v", e.Type, again, err, callbacks)
		}
		for i := range callbacks {
			if callbacks[i].ID == "" || seen[callbacks[i].ID] {
				t.Errorf("%s: callback id %q", e.Type, callbacks[i].ID)
			}
			seen[callbacks[i].ID] = true
			callbacks[i].ID = ""
		}
		all = append(all, callbacks...)
	}
	return all
}

func wantNews(t *testing.T, s *Stripe, server *fakestripe.Server, want ...Callback) {
	t.Helper()
	if got := newCallbacks(t, s, server); !slices.Equal(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}

func TestStripeSessionCallbacks(t *testing.T) {
	s, server := standIn(t)
	order := newOrderID(1)
	session := opened(t, s, 1)
	if err := server.Decline(session.ID); err != nil {
		t.Fatal(err)
	}
	got := newCallbacks(t, s, server)
	if len(got) != 1 || got[0].Kind != CallbackDeclined || got[0].OrderID != order || got[0].Message != "Your card has insufficient funds." {
		t.Errorf("%+v", got)
	}
	if err := server.Pay(session.ID); err != nil {
		t.Fatal(err)
	}
	session = read(t, s, session.ID)
	wantNews(t, s, server, Callback{Kind: CallbackPaid, OrderID: order, SessionID: session.ID, PaymentID: session.PaymentID, AmountCents: 1914})

	session = opened(t, s, 1+1)
	order = newOrderID(2)
	if err := server.PayLater(session.ID); err != nil {
		t.Fatal(err)
	}
	pending := newCallbacks(t, s, server)
	if len(pending) != 1 || pending[0].PaymentID == "" {
		t.Fatalf("%+v", pending)
	}
	n := Callback{Kind: CallbackPending, OrderID: order, SessionID: session.ID, PaymentID: pending[0].PaymentID}
	if pending[0] != n {
		t.Errorf("%+v, want %+v", pending[0], n)
	}
	server.Fail(session.ID)
	n.Kind, n.Message = CallbackDeclined, "the payment did not go through"
	wantNews(t, s, server, n)
	server.Arrive(session.ID)
	n.Kind, n.Message, n.AmountCents = CallbackPaid, "", 1914
	wantNews(t, s, server, n)

	session = opened(t, s, 3)
	if err := server.Lapse(session.ID); err != nil {
		t.Fatal(err)
	}
	n = Callback{Kind: CallbackExpired, OrderID: newOrderID(3), SessionID: session.ID}
	wantNews(t, s, server, n)
}

func TestStripeRefundCallbacks(t *testing.T) {
	s, server := standIn(t)
	session := paid(t, s, server, 1)
	server.Take()
	given, err := s.Refund(t.Context(), refundOf(session, "rfd_1", 1000))
	if err != nil {
		t.Fatal(err)
	}
	ours := Callback{Kind: CallbackRefunded, OrderID: newOrderID(1), PaymentID: session.PaymentID, AmountCents: 1000, RefundID: given.ID, OurRefundID: "rfd_1"}
	wantNews(t, s, server, ours, ours) // of the refund and of its charge

	// A refund of the dashboard carries no id of ours, but its payment does.
	server.SetRefundStatus("pending")
	theirs := Callback{Kind: CallbackRefunded, OrderID: newOrderID(1), PaymentID: session.PaymentID, AmountCents: 14,
		RefundID: server.RefundInDashboard(session.PaymentID, 14)}
	wantNews(t, s, server, theirs, theirs, ours) // the charge has both refunds

	server.FailRefund(given.ID)
	ours.Kind, ours.Message = CallbackRefundFailed, "expired_or_canceled_card"
	wantNews(t, s, server, ours, ours)

	server.Dispute(session.PaymentID, 900)
	wantNews(t, s, server, Callback{Kind: CallbackDisputed, OrderID: newOrderID(1), PaymentID: session.PaymentID, AmountCents: 900, Message: "fraudulent"})
}

// While Stripe's API is down, an error asks for the callback to be posted again.
func TestStripeCallbackWhileAPIIsDown(t *testing.T) {
	s, server := standIn(t)
	session := paid(t, s, server, 1)
	server.Take()
	server.RefundInDashboard(session.PaymentID, 14)
	server.Dispute(session.PaymentID, 900)
	for _, e := range server.Take() {
		for range 2 {
			server.Next(fakestripe.Fault{Status: 500, Type: "api_error"})
			_, err := s.ReadCallback(t.Context(), e.Header(), e.Body)
			temporary(t, err, "Stripe answered 500")
		}
		if callbacks, err := s.ReadCallback(t.Context(), e.Header(), e.Body); len(callbacks) != 1 || err != nil {
			t.Errorf("%s: %+v, %v", e.Type, callbacks, err)
		}
	}
}

const eventFormat = `{"id":"evt_1","object":"event","type":%q,"data":{"object":%s}}`

func event(kind, object string) []byte { return fmt.Appendf(nil, eventFormat, kind, object) }

// Events without an order of ours are accepted without an error. Otherwise Stripe
// would repeat them for days and then disable the endpoint.
func TestStripeForeignCallbacks(t *testing.T) {
	s, server := standIn(t)
	var logged bytes.Buffer
	s.log = slog.New(slog.NewTextHandler(&logged, nil))
	session := paid(t, s, server, 1)
	ours := `"metadata":{"order_id":"` + newOrderID(1) + `"}`
	for _, c := range []struct {
		kind, object string
		logs         bool
	}{
		{"checkout.session.completed", `{"id":"cs_1","metadata":{},"payment_status":"paid","amount_total":5,"currency":"usd"}`, false},
		{"checkout.session.completed", `{"id":"cs_1","metadata":{"order_id":"4711"},"payment_status":"paid","amount_total":5,"currency":"usd"}`, false},
		{"checkout.session.completed", `{"id":"cs_1","metadata":null,"client_reference_id":"` + newOrderID(1) + `","payment_status":"paid"}`, false},
		{"checkout.session.completed", `{"id":"cs_1",` + ours + `}`, false}, // of an account that we cannot read
		{"checkout.session.completed", `{"id":"cs_1",` + ours + `,"payment_status":"paid","amount_total":5,"currency":"eur"}`, true},
		{"checkout.session.expired", `{"id":"cs_1"}`, false},
		{"payment_intent.payment_failed", `{"id":"pi_1"}`, false},
		{"refund.created", `{"id":"re_1","payment_intent":"pi_other","amount":5,"currency":"usd"}`, false},
		{"refund.created", `{"id":"re_1","charge":"ch_other","amount":5,"currency":"usd"}`, false},
		{"refund.created", `{"id":"re_1","amount":5,"currency":"usd"}`, false},
		{"refund.created", `{"id":"re_1","payment_intent":"` + session.PaymentID + `","amount":5,"currency":"jpy"}`, true},
		{"charge.refunded", `{"id":"ch_other","payment_intent":"pi_other","currency":"usd"}`, false},
		{"charge.refunded", `{"id":"ch_other",` + ours + `,"currency":"eur"}`, true},
		{"charge.dispute.created", `{"id":"dp_1","charge":"ch_other","amount":5,"currency":"usd"}`, false},
		{"charge.dispute.created", `{"id":"dp_1",` + ours + `,"amount":5,"currency":"eur"}`, true},
		{"account.updated", `{"id":"acct_1","metadata":[],"reason":{},"amount":"many"}`, false},
		{"charge.succeeded", `{"id":"ch_1"}`, false},
	} {
		logged.Reset()
		body := event(c.kind, c.object)
		callbacks, err := s.ReadCallback(t.Context(), fakestripe.Sign(body, time.Now(), server.Secret), body)
		if len(callbacks) != 0 || err != nil || strings.Contains(logged.String(), "not in dollars") != c.logs {
			t.Errorf("%s: %+v, %v, logged %q", body, callbacks, err, logged.String())
		}
	}
}

// The operator chooses the API version of an endpoint.
func TestStripeOldCallbacks(t *testing.T) {
	s, server := standIn(t)
	session := paid(t, s, server, 1)
	refund := server.RefundInDashboard(session.PaymentID, 14)
	later := opened(t, s, 2)
	if err := server.PayLater(later.ID); err != nil {
		t.Fatal(err)
	}
	unpaid := opened(t, s, 3)
	charge := chargeOf(t, server)
	meta := func(n byte) string { return `"metadata":{"order_id":"` + newOrderID(n) + `"}` }
	full := Callback{Kind: CallbackPaid, OrderID: newOrderID(1), SessionID: session.ID, PaymentID: session.PaymentID, AmountCents: 1914}
	back := Callback{Kind: CallbackRefunded, OrderID: newOrderID(1), PaymentID: session.PaymentID, AmountCents: 14, RefundID: refund}
	for _, c := range []struct {
		kind, object string
		want         []Callback
	}{
		{"checkout.session.completed", `{"id":"` + session.ID + `",` + meta(1) + `}`, []Callback{full}},
		{"checkout.session.completed", `{"id":"` + session.ID + `",` + meta(1) + `,"payment_status":"paid"}`, []Callback{full}},
		{"checkout.session.completed", `{"id":"` + later.ID + `",` + meta(2) + `}`, []Callback{{Kind: CallbackPending, OrderID: newOrderID(2), SessionID: later.ID}}},
		{"checkout.session.completed", `{"id":"` + unpaid.ID + `",` + meta(3) + `}`, nil},
		{"checkout.session.completed", `{"id":"` + session.ID + `",` + meta(1) + `,"payment_status":"paid","amount_total":1914,"currency":"usd",
			"payment_intent":{"id":"` + session.PaymentID + `","charges":{"data":[]}},"display_items":[{}]}`, []Callback{full}},
		{"charge.refund.updated", `{"id":"` + refund + `","charge":"` + charge + `","amount":14,"currency":"usd","status":null}`, []Callback{back}},
		{"refund.created", `{"id":"` + refund + `","charge":{"id":"` + charge + `"},"amount":14,"currency":"USD"}`, []Callback{back}},
		{"charge.refunded", `{"id":"` + charge + `",` + meta(1) + `,"payment_intent":"` + session.PaymentID + `","currency":"usd","refunds":{"data":[{"id":"old"}]}}`, []Callback{back}},
		{"charge.dispute.created", `{"id":"dp_1","charge":"` + charge + `","amount":9,"currency":"usd"}`,
			[]Callback{{Kind: CallbackDisputed, OrderID: newOrderID(1), PaymentID: session.PaymentID, AmountCents: 9}}},
	} {
		body := event(c.kind, c.object)
		// Before 2017 an event's request was a string.
		body = append(bytes.TrimSuffix(body, []byte("}")), `,"request":"req_1","api_version":"2016-07-06"}`...)
		got, err := s.ReadCallback(t.Context(), fakestripe.Sign(body, time.Now(), server.Secret), body)
		for i := range got {
			got[i].ID = ""
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", body, got, err, c.want)
		}
	}
}

func chargeOf(t *testing.T, server *fakestripe.Server) string {
	t.Helper()
	for _, e := range server.Take() {
		if e.Type == "charge.refunded" {
			_, rest, _ := strings.Cut(string(e.Body), `"id":"ch_`)
			id, _, _ := strings.Cut(rest, `"`)
			return "ch_" + id
		}
	}
	t.Fatal("no charge was refunded")
	return ""
}

func untrusted(t *testing.T, what string, s *Stripe, header http.Header, body []byte) {
	t.Helper()
	var bad *BadCallback
	if callbacks, err := s.ReadCallback(t.Context(), header, body); !errors.As(err, &bad) || len(callbacks) != 0 {
		t.Errorf("%s: %+v, %v", what, callbacks, err)
	}
}

func TestStripeSignatures(t *testing.T) {
	const current, next = "whsec_current", "whsec_next"
	s := NewStripe(StripeOptions{Key: "sk_test_x", WebhookSecrets: []string{next, current, ""}})
	body := event("checkout.session.expired", `{"id":"cs_1","metadata":{"order_id":"`+newOrderID(1)+`"}}`)
	now := time.Now()
	for what, header := range map[string]http.Header{
		"one":                   fakestripe.Sign(body, now, current),
		"the other":             fakestripe.Sign(body, now, next),
		"both":                  fakestripe.Sign(body, now, current, next),
		"among foreign ones":    fakestripe.Sign(body, now, "whsec_foreign", current),
		"four minutes old":      fakestripe.Sign(body, now.Add(-4*time.Minute), current),
		"of a clock ahead":      fakestripe.Sign(body, now.Add(time.Minute), current),
		"with an unknown v0":    {"Stripe-Signature": {fakestripe.Sign(body, now, current).Get("Stripe-Signature") + ",v0=00"}},
		"with a spoiled second": {"Stripe-Signature": {fakestripe.Sign(body, now, current).Get("Stripe-Signature") + ",v1=zz"}},
	} {
		if callbacks, err := s.ReadCallback(t.Context(), header, body); err != nil || len(callbacks) != 1 || callbacks[0].Kind != CallbackExpired || callbacks[0].ID != "evt_1" {
			t.Errorf("%s: %+v, %v", what, callbacks, err)
		}
	}
	signature := fakestripe.Sign(body, now, current).Get("Stripe-Signature")
	for what, header := range map[string]http.Header{
		"none":                 {},
		"empty":                {"Stripe-Signature": {""}},
		"garbage":              {"Stripe-Signature": {"t=now,v1=\x00\xff"}},
		"without a time":       {"Stripe-Signature": {strings.SplitAfter(signature, ",")[1]}},
		"another time":         {"Stripe-Signature": {strings.Replace(signature, "t=", "t=1", 1)}},
		"another version":      {"Stripe-Signature": {strings.Replace(signature, "v1=", "v0=", 1)}},
		"a wrong secret":       fakestripe.Sign(body, now, "whsec_wrong"),
		"an empty secret":      fakestripe.Sign(body, now, ""),
		"old":                  fakestripe.Sign(body, now.Add(-301*time.Second), current),
		"that of another body": fakestripe.Sign(append([]byte(" "), body...), now, current),
	} {
		untrusted(t, what, s, header, body)
	}
	tampered := bytes.Replace(body, []byte("evt_1"), []byte("evt_2"), 1)
	untrusted(t, "tampered", s, http.Header{"Stripe-Signature": {signature}}, tampered)
	untrusted(t, "no secrets", NewStripe(StripeOptions{Key: "sk_test_x", WebhookSecrets: []string{""}}), fakestripe.Sign(body, now, ""), body)

	for _, unreadable := range []string{"", "null", "[]", "{}", `{"object":"event"}`, `{"object":"v2.core.event","id":"evt_1"}`, `{"id":"evt_1"`,
		string(event("refund.created", `"re_1"`)), string(event("refund.created", `{"amount":"many"}`)), string(event("refund.created", `{"charge":[]}`)),
		`{"object":"event","id":"evt_1","type":"refund.created"}`, string(body) + " x"} {
		untrusted(t, unreadable, s, fakestripe.Sign([]byte(unreadable), now, current), []byte(unreadable))
	}
}

// Events arrive at a server in the form in which Stripe posts them.
func TestStripePosted(t *testing.T) {
	s, server := standIn(t)
	var got []Callback
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			t.Error(err)
		}
		callbacks, err := s.ReadCallback(r.Context(), r.Header, body.Bytes())
		if err != nil {
			t.Error(err)
		}
		got = append(got, callbacks...)
	}))
	defer service.Close()
	paid(t, s, server, 1)
	for _, e := range server.Take() {
		if status, err := e.Post(t.Context(), service.URL); status != http.StatusOK || err != nil {
			t.Error(status, err)
		}
	}
	if len(got) != 1 || got[0].Kind != CallbackPaid {
		t.Errorf("%+v", got)
	}
}

// A signed event may nest references deeply. Reading does not start again at each
// level: the number of allocations does not grow with the depth.
func TestStripeNestedReference(t *testing.T) {
	s, _ := standIn(t)
	read := func(depth int) float64 {
		nested := strings.Repeat(`{"id":`, depth) + `"pi_1"` + strings.Repeat("}", depth)
		body := event("refund.created", `{"id":"re_1","payment_intent":`+nested+`}`)
		header := fakestripe.Sign(body, time.Now(), s.secrets[0])
		least := math.Inf(1) // of some tries: what else runs in this process meanwhile is counted, too
		for range 5 {
			least = min(least, testing.AllocsPerRun(1, func() {
				var bad *BadCallback
				if _, err := s.ReadCallback(t.Context(), header, body); depth > 1 && !errors.As(err, &bad) {
					t.Errorf("%d levels: %v", depth, err)
				}
			}))
		}
		return least
	}
	shallow, deep := read(2), read(9000) // 54 KB
	if deep > shallow+50 {
		t.Errorf("%v allocations at 9000 levels, %v at 2", deep, shallow)
	}
}

func FuzzStripeReadCallback(f *testing.F) {
	const secret = "whsec_fuzz"
	answers := http.NewFileTransport(http.Dir(f.TempDir())) // answers 404 to every request
	s := NewStripe(StripeOptions{Key: "sk_test_x", WebhookSecrets: []string{secret}, Transport: answers, Log: slog.New(slog.DiscardHandler)})
	meta := `"metadata":{"order_id":"` + newOrderID(1) + `","refund_id":"rfd_1"}`
	for kind := range stripeReaders {
		f.Add(string(event(kind, `{"id":"x_1",`+meta+`,"payment_status":"paid","amount_total":5,"amount":5,"currency":"usd","payment_intent":"pi_1","status":"failed"}`)), "t=1,v1=00")
		f.Add(string(event(kind, `{"id":"x_1",`+meta+`,"charge":{"id":"ch_1"},"payment_intent":{"id":null}}`)), "")
	}
	f.Fuzz(func(t *testing.T, body, signature string) {
		var bad *BadCallback
		if _, err := s.ReadCallback(t.Context(), http.Header{"Stripe-Signature": {signature}}, []byte(body)); !errors.As(err, &bad) {
			t.Fatalf("unsigned: %v", err)
		}
		callbacks, _ := s.ReadCallback(t.Context(), fakestripe.Sign([]byte(body), time.Now(), secret), []byte(body))
		for _, n := range callbacks {
			if _, ok := commerce.StoreNoOfOrder(n.OrderID); !ok || n.ID == "" || n.Kind == "" {
				t.Errorf("%+v", n)
			}
		}
	})
}
