package tracking

import (
	"cmp"
	"fmt"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// said is what a customer reads about an order. In the tables below, {store} and {courier}
// stand for names, {Store} and {Courier} for names that begin a sentence, and {number} for
// that of the order.
type said struct {
	Heading string
	Detail  string
	Next    string // what the customer can do now; empty: wait
}

// words describe an order to its customer.
func words(f service.Followed) said {
	v, ok := ofStatus[f.Order.Status]
	switch {
	case !ok && f.Order.Fulfillment == commerce.ByDelivery:
		v = ofDelivery(f.Delivery)
	case !ok:
		v = said{preparing, "This page says when it is ready.", ""}
	case f.Order.Status == commerce.Cancelled && f.Order.RefundedCents > 0:
		v.Next = moneyBack
	}
	first, _, _ := strings.Cut(f.Delivery.Courier.Name, " ")
	names := strings.NewReplacer("{store}", cmp.Or(f.Store.Name, "the store"), "{Store}", cmp.Or(f.Store.Name, "The store"),
		"{courier}", cmp.Or(first, "your courier"), "{Courier}", cmp.Or(first, "Your courier"), "{number}", number(f.Order.ID))
	return said{names.Replace(v.Heading), names.Replace(v.Detail), names.Replace(v.Next)}
}

// number is the end of an order's id, short enough to be said at a counter.
func number(orderID string) string { return strings.ToUpper(orderID[max(0, len(orderID)-4):]) }

const (
	moneyBack  = "Your money is on its way back. Banks take some days for it."
	bringAgain = "Ask {store} to bring it again or to keep it for you, or for your money back."
	preparing  = "{Store} is preparing your order"
)

// ofStatus are the words for each status in which the courier does not matter.
var ofStatus = map[commerce.OrderStatus]said{
	commerce.PendingPayment: {"Waiting for your payment", "{Store} begins once your order is paid.",
		"Pay on the page that opened when you ordered. If it is closed, order again."},
	commerce.FailedPayment:   {"The payment did not go through", "Your order was not made.", "Order again if you still want it."},
	commerce.Paid:            {"{Store} has your order", "It is paid. {Store} confirms it next.", ""},
	commerce.ReadyForPickup:  {"Your order is ready", "It waits for you at {store}.", "Come to {store}, and say that you pick up order {number}."},
	commerce.Delivered:       {"Delivered", "Enjoy!", ""},
	commerce.PickedUp:        {"Picked up", "Enjoy!", ""},
	commerce.RefundRequested: {"A refund was asked for", "{Store} decides about it.", ""},
	commerce.Cancelled:       {"Your order was cancelled", "", "Ask {store} if you did not expect this."},
	commerce.Refunded:        {"Your order was refunded", "", moneyBack},
}

// ofDelivery describes an order that is confirmed and not there yet.
func ofDelivery(d commerce.Delivery) said {
	switch {
	case d.State == commerce.DeliveryOver && !d.Status.HasGoods():
		return said{"No courier was found", "{Store} knows about it.", "Ask {store} whether it comes later, or whether you can pick it up."}
	case d.Status.Rank() <= commerce.CourierPending.Rank() || d.Status == commerce.CourierCancelled:
		if d.Attempt > 1 {
			return said{"Another courier is being looked for", "The courier before could not bring your order.", ""}
		}
		return said{preparing, "A courier is being looked for.", ""}
	}
	v := ofCourier[d.Status]
	if d.Imminent {
		v.Heading = cmp.Or(v.near, v.Heading)
		v.Next = cmp.Or(v.nearNext, v.Next)
	}
	return v.said
}

// ofCourier are the words for the couriers that are under way.
var ofCourier = map[commerce.CourierStatus]struct {
	said
	near, nearNext string // when the courier is about to arrive; empty: as before
}{
	commerce.CourierAssigned:  {said{"{Courier} is on the way to {store}", "", ""}, "{Courier} is about to reach {store}", ""},
	commerce.CourierLoaded:    {said{"{Courier} has picked up your order", "", ""}, "", ""},
	commerce.CourierEnRoute:   {said{"{Courier} is on the way to you", "", ""}, "{Courier} is almost there", "Please be at your door."},
	commerce.CourierDone:      {said{"Delivered", "Enjoy!", ""}, "", ""},
	commerce.CourierReturning: {said{"Your order goes back to {store}", "", bringAgain}, "", ""},
	commerce.CourierReturned:  {said{"Your order is back at {store}", "", bringAgain}, "", ""},
}

// arrival says when the courier arrives; empty if that is not known.
func arrival(f service.Followed) string {
	d := f.Delivery
	if d.DropoffETA == 0 || d.Status.Rank() < commerce.CourierAssigned.Rank() || d.Status.Rank() > commerce.CourierEnRoute.Rank() {
		return ""
	}
	switch minutes := (d.DropoffETA - f.Now + 30_000) / 60_000; {
	case minutes < 1:
		return "Arrives any moment"
	case minutes == 1:
		return "Arrives in about a minute"
	case minutes < 90:
		return fmt.Sprintf("Arrives in about %d minutes", minutes)
	default:
		return fmt.Sprintf("Arrives in about %d hours", (minutes+30)/60)
	}
}
