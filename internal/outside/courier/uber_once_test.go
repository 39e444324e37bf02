package courier

import (
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fakeuber"
)

// Within the hour the key finds the delivery, later the list does. Neither makes more
// requests than necessary.
func TestUberMakesOnce(t *testing.T) {
	u, server := uberStandIn(t)
	r := uberAsk(u, 1)
	first := uberMade(t, u, r)
	server.Requests()
	for _, c := range []struct {
		later time.Duration
		want  []string
	}{
		{49 * time.Minute, []string{"POST /deliveries", "GET /deliveries/" + first.ID}},
		{2 * time.Minute, []string{"GET /deliveries"}},
		{48 * time.Hour, []string{"GET /deliveries"}},
	} {
		server.Advance(c.later)
		if again := uberMade(t, u, r); again.ID != first.ID || again.Ref != r.Ref {
			t.Errorf("%s later: %+v, want %+v", c.later, again, first)
		}
		uberWant(t, "requests "+c.later.String()+" later", uberPaths(server), c.want)
	}

	// A delivery that was never created is created, however late.
	r = uberAsk(u, 2)
	server.Advance(2 * time.Hour)
	uberMade(t, u, r)
	uberWant(t, "requests", uberPaths(server), []string{"GET /deliveries", "POST /deliveries"})
	uberWant(t, "made", server.Made(), 2)

	// While the list cannot be read, nothing is created.
	r = uberAsk(u, 3)
	server.Advance(2 * time.Hour)
	server.Next(fakeuber.Fault{On: "GET /deliveries", Status: 503})
	_, err := u.Create(t.Context(), r)
	uberUnavailable(t, err, "list deliveries: Uber answered 503")
	server.Next(fakeuber.Fault{On: "GET /deliveries", Status: 200, Body: `{"notice":"maintenance"}`})
	_, err = u.Create(t.Context(), r)
	uberUnavailable(t, err, "not one of Uber's")
	uberWant(t, "made", server.Made(), 2)
}

func TestUberDuplicates(t *testing.T) {
	u, server := uberStandIn(t)
	other := uberMade(t, u, uberAsk(u, 1))
	for _, c := range []struct {
		fault       fakeuber.Fault
		unavailable bool
		says        string
	}{
		{fakeuber.Fault{Metadata: map[string]string{"delivery_id": other.ID}}, false, "takes this delivery for " + other.Ref},
		{fakeuber.Fault{Metadata: map[string]string{"delivery_id": "del_nowhere"}}, true, `a duplicate of "del_nowhere"`},
		{fakeuber.Fault{Metadata: map[string]string{}}, true, "Uber answered 409: An active delivery"},
	} {
		c.fault.On, c.fault.Status, c.fault.Code, c.fault.Message = "POST /deliveries", 409, "duplicate_delivery", "An active delivery"
		server.Next(c.fault)
		_, err := u.Create(t.Context(), uberAsk(u, 2))
		if c.unavailable {
			uberUnavailable(t, err, c.says)
		} else {
			uberRefused(t, err, Other, c.says)
		}
	}
	// Uber may leave external_id out.
	server.Next(fakeuber.Fault{On: "POST /deliveries", Status: 409, Code: "duplicate_delivery", Metadata: map[string]string{"delivery_id": "del_9"}})
	server.Next(fakeuber.Fault{On: "GET /deliveries/del_9", Status: 200, Body: `{"id":"del_9","status":"pickup","live_mode":false}`})
	r := uberAsk(u, 3)
	uberWant(t, "duplicate", uberMade(t, u, r), Delivery{ID: "del_9", Ref: r.Ref, Status: commerce.CourierAssigned})
}

// The list is read back to the time when the delivery was first asked for, and no
// further.
func TestUberReadsAsMuchOfTheListAsItMust(t *testing.T) {
	u, server := uberStandIn(t)
	server.PageSize = 3
	wanted := uberAsk(u, 200)
	uberMade(t, u, wanted)
	for n := range byte(20) {
		uberMade(t, u, uberAsk(u, n))
	}
	server.Requests()
	if d, err := u.Get(t.Context(), Key{Ref: wanted.Ref, AskedOn: wanted.AskedOn}); err != nil || d.Ref != wanted.Ref {
		t.Errorf("%+v, %v", d, err)
	}
	uberWant(t, "pages", len(uberPaths(server)), 7)

	missing := commerce.DeliveryRef(uberOrder(100), 1)
	_, err := u.Get(t.Context(), Key{Ref: missing, AskedOn: wanted.AskedOn})
	uberRefused(t, err, NotFound, missing)
	uberWant(t, "pages", len(uberPaths(server)), 7)

	// A delivery of today is not in yesterday's part of the list.
	server.Advance(24 * time.Hour)
	_, err = u.Get(t.Context(), Key{Ref: missing, AskedOn: commerce.MillisOf(u.Now())})
	uberRefused(t, err, NotFound, missing)
	uberWant(t, "pages", len(uberPaths(server)), 1)

	// If the time of the first request is unknown, the whole list is read.
	server.PageSize = 1
	_, err = u.Get(t.Context(), Key{Ref: missing})
	uberUnavailable(t, err, "there are more")
	uberWant(t, "pages", len(uberPaths(server)), uberPages)

	_, err = u.Get(t.Context(), Key{})
	uberRefused(t, err, NotFound, "")
	uberWant(t, "requests", uberPaths(server), nil)
}

// An unsorted list is read to its end.
func TestUberListOfAnyOrder(t *testing.T) {
	u, server := uberStandIn(t)
	ref := commerce.DeliveryRef(uberOrder(1), 1)
	for _, created := range [][]string{
		{"2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"},
		{"2020-01-01T00:00:00Z", ""},
		{"yesterday", "2020-01-01T00:00:00Z"},
	} {
		page := `{"data":[{"id":"del_1","created":"` + created[0] + `"},{"id":"del_2","created":"` + created[1] + `"}],"next_href":"https://elsewhere.example/x?offset=2&limit=2"}`
		server.Next(fakeuber.Fault{On: "GET /deliveries", Status: 200, Body: page})
		server.Next(fakeuber.Fault{On: "GET /deliveries", Status: 200, Body: `{"data":[{"id":"del_3","external_id":"` + ref + `"}]}`})
		if d, err := u.Get(t.Context(), Key{Ref: ref, AskedOn: commerce.MillisOf(u.Now())}); err != nil || d.ID != "del_3" {
			t.Errorf("%s: %+v, %v", created, d, err)
		}
		requests := server.Requests()
		uberWant(t, "query", requests[len(requests)-1].Query, "offset=2&limit=2") // on this host, not on the one that the link names
	}
	server.Next(fakeuber.Fault{On: "GET /deliveries", Status: 200, Body: `{"data":null}`})
	_, err := u.Get(t.Context(), Key{Ref: ref})
	uberRefused(t, err, NotFound, ref)
}
