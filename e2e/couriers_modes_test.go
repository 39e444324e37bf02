package e2e_test

import (
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// TestTestOrdersByUber checks that, with test credentials, Uber's simulated courier
// delivers test orders, and live orders wait.
func TestTestOrdersByUber(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	d.process.stop()
	d.uber.SetLive(false)
	d.process, d.client = d.shop.serve("--uber-test-customer", d.uber.CustomerID, "--uber-test-client", d.uber.ClientID, "--uber-test-secret", d.uber.ClientSecret,
		"--uber-test-signing-key", d.uber.StatusKey, "--uber-test-signing-key", d.uber.CourierKey, "--uber-url", d.uber.URL, "--uber-auth-url", d.uber.AuthURL)
	if live := d.place(201, d.report()); live.Delivery.Created || d.made() != [2]int{} {
		t.Errorf("a live order: %+v, made are %v", *live.Delivery, d.made())
	}
	d.client = d.with(d.shop.partner.Keys.Test)
	sold := d.sold()
	simulated := false
	for _, r := range d.uber.Requests() {
		simulated = simulated || strings.Contains(r.Body, `"robo_courier_specification":{"mode":"auto"}`)
	}
	if d.made() != [2]int{1, 0} || d.stored(sold.OrderID, "provider") != "uber-test" || !simulated {
		t.Errorf("made are %v, by %s, simulated: %v", d.made(), d.stored(sold.OrderID, "provider"), simulated)
	}
	check.OK(t, d.uber.Move(sold.Delivery.ID, "delivered"))
	for _, e := range d.uber.Take() {
		d.postRaw(uberName, e.Header(), e.Body).refusal(t, 404, "not_found") // no provider of live orders is configured
		d.postCallback("uber-test", e.Header(), e.Body)
	}
	if o := d.order("/v1/orders/" + sold.OrderID); o.Status != "delivered" {
		t.Errorf("the order is %s", o.Status)
	}
	if cancelled := d.place(201, d.report()); !d.cancel(cancelled.OrderID).Delivery {
		t.Error("the simulated courier is not cancelled")
	}
}

// TestTestCredentialsForLiveOrders checks that test credentials for live orders, for
// which no courier would come, lead to the other provider and a warning.
func TestTestCredentialsForLiveOrders(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	d := newDispatch(s)
	d.process.stop()
	d.uber.SetLive(false)
	d.process, d.client = s.serve(d.flags()...)
	d.bringsOne(t, "test credentials", "report", dashName)
	check.Eventually(t, patience, pollPause, "the log to say why", func() bool {
		return strings.Contains(d.process.stderr.String(), "Uber Direct answers in another mode")
	})
}

// TestProviderIsTakenOut checks that a provider keeps its deliveries after the
// operator has removed it from the order of providers, and that they wait if it is no
// longer configured.
func TestProviderIsTakenOut(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	sold, other := d.sold(), d.sold()
	d.process.stop()
	d.process, d.client = d.shop.serve(append(d.flags(), "--couriers", "doordash")...)
	check.OK(t, d.uber.Move(sold.Delivery.ID, "pickup_complete"))
	d.postCallbacks(1)
	if at, err := d.location(sold.OrderID); err != nil || at.Status != "out_for_delivery" {
		t.Errorf("%+v, %v", at, err)
	}
	if next := d.sold(); d.stored(next.OrderID, "provider") != dashName {
		t.Errorf("the next order is brought by %s", d.stored(next.OrderID, "provider"))
	}
	d.process.stop()
	d.process, d.client = d.shop.serve()
	d.silence()
	if at, err := d.location(sold.OrderID); err != nil || at.Source != "cache" || at.Status != "out_for_delivery" {
		t.Errorf("%+v, %v", at, err)
	}
	if out := d.cancel(other.OrderID); out.Delivery {
		t.Errorf("it cannot have been cancelled: %+v", out)
	}
	d.process.stop()
	d.process, d.client = d.shop.serve(d.flags()...)
	if out := d.cancel(other.OrderID); !out.Delivery {
		t.Errorf("%+v", out)
	}
}
