package e2e_test

import (
	"strings"
	"sync"
	"testing"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/fakedoordash"
	"purveyor/internal/testkit/fakeuber"

	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite/sqlitex"
)

// change runs statements in the database while the service is running.
func (s *shop) change(script string) {
	s.t.Helper()
	if s.postgres != "" {
		conn, err := pgx.Connect(s.t.Context(), s.postgres)
		check.OK(s.t, err)
		defer conn.Close(s.t.Context())
		_, err = conn.Exec(s.t.Context(), script)
		check.OK(s.t, err)
		return
	}
	conn := openSQLite(s.t, s.path())
	defer conn.Close()
	conn.SetBusyTimeout(patience)
	check.OK(s.t, sqlitex.ExecuteScript(conn, script, nil))
}

// silence makes all deliveries look as if the last callback came ten minutes ago.
func (d *dispatch) silence() {
	d.t.Helper()
	d.shop.change("UPDATE deliveries SET heard_on = heard_on - 600000, seen_on = seen_on - 600000, asked_on = asked_on - 600000;")
}

// reads counts the requests for a delivery at Uber.
func (d *dispatch) reads() (n int) {
	for _, r := range d.uber.Requests() {
		if r.Method == "GET" && strings.HasPrefix(r.Path, "/deliveries/") {
			n++
		}
	}
	return n
}

// poll asks for the courier's location, many times at once.
func (d *dispatch) poll(orderID string, many int) []located {
	d.t.Helper()
	answers := make([]located, many)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			var err error
			if answers[i], err = d.location(orderID); err != nil {
				d.t.Error(err)
			}
		})
	}
	wg.Wait()
	return answers
}

// TestManyPollersShareACall checks that a recent position is returned as it is, and
// that otherwise the provider is asked once for all callers.
func TestManyPollersShareACall(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		const many = 50
		d := newDispatch(s)
		sold := d.sold()
		d.uber.Requests()
		for _, at := range d.poll(sold.OrderID, many) {
			if at.Source != "cache" || at.Status != "shipped" {
				t.Errorf("%+v", at)
			}
		}
		if n := d.reads(); n != 0 {
			t.Errorf("Uber was asked %d times for what was just heard", n)
		}
		check.OK(t, d.uber.Move(sold.Delivery.ID, "dropoff")) // without a callback
		d.silence()
		live := 0
		for _, at := range d.poll(sold.OrderID, many) {
			if at.Status != "out_for_delivery" || at.CourierStatus == nil || *at.CourierStatus != "en_route_to_dropoff" || at.Courier.Location == nil {
				t.Errorf("%+v", at)
			}
			if at.Source == "live" {
				live++
			}
		}
		if n := d.reads(); n != 1 || live == 0 {
			t.Errorf("Uber was asked %d times, by %d", n, live)
		}
		pushed := d.pushed(sold.OrderID)
		if pushed["order.out_for_delivery"] != 1 || pushed["delivery.out_for_delivery"] != 1 {
			t.Errorf("what a live call finds is pushed: %v", pushed)
		}
	})
}

// TestLiveCallFails checks that the stored position is returned if the provider
// cannot be asked or answers nonsense.
func TestLiveCallFails(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	byUber := d.sold()
	d.uber.Always(&fakeuber.Fault{Status: 429})
	byDash := d.sold()
	for name, fault := range map[string]fakeuber.Fault{
		"down":            {Down: true},
		"HTML":            {Status: 200, Body: htmlPage},
		"error in HTML":   {Status: 503, Body: htmlPage},
		"half":            {Half: true},
		"nothing":         {Status: 200, Body: "{}"},
		"asked too often": {Status: 429, Header: retryAfter},
		"not there":       {Status: 404, Code: "delivery_not_found"},
	} {
		d.uber.Always(&fault)
		d.dash.Always(fakedoordash.Fault{Status: fault.Status, Down: fault.Status == 0, Body: fault.Body, Code: fault.Code, Header: fault.Header})
		d.silence()
		for _, id := range []string{byUber.OrderID, byDash.OrderID} {
			at, err := d.location(id)
			if err != nil || at.Source != "cache" || at.Status != "shipped" || at.CourierStatus == nil || *at.CourierStatus != "pending" || at.ID == nil {
				t.Errorf("%s: %+v, %v", name, at, err)
			}
			d.must(200, get("/v1/orders/"+id+"/tracking"))
		}
		d.fine()
	}
	for _, id := range []string{byUber.OrderID, byDash.OrderID} {
		if at, err := d.location(id); err != nil || at.Source != "live" {
			t.Errorf("%+v, %v", at, err)
		}
	}
	d.silence()
	d.uber.Always(&fakeuber.Fault{Status: 401, Code: "unauthorized"})
	for range 3 {
		if at, err := d.location(byUber.OrderID); err != nil || at.Source != "cache" {
			t.Errorf("%+v, %v", at, err)
		}
	}
	d.fine()
	d.uber.Requests()
	if at, err := d.location(byUber.OrderID); err != nil || at.Source != "cache" || len(d.uber.Requests()) != 0 {
		t.Errorf("Uber is asked again at once with tokens that it refuses: %+v, %v", at, err)
	}
}

