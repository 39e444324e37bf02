package e2e_test

import (
	"strings"
	"sync"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakeuber"
)

// TestAnswerOfCreateIsLost checks that the other provider is not asked while the
// outcome at the first one is unknown, and that the first one is asked until it
// answers.
func TestAnswerOfCreateIsLost(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		d := newDispatch(s)
		for name, fault := range map[string]fakeuber.Fault{
			"lost":             {Lost: true},
			"half of it comes": {Half: true},
			"an error of a proxy, which may have passed it on": {Status: 504, Body: htmlPage},
			"an error of Uber's": {Status: 500, Code: "internal_server_error"},
		} {
			fault.On = "POST /deliveries"
			d.uber.Next(fault)
			d.knowsInTheEnd(t, name, uberName, func() { d.uber.Always(&fakeuber.Fault{Down: true}) })
		}
	})
}

func TestAnswerOfCreateIsLostAtDoorDash(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t), "--couriers", "doordash,uber")
	for name, fault := range map[string]fakedoordash.Fault{
		"lost": {Lost: true},
		"an error of a proxy, which may have passed it on": {Status: 504, Body: htmlPage},
		"a page of HTML": {Status: 200, Body: htmlPage},
	} {
		d.dash.Next(fakedoordash.Fault{}) // for the quote
		d.dash.Next(fault)
		d.knowsInTheEnd(t, name, dashName, func() { d.dash.Always(fakedoordash.Fault{Status: 503}) })
	}
}

// knowsInTheEnd reports an order while the first provider's answer is lost, repeats
// the report while that provider is gone, and, by many callers at once, when it is
// back.
func (d *dispatch) knowsInTheEnd(t *testing.T, name, by string, gone func()) {
	t.Helper()
	before, asked := d.made(), d.asked()
	request := d.report()
	for range 2 {
		if sold := d.place(201, request); sold.Delivery.Created {
			t.Errorf("%s: the outcome is unknown, and the answer says %+v", name, *sold.Delivery)
		}
		gone()
	}
	d.fine()
	want := before
	want[0]++
	other := 1
	if by == dashName {
		want = before
		want[1]++
		other = 0
	}
	sold := d.placeByMany(request)
	if now := d.asked(); d.made() != want || now[other] != asked[other] {
		t.Errorf("%s: made are %v, want %v; asked were %v, then %v", name, d.made(), want, asked, now)
	}
	if now := d.stored(sold.OrderID, "provider", "state", "provider_id", "attempt"); now != by+" active "+sold.Delivery.ID+" 1" {
		t.Errorf("%s: the delivery is %s", name, now)
	}
	h := d.history(sold.OrderID)
	if d.attention(sold.OrderID) != "" || h["delivery.created"] != 1 || h["delivery.shipped"] != 1 {
		t.Errorf("%s: attention %q, history %v", name, d.attention(sold.OrderID), h)
	}
}

// TestRefusalAfterLostAnswer checks that a refusal proves nothing while the provider
// may still be working on the call before.
func TestRefusalAfterLostAnswer(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]string{"the quote": "POST /delivery_quotes", "the delivery": "POST /deliveries"} {
		d := newDispatch(newShop(t))
		d.uber.Next(fakeuber.Fault{On: "POST /deliveries", Status: 504, Body: htmlPage})
		request := d.report()
		d.place(201, request)
		d.uber.Next(fakeuber.Fault{On: on, Status: 503, Code: "couriers_busy"})
		dash := d.asked()[1] // the service checks its credentials when it starts
		if again := d.place(201, request); again.Delivery.Created || d.asked()[1] != dash {
			t.Errorf("it refuses %s: %+v, requests %v", name, *again.Delivery, d.asked())
		}
		if sold := d.placeByMany(request); d.made() != [2]int{1, 0} {
			t.Errorf("it refuses %s: %+v, made are %v", name, *sold.Delivery, d.made())
		}
	}
}

// asked returns the number of requests to each provider so far.
func (d *dispatch) asked() [2]int {
	d.uberRequests = append(d.uberRequests, d.uber.Requests()...)
	return [2]int{len(d.uberRequests), len(d.dash.Requests())}
}

