package command

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/commerce"
)

// lifecycleRow is what a row of the lifecycle table must do, written a second time.
type lifecycleRow struct {
	trigger commerce.Trigger
	by      string // the actors that may do it
	from    string // the statuses; "-": the order is made
	to      commerce.OrderStatus
	only    commerce.Fulfillment
	stock   func(o commerce.Order) int64 // pieces that move
	events  string                       // the timeline event, the webhook event and the jobs
}

var (
	none     = func(commerce.Order) int64 { return 0 }
	takes    = func(commerce.Order) int64 { return -3 }
	restores = func(o commerce.Order) int64 {
		if o.InventoryDeducted {
			return 3
		}
		return 0
	}
	restoresUnhanded = func(o commerce.Order) int64 {
		if slices.Contains([]commerce.OrderStatus{commerce.Delivered, commerce.PickedUp, commerce.Cancelled}, o.Status) {
			return 0
		}
		return restores(o)
	}
)

const (
	humans  = "partner member staff"
	shell   = humans + " operator"
	outside = "provider system"
	unended = "pending_payment failed_payment paid processed shipped out_for_delivery ready_for_pickup refund_requested"
)

var lifecycleRows = []lifecycleRow{
	{commerce.StartCheckout, humans, "-", commerce.PendingPayment, "", none, "order.pending_payment"},
	{commerce.Report, humans, "-", commerce.Processed, "", takes, "order.processed POST order.accepted"},
	{commerce.PaymentSucceeded, outside, "pending_payment", commerce.Paid, "", none, "order.paid POST order.paid mail_order_paid text_order_paid"},
	{commerce.PaymentSessionFailed, "system operator", "pending_payment", commerce.FailedPayment, "", none, "order.failed_payment"},
	{commerce.Confirm, shell, "paid", commerce.Processed, "", takes, "order.processed POST order.processed"},
	{commerce.CourierCreated, outside, "processed", commerce.Shipped, commerce.ByDelivery, none, "delivery.shipped POST order.shipped"},
	{commerce.CourierPickedUp, outside, "shipped", commerce.OutForDelivery, commerce.ByDelivery, none, "delivery.out_for_delivery POST order.out_for_delivery"},
	{commerce.CourierDelivered, outside, "shipped out_for_delivery", commerce.Delivered, commerce.ByDelivery, none, "delivery.delivered POST order.delivered"},
	{commerce.MarkReady, shell, "processed", commerce.ReadyForPickup, commerce.ByPickup, none, "order.ready_for_pickup POST order.ready_for_pickup mail_order_ready"},
	{commerce.MarkPickedUp, shell, "ready_for_pickup", commerce.PickedUp, commerce.ByPickup, none, "order.picked_up POST order.picked_up"},
	{commerce.Cancel, shell, unended, commerce.Cancelled, "", restores, "order.cancelled POST order.cancelled"},
	{commerce.RefundInFull, outside, unended + " delivered picked_up cancelled", commerce.Refunded, "", restoresUnhanded, "order.refunded POST order.refunded"},
	{commerce.RefundCameBack, outside, "refunded", commerce.Shipped, "", none, "order.note POST order.refund_failed"},
	{commerce.RequestRefund, "staff", "paid processed shipped out_for_delivery delivered ready_for_pickup picked_up", commerce.RefundRequested, "", none, "order.refund_requested"},
	{commerce.DeclineRefund, "staff", "refund_requested", commerce.Paid, "", none, "order.note"},
}

var actorKinds = []commerce.ActorKind{commerce.ActorPartner, commerce.ActorMember, commerce.ActorStaff,
	commerce.ActorProvider, commerce.ActorSystem, commerce.ActorOperator}

// possible reports whether the row may be executed.
func (r lifecycleRow) possible(o commerce.Order, by commerce.ActorKind) bool {
	status := string(o.Status)
	if status == "" {
		status = "-"
	}
	return slices.Contains(strings.Fields(r.by), string(by)) && slices.Contains(strings.Fields(r.from), status) && (r.only == "" || r.only == o.Fulfillment)
}

