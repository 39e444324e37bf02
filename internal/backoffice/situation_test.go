package backoffice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// at is a time of the tests: so many minutes after ten.
func minute(n int) commerce.Millis {
	return commerce.MillisOf(time.Date(2026, 5, 4, 10, n, 0, 0, time.UTC))
}

// factsOf is an order in a status, changed as a test likes.
func factsOf(status commerce.OrderStatus, by commerce.Fulfillment, with ...func(*orderFacts)) orderFacts {
	f := orderFacts{Order: commerce.Order{ID: "ord_1_x", StoreID: "s", Status: status, Fulfillment: by, TotalCents: 1250, CreatedOn: minute(0), Confirmed: true}}
	for _, change := range with {
		change(&f)
	}
	return f
}

func event(kind commerce.TimelineKind, n int) func(*orderFacts) {
	return func(f *orderFacts) {
		f.Timeline = append(f.Timeline, commerce.TimelineEvent{Kind: kind, CreatedOn: minute(n), Actor: "staff:u"})
	}
}

func delivery(d commerce.Delivery) func(*orderFacts) { return func(f *orderFacts) { f.Delivery = &d } }

func paidBy(p commerce.Payment) func(*orderFacts) { return func(f *orderFacts) { f.Payment = &p } }

func raised(code commerce.AttentionCode, detail string) func(*orderFacts) {
	return func(f *orderFacts) {
		f.Attention = append(f.Attention, commerce.Attention{Code: code, Since: minute(9), Detail: detail})
	}
}

// TestSituation: one sentence says what is going on, and the next action follows from it.
func TestSituation(t *testing.T) {
	captured := commerce.Payment{State: commerce.PaymentPaid, SessionID: "s", CapturedCents: 1250}
	for _, c := range []struct {
		f          orderFacts
		want, next string
	}{
		{factsOf(commerce.PendingPayment, commerce.ByPickup), "Waiting for the payment", ""},
		{factsOf(commerce.PendingPayment, commerce.ByPickup, paidBy(commerce.Payment{State: commerce.PaymentOpening})), "The payment page is being opened", ""},
		{factsOf(commerce.PendingPayment, commerce.ByPickup, paidBy(commerce.Payment{State: commerce.PaymentRefused, Error: "no such account."})), "No payment page could be opened; no such account", ""},
		{factsOf(commerce.PendingPayment, commerce.ByPickup, paidBy(commerce.Payment{State: commerce.PaymentOpen, SessionID: "s"})), "Waiting for the customer to pay $12.50 since 10:00", ""},
		{factsOf(commerce.FailedPayment, commerce.ByPickup), "The payment failed, and the customer cannot pay any more", ""},
		{factsOf(commerce.Paid, commerce.ByPickup, event(commerce.TimelinePaid, 3)), "Paid $12.50 at 10:03, and waits to be confirmed", doConfirm},
		{factsOf(commerce.Paid, commerce.ByPickup, raised(commerce.AttentionInsufficientStock, "Rye: 3 wanted, 1 left")), "Paid, but it cannot be confirmed; Rye: 3 wanted, 1 left", doConfirm},
		{factsOf(commerce.Processed, commerce.ByPickup, event(commerce.TimelineProcessed, 4)), "To be made since 10:04; mark it ready when the goods wait for the customer", doReady},
		{factsOf(commerce.ReadyForPickup, commerce.ByPickup, func(f *orderFacts) { f.Order.ReadyForPickupAt = minute(5) }), "Ready since 10:05, and waits for its customer", doPickedUp},
		{factsOf(commerce.PickedUp, commerce.ByPickup, func(f *orderFacts) { f.Order.PickedUpAt = minute(6) }), "Picked up at 10:06", ""},
		{factsOf(commerce.Processed, commerce.ByDelivery), "No courier was asked yet", ""},
		{factsOf(commerce.Processed, commerce.ByDelivery, delivery(commerce.Delivery{State: commerce.DeliveryDispatching, CreatedOn: minute(5), Error: "no couriers"}), func(f *orderFacts) {
			f.Jobs = []commerce.Job{{Kind: commerce.JobDispatch, State: commerce.JobWaiting, Tries: 2, RunAt: minute(9)}}
		}), "Waiting for a courier since 10:05; no couriers; next try 10:09", ""},
		{factsOf(commerce.Processed, commerce.ByDelivery, delivery(commerce.Delivery{State: commerce.DeliveryDispatching, CreatedOn: minute(5)}), func(f *orderFacts) {
			f.Jobs = []commerce.Job{{Kind: commerce.JobDispatch, State: commerce.JobHeld, RunAt: minute(9)}}
		}), "Waiting for a courier since 10:05; held until the operator releases it, because the database was restored", ""},
		{factsOf(commerce.Shipped, commerce.ByDelivery, delivery(commerce.Delivery{State: commerce.DeliveryActive, Provider: "uber", ProviderID: "d", Status: commerce.CourierPending, AskedOn: minute(6)})), "Uber Direct looks for a courier since 10:06", ""},
		{factsOf(commerce.Shipped, commerce.ByDelivery, delivery(commerce.Delivery{Status: commerce.CourierAssigned, Courier: commerce.Courier{Name: "Kim"}, PickupETA: minute(20)})), "Kim is on the way to the store, there at 10:20", ""},
		{factsOf(commerce.OutForDelivery, commerce.ByDelivery, delivery(commerce.Delivery{Status: commerce.CourierEnRoute, DropoffETA: minute(31)})), "A courier is on the way to the customer, there at 10:31", ""},
		{factsOf(commerce.OutForDelivery, commerce.ByDelivery, delivery(commerce.Delivery{Status: commerce.CourierEnRoute, Imminent: true})), "A courier is about to arrive at the customer", ""},
		{factsOf(commerce.OutForDelivery, commerce.ByDelivery, delivery(commerce.Delivery{Status: commerce.CourierReturning})), "A courier brings the goods back to the store", ""},
		{factsOf(commerce.Processed, commerce.ByDelivery, delivery(commerce.Delivery{State: commerce.DeliveryOver, Status: commerce.CourierCancelled, Attempt: 4}), raised(commerce.AttentionCourierGaveUp, "The fourth cancelled.")), "No courier delivers it; The fourth cancelled", doDispatch},
		{factsOf(commerce.Delivered, commerce.ByDelivery, event(commerce.TimelineDelivered, 40)), "Delivered at 10:40", ""},
		{factsOf(commerce.RefundRequested, commerce.ByPickup, event(commerce.TimelineRefundRequested, 41), paidBy(captured)), "A refund is requested since 10:41; refund it or decline", doRefund},
		{factsOf(commerce.Cancelled, commerce.ByPickup, event(commerce.TimelineCancelled, 42), paidBy(captured)), "Cancelled at 10:42; $12.50 of the payment is not refunded", doRefund},
		{factsOf(commerce.Cancelled, commerce.ByPickup, paidBy(commerce.Payment{CapturedCents: 1250, PendingCents: 1250})), "Cancelled; $12.50 is on its way back", ""},
		{factsOf(commerce.Refunded, commerce.ByPickup, event(commerce.TimelineRefunded, 43), paidBy(commerce.Payment{CapturedCents: 1250, RefundedCents: 1250})), "Refunded in full at 10:43", ""},
	} {
		got := c.f.situation(func(at commerce.Millis) string { return at.Time().UTC().Format("15:04") })
		next, _ := c.f.next()
		if got != c.want || next.Name != c.next {
			t.Errorf("%s %s: %q then %q, want %q then %q", c.f.Order.Fulfillment, c.f.Order.Status, got, next.Name, c.want, c.next)
		}
	}
}