// TestFinishedIsAskedFor checks that driver-location asks the provider about a
// finished delivery (SPEC), and tracking does not.
func TestFinishedIsAskedFor(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	sold := d.sold()
	check.OK(t, d.uber.Move(sold.Delivery.ID, "delivered"))
	d.postCallbacks(1)
	d.uber.Requests()
	d.silence()
	d.must(200, get("/v1/orders/"+sold.OrderID+"/tracking"))
	if n := d.reads(); n != 0 {
		t.Errorf("tracking has asked %d times", n)
	}
	if at, err := d.location(sold.OrderID); err != nil || at.Source != "live" || at.Status != "delivered" || d.reads() != 1 {
		t.Errorf("%+v, %v", at, err)
	}
	d.uber.Always(&fakeuber.Fault{Down: true})
	if at, err := d.location(sold.OrderID); err != nil || at.Source != "cache" || at.Status != "delivered" {
		t.Errorf("%+v, %v", at, err)
	}
}

// TestLostCallbacksAreFound checks that a provider that has been silent for long is
// asked, until the goods are delivered.
func TestLostCallbacksAreFound(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		d := newDispatch(s)
		byUber := d.sold()
		d.uber.Always(&fakeuber.Fault{Status: 429})
		byDash := d.sold()
		d.uber.Always(nil)
		ids := []string{byUber.OrderID, byDash.OrderID}
		for _, step := range []struct{ uber, dash, status string }{
			{"pickup_complete", "picked_up", "out_for_delivery"}, {"delivered", "delivered", "delivered"},
		} {
			check.OK(t, d.uber.Move(byUber.Delivery.ID, step.uber))
			check.OK(t, d.dash.Move(byDash.Delivery.ID, step.dash))
			d.silence()
			d.shop.change("UPDATE jobs SET run_at = run_at - 600000 WHERE kind = 'check_delivery';")
			for _, id := range ids {
				check.Eventually(t, patience, pollPause, "the delivery to be found "+step.status, func() bool { return d.order("/v1/orders/"+id).Status == step.status })
			}
		}
		check.Eventually(t, patience, pollPause, "the checks to end", func() bool {
			return d.shop.count("SELECT CAST(count(*) AS TEXT) FROM jobs WHERE kind = 'check_delivery'") == "0"
		})
		d.postCallbacks(1) // the callbacks arrive late
		for _, id := range ids {
			if pushed := d.pushed(id); pushed["order.delivered"] != 1 || pushed["delivery.delivered"] != 1 || pushed["order.out_for_delivery"] != 1 {
				t.Errorf("pushed are %v", pushed)
			}
		}
	})
}

// TestLostGiveUpIsFound checks the same for a courier that gave up without a
// callback.
func TestLostGiveUpIsFound(t *testing.T) {
	t.Parallel()
	d := newDispatch(newShop(t))
	sold := d.sold()
	check.OK(t, d.uber.Move(sold.Delivery.ID, "canceled"))
	d.silence()
	d.shop.change("UPDATE jobs SET run_at = run_at - 600000 WHERE kind = 'check_delivery';")
	d.attempt(sold.OrderID, 2, dashName)
	check.Eventually(t, patience, pollPause, "one check for the new attempt", func() bool {
		subjects := d.shop.rows("SELECT subject FROM jobs WHERE kind = 'check_delivery'")
		return len(subjects) == 1 && strings.HasSuffix(subjects[0], "_2")
	})
}