// TestTransitions executes every row of the lifecycle table from every status, for both
// fulfillments, with and without deducted stock, by every kind of actor.
func TestTransitions(t *testing.T) {
	if len(lifecycleRows) != len(commerce.Lifecycle) {
		t.Fatalf("%d rows are tested, the table has %d", len(lifecycleRows), len(commerce.Lifecycle))
	}
	done := map[commerce.Trigger]int{}
	for _, row := range lifecycleRows {
		for _, status := range append([]commerce.OrderStatus{""}, commerce.Statuses...) {
			for _, f := range []commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery} {
				for _, deducted := range []bool{false, true} {
					for _, by := range actorKinds {
						o := orderIn(status, f, deducted)
						oc, stock := changing(o, by, 5)
						if status == commerce.RefundRequested {
							oc.order.RequestedFrom = commerce.Paid
						}
						if status == commerce.Refunded {
							oc.order.RefundedFrom = commerce.Shipped
						}
						before := oc.order
						err := oc.transition(row.trigger, "why")
						name := fmt.Sprintf("%s of a %s order in %q, deducted %v, by %s", row.trigger, f, status, deducted, by)
						if !row.possible(o, by) {
							if err == nil || !reflect.DeepEqual(oc.order, before) || !reflect.DeepEqual(oc.changes, commerce.Changes{}) {
								t.Errorf("%s: %v, %+v", name, err, oc.changes)
							}
							continue
						}
						done[row.trigger]++
						if err != nil || oc.order.Status != row.to {
							t.Fatalf("%s: %s, %v", name, oc.order.Status, err)
						}
						if moved := moved(oc.changes, stock); moved != row.stock(o) {
							t.Errorf("%s moves %d pieces, want %d", name, moved, row.stock(o))
						}
						if got := events(oc); got != row.events {
							t.Errorf("%s: %q, want %q", name, got, row.events)
						}
						for _, e := range oc.changes.Timeline {
							if e.Actor != string(by)+":x" {
								t.Errorf("%s: the timeline names %q as the actor", name, e.Actor)
							}
						}
						checkResolved(t, name, row.trigger, oc.changes)
					}
				}
			}
		}
	}
	for _, row := range lifecycleRows {
		if (done[row.trigger] == 0) != (row.from == "") {
			t.Errorf("%s was executed %d times", row.trigger, done[row.trigger])
		}
	}
}

// changing is the change of an order by an actor, with every row that a transition may
// use: stock, a payment that was captured and returned in full, a delivery and a refund.
// The merchant is asked to look for every reason there is.
func changing(o commerce.Order, by commerce.ActorKind, quantity int64) (*orderChange, commerce.Stock) {
	p := paying(commerce.PaymentPaid, o.TotalCents)
	p.RefundedCents = o.TotalCents
	delivery := commerce.Delivery{StoreID: "s", OrderID: "o", Attempt: 1, Status: commerce.CourierAssigned}
	refund := pendingRefund(commerce.RefundAsked, o.TotalCents)
	needs := commerce.Needs{Orders: []commerce.OrderKey{o.Key()}, Partners: []string{"p"}, Stock: commerce.ProductKeys("s", o.Lines),
		Payments: []commerce.OrderKey{p.Key()}, Deliveries: []commerce.OrderKey{delivery.Key()}, Refunds: []commerce.RefundKey{refund.Key()}}
	for _, r := range commerce.Reasons {
		FactsOf(o).needAttention(&needs, r.Code)
	}
	before := stored(o, quantity)
	before.Payments, before.Deliveries, before.Refunds = []commerce.Payment{p}, []commerce.Delivery{delivery}, []commerce.Refund{refund}
	for _, r := range commerce.Reasons {
		before.Attention = append(before.Attention, raisedOn(o, string(r.Code))...)
	}
	oc := begin(o, fill(needs, before), now, commerce.Actor{Kind: by, ID: "x", TraceID: "t"})
	oc.payment, oc.delivery, oc.refund = &p, &delivery, &refund
	return oc, before.Stock[0]
}

