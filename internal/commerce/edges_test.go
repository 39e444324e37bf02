package commerce

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDistances(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b Point
		want float64
	}{
		{"New York and Los Angeles", Point{40.7128, -74.0060}, Point{34.0522, -118.2437}, 2445.6},
		{"London and Paris", Point{51.5074, -0.1278}, Point{48.8566, 2.3522}, 213.5},
		{"a degree of longitude at 60 degrees", Point{60, 10}, Point{60, 11}, 34.546},
		{"a degree of latitude", Point{10, 60}, Point{11, 60}, 69.093},
		{"across the date line", Point{0, 179.5}, Point{0, -179.5}, 69.093},
		{"over the pole", Point{89.5, 0}, Point{89.5, 180}, 69.093},
		{"the other side", Point{0, 0}, Point{0, 180}, math.Pi * earthMiles},
	} {
		if got := c.a.MilesTo(c.b); math.Abs(got-c.want) > c.want*0.0005 {
			t.Errorf("%s: %v miles, want %v", c.name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // rounding never makes a distance that is none
		p := places().Draw(t, "p")
		q := Point{-p.Lat, p.Lng - 180}
		if d := p.MilesTo(q); !(math.Abs(d-math.Pi*earthMiles) < 1) || p.MilesTo(p) != 0 {
			t.Fatalf("%v miles from %v to its antipode", d, p)
		}
	})
}

// TestNearbyAtTheEdge: a store that is exactly as far as was asked for is found, as it was seen.
func TestNearbyAtTheEdge(t *testing.T) {
	s := site("s", 0, 0.5, 100)
	s.UpdatedOn = 7
	miles := Point{}.MilesTo(s.At)
	got := Nearby{MaxMiles: miles, Fulfillment: ByPickup, Limit: 5}.Pick([]Site{s})
	if len(got) != 1 || got[0] != (StoreMatch{"s", miles, 7}) {
		t.Errorf("%+v", got)
	}
}

// TestWidening: the next circle has room for twice as many as are needed, but grows by a factor of 2 to 10.
func TestWidening(t *testing.T) {
	for _, c := range []struct {
		limit, found int
		want         float64 // 0: enough
	}{{8, 1, 4}, {8, 4, 2}, {16, 2, 4}, {8, 0, 4}, {8, 7, 2}, {500, 0, 10}, {8, 8, 0}, {8, 9, 0}} {
		n, more := Nearby{Limit: c.limit, MaxMiles: 100}.Wider(Nearby{Limit: c.limit, MaxMiles: 1}, c.found)
		if more != (c.want > 0) || more && math.Abs(n.MaxMiles-c.want) > 1e-9 {
			t.Errorf("%d of %d: %v miles, %v", c.found, c.limit, n.MaxMiles, more)
		}
	}
	if _, more := (Nearby{Limit: 8, MaxMiles: 5}).Wider(Nearby{MaxMiles: 5}, 1); more {
		t.Error("the widest circle grows")
	}
}

// TestStripsRoundThePoles: a circle with a pole in it has every longitude near the pole.
func TestStripsRoundThePoles(t *testing.T) {
	for _, origin := range []Point{{89.9, 10}, {-89.9, 10}, {90, 0}, {-90, 0}, {89.99, -170}} {
		for direction := 0; direction < 360; direction += 5 {
			for _, miles := range []float64{0.5, 5, 15, 29.99} {
				if at := origin.travel(miles, float64(direction)*radian); !within(StripsAround(origin, 30), at) {
					t.Fatalf("%v, %v miles from %v, is in no strip", at, miles, origin)
				}
			}
		}
	}
}