// TestActions: every action is possible or says why not, and those that change the status are
// possible where the lifecycle has them.
func TestActions(t *testing.T) {
	for _, status := range commerce.Statuses {
		for _, by := range []commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery} {
			f := factsOf(status, by, paidBy(commerce.Payment{CapturedCents: 100}))
			for _, a := range f.actions() {
				trigger, ok := triggers[a.Name]
				if _, err := f.Order.Check(trigger); ok && (err == nil) != (a.Refused == "") {
					t.Errorf("%s of a %s order in %s: %q, %v", a.Name, by, status, a.Refused, err)
				}
				if a.Word == "" || a.May == "" {
					t.Errorf("%+v has no word or permission", a)
				}
			}
		}
	}
	for want, p := range map[string]*commerce.Payment{
		"Nothing was paid by card here": nil, "": {CapturedCents: 9}, "All of the payment is refunded": {CapturedCents: 9, RefundedCents: 9},
		"All of the payment is on its way back": {CapturedCents: 9, PendingCents: 9},
	} {
		f := factsOf(commerce.Paid, commerce.ByPickup)
		f.Payment = p
		if got := f.refusal(doRefund); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}

// TestStory: all that happened stands in one list by time, each thing once, with its actor.
func TestStory(t *testing.T) {
	f := factsOf(commerce.Processed, commerce.ByPickup, event(commerce.TimelineCreated, 0), event(commerce.TimelineProcessed, 2))
	f.Timeline[1].Data = commerce.StockData{Moves: []commerce.InventoryMove{{ProductID: "rye", Delta: -2, Left: 5}}}
	f.Refunds = []commerce.Refund{{State: commerce.RefundDone, UpdatedOn: minute(3)}, {State: commerce.RefundFailed, AmountCents: 99, Error: "declined", UpdatedOn: minute(4)}}
	f.Webhooks = []sentEvent{
		{commerce.WebhookEvent{Kind: commerce.WebhookProcessed, Timestamp: minute(2), TraceID: "t2"},
			[]commerce.WebhookAttempt{{At: minute(2) + 1, Error: "refused"}, {At: minute(7), Status: 200, TookMs: 12}}},
		{commerce.WebhookEvent{Kind: commerce.WebhookRefundFailed, Timestamp: minute(4) + 1}, nil},
	}
	f.Audit = []commerce.AuditEntry{{CreatedOn: minute(2), Actor: "staff:u", Action: "confirm_order"},
		{CreatedOn: minute(6), Actor: "staff:v", Action: "resolve_attention", After: []byte(`{"attention":{"a":{"detail":"called"}},"new_jobs":["x"]}`)}}
	var got []string
	for _, e := range f.story() {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %s %s [%s] %s %v %s", offset(e.Offset), e.Part, e.Title, strings.Join(e.Detail, ","), e.Actor, e.Failed, e.TraceID), " "))
	}
	want := []string{
		"+0 s order Order made [] staff:u false",
		"+2 min order Confirmed [] staff:u false t2",
		"+2 min stock Stock moved [rye: -2, 5 left] staff:u false",
		"+2 min webhook Webhook order.processed was not answered [refused]  true t2",
		"+4 min payment Refund of $0.99 failed [declined]  true",
		"+4 min webhook Event order.refund_failed is kept; the partner has no endpoint []  false",
		"+6 min staff Resolve attention [called] staff:v false",
		"+7 min webhook Webhook order.processed answered 200 in 12 ms []  false t2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