// moved is how many pieces the changes put into stock. Each stock row has its move.
func moved(c commerce.Changes, was commerce.Stock) (sum int64) {
	for i, s := range c.Stock {
		sum += s.Quantity - was.Quantity
		if c.StockMoves[i].Delta != s.Quantity-was.Quantity {
			return -1000
		}
	}
	return sum
}

// events are the timeline and webhook events and the jobs of a change. They are about the
// order in its new status.
func events(oc *orderChange) string {
	var parts []string
	for _, e := range oc.changes.Timeline {
		if e.Status != oc.order.Status || e.Seq != oc.order.Events || e.Message != "why" {
			parts = append(parts, "wrong")
		}
		if of := oc.delivery.Status; strings.HasPrefix(string(e.Kind), "delivery.") && e.CourierStatus != of {
			parts = append(parts, "without the courier's status")
		}
		parts = append(parts, string(e.Kind))
	}
	for _, w := range oc.changes.Webhooks {
		if w.Timestamp != oc.order.NotifiedOn || w.About.Order.Status != oc.order.Status {
			parts = append(parts, "wrong")
		}
		parts = append(parts, "POST", string(w.Kind))
	}
	for _, j := range oc.changes.NewJobs {
		if j.Subject != oc.order.ID || j.Owner != oc.order.StoreID || j.RunAt != now {
			parts = append(parts, "wrong")
		}
		parts = append(parts, string(j.Kind))
	}
	return strings.Join(parts, " ")
}

// checkResolved: of all reasons that were open, those are resolved that the trigger
// resolves, and no others.
func checkResolved(t *testing.T, name string, trigger commerce.Trigger, c commerce.Changes) {
	t.Helper()
	var got []commerce.AttentionCode
	for _, a := range c.Attention {
		if a.Open() || a.ResolvedBy != commerce.OrderItself+string(trigger) {
			t.Errorf("%s leaves %+v", name, a)
		}
		got = append(got, a.Code)
	}
	if want := commerce.ResolvedBy(trigger); !slices.Equal(got, want) {
		t.Errorf("%s resolves %v, want %v", name, got, want)
	}
}

// TestTransitionConditions: what the table asks for beside the status is refused with 409
// when it is missing, and nothing is changed.
func TestTransitionConditions(t *testing.T) {
	for _, c := range []struct {
		trigger  commerce.Trigger
		status   commerce.OrderStatus
		by       commerce.ActorKind
		quantity int64
		payment  func(*commerce.Payment)
		code     string // empty: possible
	}{
		{commerce.StartCheckout, "", commerce.ActorPartner, 3, nil, ""},
		{commerce.StartCheckout, "", commerce.ActorPartner, 2, nil, "insufficient_stock"},
		{commerce.Report, "", commerce.ActorPartner, 3, nil, ""},
		{commerce.Report, "", commerce.ActorPartner, 2, nil, "insufficient_stock"},
		{commerce.Confirm, commerce.Paid, commerce.ActorPartner, 3, nil, ""},
		{commerce.Confirm, commerce.Paid, commerce.ActorPartner, 2, nil, "insufficient_stock"},
		{commerce.PaymentSucceeded, commerce.PendingPayment, commerce.ActorProvider, 0, func(p *commerce.Payment) { p.CapturedCents-- }, "condition_not_met"},
		{commerce.PaymentSucceeded, commerce.PendingPayment, commerce.ActorProvider, 0, func(p *commerce.Payment) { p.CapturedCents++ }, "condition_not_met"},
		{commerce.RefundInFull, commerce.Paid, commerce.ActorSystem, 0, func(p *commerce.Payment) { p.RefundedCents-- }, "condition_not_met"},
		{commerce.RefundInFull, commerce.Paid, commerce.ActorSystem, 0, func(p *commerce.Payment) { p.CapturedCents, p.RefundedCents = 0, 0 }, "condition_not_met"},
		{commerce.Confirm, commerce.Paid, commerce.ActorSystem, 3, nil, "actor_not_allowed"},
	} {
		oc, _ := changing(orderIn(c.status, commerce.ByPickup, false), c.by, c.quantity)
		if c.payment != nil {
			c.payment(oc.payment)
		}
		before := oc.order
		err := oc.transition(c.trigger, "")
		code := ""
		if err != nil {
			code = err.(*commerce.Error).Code
		}
		if code != c.code || err != nil && (!reflect.DeepEqual(oc.order, before) || !reflect.DeepEqual(oc.changes, commerce.Changes{})) {
			t.Errorf("%s: %v, want %q; %+v", c.trigger, err, c.code, oc.changes)
		}
	}
}