// placeByMany repeats a request from many callers until the answer has a courier. All
// answers with a courier are the same.
func (d *dispatch) placeByMany(r request) (sold delivered) {
	d.t.Helper()
	const many = 8
	answers := make([]answer, many)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			var err error
			if answers[i], err = d.send(r); err != nil {
				d.t.Error(err)
			}
		})
	}
	wg.Wait()
	check.Eventually(d.t, patience, pollPause, "a courier", func() bool {
		sold = d.place(201, r)
		return sold.Delivery.Created
	})
	for _, a := range answers {
		if created := strings.Contains(string(a.body), `"created":true`); a.status != 201 || created && !strings.Contains(string(a.body), sold.Delivery.ID) {
			d.t.Errorf("answered %d: %s, want %s", a.status, a.body, sold.Delivery.ID)
		}
	}
	return sold
}

// TestConfirmedAnswerIsLost checks that the service repeats the call by itself,
// because partners do not repeat a confirmation for its courier.
func TestConfirmedAnswerIsLost(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	d.uber.Next(fakeuber.Fault{On: "POST /deliveries", Lost: true})
	confirm := post("/v1/orders/"+d.paid()+"/confirm", "", nil)
	order := d.place(200, confirm)
	if order.Delivery.Created || d.attention(order.OrderID) != "not_dispatched" {
		t.Errorf("%+v, attention %q", *order.Delivery, d.attention(order.OrderID))
	}
	check.Eventually(t, patience, pollPause, "the courier to be found", func() bool { return d.order("/v1/orders/"+order.OrderID).Status == "shipped" })
	if d.made() != [2]int{1, 0} || d.attention(order.OrderID) != "" {
		t.Errorf("made are %v, attention %q", d.made(), d.attention(order.OrderID))
	}
}

// TestEveryProviderRefuses checks that an order stands if all providers refuse, says why,
// and is delivered by the next free courier.
func TestEveryProviderRefuses(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		d := newDispatch(s)
		d.uber.Always(&fakeuber.Fault{On: "POST /delivery_quotes", Status: 400, Code: "address_undeliverable_limited_couriers"})
		d.dash.Always(fakedoordash.Fault{Status: 422, Code: "undeliverable", Reason: "outside_of_delivery_time"})
		request := d.report()
		sold := d.place(201, request)
		if sold.Delivery.Created || d.attention(sold.OrderID) != "not_dispatched" || d.stored(sold.OrderID, "state", "'by:'||provider") != "dispatching by:" {
			t.Errorf("%+v, attention %q, delivery %s", *sold.Delivery, d.attention(sold.OrderID), d.stored(sold.OrderID, "state", "'by:'||provider"))
		}
		if why := d.stored(sold.OrderID, "error"); !strings.Contains(why, "no free courier") {
			t.Errorf("the reason is %q", why)
		}
		d.uber.Always(&fakeuber.Fault{Down: true}) // a provider that has refused need not be asked again
		d.dash.Recover()
		if again := d.place(201, request); !again.Delivery.Created || again.OrderID != sold.OrderID || d.made() != [2]int{0, 1} {
			t.Errorf("%+v, made are %v", *again.Delivery, d.made())
		}
		if d.attention(sold.OrderID) != "" {
			t.Errorf("attention %q", d.attention(sold.OrderID))
		}
	})
}

// TestNoProviderIsConfigured checks that live orders wait until a provider is configured.
func TestNoProviderIsConfigured(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	d := newDispatch(s)
	d.process.stop()
	bare := *d
	bare.process, bare.client = s.serve()
	request := bare.report()
	sold := bare.place(201, request)
	if why := bare.stored(sold.OrderID, "error"); sold.Delivery.Created || !strings.Contains(why, "no courier provider is configured") {
		t.Errorf("%+v, because of %q", *sold.Delivery, why)
	}
	bare.process.stop()
	d.process, d.client = s.serve(d.flags()...)
	if again := d.place(201, request); !again.Delivery.Created || d.made() != [2]int{1, 0} {
		t.Errorf("%+v, made are %v", *again.Delivery, d.made())
	}
}