func TestRoutes(t *testing.T) {
	p := Partner{ID: "p", CallbackURL: "https://x", Routes: []Route{{ID: "whe_1", Events: []string{EveryEvent}}, {ID: "whe_2", Events: []string{"order.*"}, Mode: Live}}}
	if r, ok := p.RouteOf("whe_1"); !ok || !r.Takes(WebhookKinds[0], Live, "s") {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, ok := p.RouteOf("whe_9"); ok {
		t.Error("a route to an endpoint that is not there")
	}
	if r, ok := p.RouteOf(""); !ok || r.ID != "" {
		t.Errorf("the callback URL has no route: %+v", r)
	}
	if _, ok := (Partner{}).RouteOf(""); ok {
		t.Error("a route to a callback URL that is not there")
	}
	if q := p.WithRoute(Route{ID: "whe_2", Mode: Test}); len(q.Routes) != 2 || len(p.Routes) != 2 {
		t.Errorf("%+v", q.Routes)
	} else if r, _ := q.RouteOf("whe_2"); r.Mode != Test {
		t.Errorf("%+v", r)
	}
	for _, k := range WebhookKinds {
		isProduct := strings.HasPrefix(string(k), "product.")
		if got := (Route{Events: []string{EveryEvent}}).Takes(k, Live, "s"); got == isProduct {
			t.Errorf("* takes %s: %v", k, got)
		}
		if got := (Route{}).Takes(k, Live, "s"); got == isProduct {
			t.Errorf("no list takes %s: %v", k, got)
		}
	}
	if !Parks(Partner{Suspended: true}, Endpoint{}) || !Parks(Partner{}, Endpoint{PausedOn: 1}) || !Parks(Partner{}, Endpoint{HeldUntil: 1}) || Parks(Partner{}, Endpoint{}) {
		t.Error("webhooks are parked while the partner is suspended, or the endpoint held or paused")
	}
}

// TestEndpointsAtTheEdge: more cases of TestEndpointAfter.
func TestEndpointsAtTheEdge(t *testing.T) {
	const now = 1_800_000_000_000 // a whole minute
	parked := Job{State: JobParked, RunAt: now - hourMs}
	if got := (Endpoint{}).After(Job{}, answered(200), 0, now+35*secondMs, 0).Endpoint.DeliveredOn; got != now {
		t.Errorf("delivered at %d, and it was %d", got, int64(now))
	}
	if got := (Endpoint{DeliveredOn: now + hourMs}).After(Job{}, answered(200), 0, now, 0).Endpoint.DeliveredOn; got != now+hourMs {
		t.Errorf("the time of the last success goes back to %d", got)
	}
	paused := Endpoint{PausedOn: now - hourMs, PausedFor: PausedOperator}
	if got := paused.After(Job{State: JobWaiting, Tries: 9}, answered(500), 0, now, 0).Job.State; got != JobParked {
		t.Errorf("a job dies while its endpoint is paused: %s", got)
	}
	for _, c := range []struct {
		name          string
		before, after Endpoint
	}{
		{"the clock was set back", Endpoint{Failures: 9, FailingSince: now + hourMs, HeldUntil: now}, Endpoint{Failures: 10, FailingSince: now, HeldUntil: now + 60_000}},
		{"a day after it was due", Endpoint{Failures: 9, FailingSince: now - 2*dayMs, HeldUntil: now - dayMs}, Endpoint{Failures: 10, FailingSince: now - 2*dayMs, HeldUntil: now + 60_000}},
		{"the probe after an answer that asked to wait", Endpoint{Failures: 1, FailingSince: now - minuteMs, HeldSince: now - minuteMs, HeldUntil: now},
			Endpoint{Failures: 2, FailingSince: now - minuteMs, HeldSince: now - minuteMs, HeldUntil: now + 5000}},
	} {
		if got := c.before.After(parked, answered(500), 0, now, 0).Endpoint; got != c.after {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.after)
		}
	}
	if (Job{}).Leased(now) || (Job{LeasedUntil: now}).Leased(now) || !(Job{LeasedUntil: now + 1}).Leased(now) {
		t.Error("a lease holds until its end")
	}
	if j := (Job{LeasedUntil: Millis(now).Add(LongestLease)}); !j.Leased(now) || j.Leased(now-1) {
		t.Error("the longest lease holds, and no longer one")
	}
}

func TestHistoriesOfStatuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		order Order
		by    Transition
		want  Order
	}{
		{"cancelled while a refund was asked for", Order{Status: RefundRequested, RequestedFrom: Processed}, Transition{Trigger: Cancel, To: Cancelled}, Order{Status: Cancelled}},
		{"a refund that stopped the order came back", Order{Status: Refunded, RequestedFrom: Processed, RefundedFrom: RefundRequested, RefundStopped: true},
			Transition{Trigger: RefundCameBack, To: Refunded}, Order{Status: Cancelled}},
		{"a refund of a delivered order came back", Order{Status: Refunded, RefundedFrom: Delivered}, Transition{Trigger: RefundCameBack, To: Refunded}, Order{Status: Delivered}},
	} {
		if got := c.order.After(c.by); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if (Attention{Since: 1}).Settled() || !(Attention{Since: 1, ResolvedOn: 2, ResolvedBy: "staff:usr_1"}).Settled() {
		t.Error("what is open is not settled; what a person resolved is")
	}
	if (Delivery{}).Unsure() || !(Delivery{Provider: "x"}).Unsure() || (Delivery{Provider: "x", ProviderID: "1"}).Unsure() {
		t.Error("unsure is a delivery whose provider was asked and gave no id")
	}
	if !(Fault{Left: 1, ExpiresOn: 10}).Hits("listOrders", 9) || (Fault{Left: 1, ExpiresOn: 10}).Hits("listOrders", 10) || (Fault{ExpiresOn: 10}).Hits("listOrders", 9) {
		t.Error("a fault hits until it ends, or is used up")
	}
	if f := (Fault{Left: 1, ExpiresOn: 10, Operation: "listOrders"}); !f.Hits("listOrders", 1) || f.Hits("getOrder", 1) {
		t.Error("a fault of one operation hits another")
	}
	for operation, want := range map[string]bool{StockOperations[0]: true, "listOrders": false} {
		if f := (Fault{Left: 1, ExpiresOn: 10, Kind: FaultStock}); f.Hits(operation, 1) != want {
			t.Errorf("want of stock hits %s: %v", operation, !want)
		}
	}
	if now := Millis(dayMs * 1000); (GeocodedAddress{FoundOn: now.Add(-180 * day)}).Outdated(now) || !(GeocodedAddress{FoundOn: now.Add(-180*day) - 1}).Outdated(now) {
		t.Error("an address is kept for 180 days")
	}
	if now := Millis(dayMs * 1000); (GeocodedAddress{FoundOn: now.Add(day)}).Outdated(now) || !(GeocodedAddress{FoundOn: now.Add(day + time.Millisecond)}).Outdated(now) {
		t.Error("an address was found more than a day ahead, and not a day")
	}
}

// TestDeliveryData: all that is known of a delivery is told.
func TestDeliveryData(t *testing.T) {
	o := Order{CourierDeliveryID: "dlv_1", CourierTrackingURL: "https://x", Status: OutForDelivery}
	d := Delivery{Status: CourierEnRoute, DropoffETA: 7, Imminent: true, Courier: Courier{Name: "Ann", At: &Point{1, 2}}}
	if got, want := DeliveryDataOf(o, d), (DeliveryData{CourierDeliveryID: "dlv_1", CourierTrackingURL: "https://x", Status: OutForDelivery, CourierStatus: CourierEnRoute,
		DropoffETA: 7, Imminent: true, Courier: d.Courier}); got != want {
		t.Errorf("%+v", got)
	}
}

// TestFactsOfACategory: a form without facts is not checked.
func TestFactsOfACategory(t *testing.T) {
	c := Category{Name: "Bread", Active: true}
	if err := c.CheckFacts(""); err != nil {
		t.Error(err)
	}
	if err := c.CheckFacts(c.Facts()); err != nil {
		t.Error(err)
	}
	if err := c.CheckFacts((Category{Name: "Bread"}).Facts()); codeOf(err) != "changed_meanwhile" {
		t.Error(err)
	}
}

// TestNamesOfMetadata: the characters that are allowed, and a refusal that is text in any case.
func TestNamesOfMetadata(t *testing.T) {
	value := "v"
	for _, name := range []string{"A", "Z", "a", "z", "0", "9", "_", ".", "-", strings.Repeat("n", maxMetadataName)} {
		if m, err := (Metadata{}).With(map[string]*string{name: &value}); err != nil || m[name] != value {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "@", "[", "`", "{", "/", ":", " ", "é", strings.Repeat("n", maxMetadataName+1), "n" + strings.Repeat("é", maxMetadataName), strings.Repeat("é", maxMetadataName+1)} {
		_, err := (Metadata{}).With(map[string]*string{name: &value})
		refusal, ok := err.(*Error)
		if !ok || !utf8.ValidString(refusal.Field) || !strings.HasPrefix(refusal.Field, "metadata.") {
			t.Errorf("%q: %+v", name, err)
		}
	}
}

// TestCheckEnds: a history that does not begin with the opening is not whole.
func TestCheckEnds(t *testing.T) {
	for _, c := range []struct {
		move   StockMove
		faults int
	}{{move(1, MoveOpened, 10, 10), 0}, {move(1, MoveSold, 10, 10), 1}, {move(2, MoveOpened, 10, 10), 1}} {
		faults := 0
		check := NewStockCheck(Stock{Quantity: 10, Moves: c.move.Seq}, func(string, bool) { faults++ })
		check.Add(c.move)
		check.End()
		if faults != c.faults {
			t.Errorf("%+v: %d faults", c.move, faults)
		}
	}
}