// TestInactiveProducts: a product that was switched off is not sold to a new order. An
// order that was paid gets it.
func TestInactiveProducts(t *testing.T) {
	for trigger, want := range map[commerce.Trigger]string{commerce.StartCheckout: "product_inactive", commerce.Report: "product_inactive", commerce.Confirm: ""} {
		o := orderIn("", commerce.ByPickup, false)
		if trigger == commerce.Confirm {
			o.Status = commerce.Paid
		}
		before := stored(o, 5)
		before.Stock[0].Active = false
		needs := FactsOf(o).needs(trigger)
		needs.Stock = commerce.ProductKeys("s", o.Lines)
		oc := begin(o, fill(needs, before), now, byPartner)
		code := ""
		if err := oc.transition(trigger, ""); err != nil {
			code = err.(*commerce.Error).Code
		}
		if code != want {
			t.Errorf("%s: %q, want %q", trigger, code, want)
		}
	}
}

// TestTryTransitionPanics: an actor that may never do it is a bug of the command.
func TestTryTransitionPanics(t *testing.T) {
	oc, _ := changing(orderIn(commerce.Processed, commerce.ByDelivery, true), commerce.ActorPartner, 5)
	defer func() {
		if recover() == nil {
			t.Error("a partner may create a courier's delivery")
		}
	}()
	oc.tryTransition(commerce.CourierCreated, "")
}

// TestFinishSavesEveryField: finish saves a row when any of its fields was changed, those
// that are added to the types later included. A row that was not changed is not saved.
func TestFinishSavesEveryField(t *testing.T) {
	fresh := func() *orderChange {
		oc, _ := changing(orderIn(commerce.Paid, commerce.ByPickup, false), commerce.ActorPartner, 5)
		return oc
	}
	if c := fresh().finish(); len(c.Orders)+len(c.Payments)+len(c.Deliveries)+len(c.Refunds) != 0 {
		t.Errorf("rows that were not changed are saved: %+v", c)
	}
	for name, table := range map[string]struct {
		row   func(*orderChange) any // a pointer to the row
		saved func(commerce.Changes) int
	}{
		"order":    {func(oc *orderChange) any { return &oc.order }, func(c commerce.Changes) int { return len(c.Orders) }},
		"payment":  {func(oc *orderChange) any { return oc.payment }, func(c commerce.Changes) int { return len(c.Payments) }},
		"delivery": {func(oc *orderChange) any { return oc.delivery }, func(c commerce.Changes) int { return len(c.Deliveries) }},
		"refund":   {func(oc *orderChange) any { return oc.refund }, func(c commerce.Changes) int { return len(c.Refunds) }},
	} {
		fields := reflect.TypeOf(table.row(fresh())).Elem()
		for i := range fields.NumField() {
			if slices.Contains([]string{"StoreID", "OrderID", "ID"}, fields.Field(i).Name) && !(name == "refund" && fields.Field(i).Name == "OrderID") {
				continue // the key: finish panics when there is no row under it
			}
			oc := fresh()
			mutate(reflect.ValueOf(table.row(oc)).Elem().Field(i))
			if table.saved(oc.finish()) != 1 {
				t.Errorf("a change of the %s's %s is not saved", name, fields.Field(i).Name)
			}
		}
	}
}

// mutate gives a field another value.
func mutate(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		mutate(v.Field(0))
	default:
		panic("a field of kind " + v.Kind().String())
	}
}
