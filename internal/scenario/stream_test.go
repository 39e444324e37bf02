package scenario

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// stream is a tracking stream that a partner follows.
type stream struct {
	t       *testing.T
	body    *bufio.Reader
	hangUp  context.CancelFunc
	request *http.Request
	call    call
	answer  answer // as far as it was read
}

// streamEvent is one server-sent event.
type streamEvent struct {
	name, id string
	data     struct {
		OrderID  string          `json:"order_id"`
		Status   string          `json:"status"`
		Courier  string          `json:"courier_delivery_status"`
		Delivery string          `json:"courier_delivery_id"`
		Tracking string          `json:"courier_tracking_url"`
		Imminent bool            `json:"courier_imminent"`
		ETA      string          `json:"estimated_delivery_time"`
		Who      json.RawMessage `json:"courier"`
	}
}

// follow opens the stream of an order; last is the id of the last event that its
// client has received.
func (w *world) follow(t *testing.T, order, last string) *stream {
	t.Helper()
	c := call{method: http.MethodGet, path: "/v1/orders/" + order + "/tracking/stream", key: "busy", header: http.Header{}}
	if last != "" {
		c.header.Set("Last-Event-ID", last)
	}
	r, err := w.request(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	res, err := w.client.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangUp(); _ = res.Body.Close() })
	s := &stream{t: t, body: bufio.NewReader(res.Body), hangUp: hangUp, request: r, call: c, answer: answer{status: res.StatusCode, header: res.Header}}
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if line := s.line(); res.StatusCode != http.StatusOK || line != "retry: 2000" || s.line() != "" {
		t.Fatalf("%d %s", res.StatusCode, line)
	}
	return s
}

func (s *stream) line() string {
	s.t.Helper()
	text, err := s.body.ReadString('\n')
	s.answer.body = append(s.answer.body, text...)
	if err != nil {
		s.t.Fatalf("the stream broke off: %v", err)
	}
	return strings.TrimSuffix(text, "\n")
}

// next waits for an event with this name.
func (s *stream) next(name string) streamEvent {
	s.t.Helper()
	e := s.event()
	if e.name != name {
		s.t.Fatalf("want %s, got %+v", name, e)
	}
	return e
}

// comesTo waits for a status after several steps: the stream may have polled after
// any of them.
func (s *stream) comesTo(order, courier string) {
	s.t.Helper()
	for e := s.event(); e.name != "status" || e.data.Status != order || e.data.Courier != courier; {
		e = s.event()
	}
	s.moves(false)
}

// event waits for an event.
func (s *stream) event() (e streamEvent) {
	s.t.Helper()
	for line := s.line(); line != ""; line = s.line() {
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				s.t.Fatalf("%v: %s", err, line)
			}
		default:
			s.t.Fatalf("what is %q?", line)
		}
	}
	if e.id == "" {
		s.t.Fatalf("without an id: %+v", e)
	}
	return e
}

// is expects a status next, and the courier's location if there is a courier.
func (s *stream) is(order, courier string, imminent bool) (id string) {
	s.t.Helper()
	e := s.next("status")
	if e.data.Status != order || e.data.Courier != courier {
		s.t.Errorf("want %s, %s; got %+v", order, courier, e.data)
	}
	if courier == "" {
		return e.id
	}
	if !strings.HasSuffix(e.data.Tracking, e.data.Delivery) || e.data.Delivery == "" {
		s.t.Errorf("%+v", e.data)
	}
	s.moves(imminent)
	return e.id
}

// moves expects the location of a courier that is imminent or not. After several
// steps, the stream may have polled after an earlier one as well.
func (s *stream) moves(imminent bool) {
	s.t.Helper()
	for {
		e := s.next("location")
		if len(e.data.Who) == 0 || e.data.OrderID == "" {
			s.t.Errorf("%+v", e.data)
		}
		if e.data.Imminent == imminent {
			return
		}
	}
}

// ends expects the end, and checks the whole stream against the document.
func (s *stream) ends() {
	s.t.Helper()
	s.next("end")
	if _, err := s.body.ReadByte(); !errors.Is(err, io.EOF) {
		s.t.Errorf("after the end: %v", err)
	}
	if err := theContract().check(s.request, s.call, &s.answer); err != nil {
		s.t.Error(err)
	}
	if err := everyAnswer(s.call, &s.answer); err != nil {
		s.t.Error(err)
	}
}

// deliver reports an order to be delivered; the tag makes its courier misbehave.
func (w *world) deliver(t *testing.T, external, tag string) string {
	t.Helper()
	a := w.do(t, call{method: http.MethodPost, path: "/v1/orders/report", key: "busy-test", idem: external, body: `{"external_order_id":"` + external +
		`","store_id":"sto_town","items":[{"product_id":"prd_town","quantity":1,"price":925}],"delivery_address":{"name":"Ann Lee","address":` +
		`{"line1":"20 Oak St","line2":"sandbox:` + tag + `","city":"Albany","state":"NY","postal_code":"12208","country":"US"}}}`})
	if a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return a.error().OrderID
}

// A stream reports each change once, and ends at the door.
func TestStreamToTheDoor(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		order := w.deliver(t, "web-1", "")
		s := w.follow(t, order, "")
		s.is("shipped", "pending", false)
		w.steps(t, 1)
		s.is("shipped", "pickup", false)
		w.steps(t, 1)
		s.moves(false)
		w.steps(t, 2) // a stream polls from time to time, and shows the latest state
		s.moves(true)
		w.steps(t, 1)
		s.is("out_for_delivery", "pickup_complete", false)
		w.steps(t, 1)
		s.is("out_for_delivery", "en_route_to_dropoff", false)
		w.steps(t, 5)
		s.moves(true)
		w.steps(t, 1)
		s.is("delivered", "delivered", false)
		s.ends()
	})
}

// A client that reconnects gets what has changed, and nothing if nothing has.
func TestStreamResumes(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		order := w.deliver(t, "web-1", "")
		s := w.follow(t, order, "")
		old := s.is("shipped", "pending", false)
		s.hangUp()

		s = w.follow(t, order, old)
		w.steps(t, 1) // the first event is a change
		id := s.is("shipped", "pickup", false)
		if id == old {
			t.Errorf("two states have the id %s", id)
		}
		s.hangUp()

		s = w.follow(t, order, old)
		if again := s.is("shipped", "pickup", false); again != id {
			t.Errorf("the same state has the ids %s and %s", id, again)
		}
		s.hangUp()
		for _, strange := range []string{"nonsense", "0-0", "-1", strings.Repeat("9", 4000)} {
			s = w.follow(t, order, strange)
			s.is("shipped", "pickup", false)
			s.hangUp()
		}

		w.steps(t, 11)
		s = w.follow(t, order, id)
		last := s.is("delivered", "delivered", false)
		s.ends()
		w.follow(t, order, last).ends()
	})
}

// Couriers that give up, orders that are cancelled, and orders without a courier.
func TestStreamsOfOtherEnds(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		order := w.deliver(t, "web-1", "cancel")
		s := w.follow(t, order, "")
		s.is("shipped", "pending", false)
		w.steps(t, 4) // another courier is found at once
		s.comesTo("shipped", "pending")
		w.road.becomes(roadClosed)
		w.steps(t, 1) // callbacks still come
		s.is("shipped", "pickup", false)
		w.road.becomes(roadOpen)
		if a := w.do(t, call{method: http.MethodPost, path: "/v1/orders/" + order + "/cancel", key: "busy-test", idem: "c"}); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		w.finishJobs(t)
		w.follow(t, order, "").untilEnd("cancelled")
		s.untilEnd("cancelled")

		none := w.deliver(t, "web-2", "no-couriers")
		s = w.follow(t, none, "")
		s.is("processed", "", false)
		if a := w.do(t, call{method: http.MethodPost, path: "/v1/orders/" + none + "/cancel", key: "busy-test", idem: "c"}); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		s.is("cancelled", "", false)
		s.ends()

		pickup := w.seedOrder(t, []string{"p", "picked_up", "pickup", "1*prd_town", "of=busy", "store=sto_town"})
		s = w.follow(t, pickup, "")
		s.is("picked_up", "", false)
		s.ends()
	})
}

// untilEnd reads to the end, which follows this status.
func (s *stream) untilEnd(status string) {
	s.t.Helper()
	seen := ""
	for {
		line := s.line()
		if data, ok := strings.CutPrefix(line, `data: {"order_id":`); ok && strings.Contains(data, `"status":"`) {
			seen = data
		}
		if line == "event: end" {
			break
		}
	}
	if !strings.Contains(seen, `"status":"`+status+`"`) {
		s.t.Errorf("the last status is %s", seen)
	}
}

// Streams end when the service does, and their clients reconnect.
func TestStreamsEndWithTheService(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		s := w.follow(t, w.deliver(t, "web-1", ""), "")
		s.is("shipped", "pending", false)
		w.partners.EndStreams()
		if rest, err := io.ReadAll(s.body); err != nil || len(rest) > 0 {
			t.Errorf("%q %v", rest, err)
		}
	})
}

// A partner gets no stream of another partner's order.
func TestStreamsOfOthers(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		path := "/v1/orders/" + w.deliver(t, "web-1", "") + "/tracking/stream"
		w.refuses(t, call{method: http.MethodGet, path: path, key: "other"}, http.StatusNotFound, "not_found")
		w.refuses(t, call{method: http.MethodGet, path: path, key: "none"}, http.StatusUnauthorized, "unauthorized")
		w.refuses(t, call{method: http.MethodGet, path: "/v1/orders/nothing/tracking/stream", key: "busy"}, http.StatusNotFound, "not_found")
		live := w.seedOrder(t, []string{"l", "shipped", "delivery", "1*prd_town", "of=busy", "store=sto_town"})
		w.refuses(t, call{method: http.MethodGet, path: "/v1/orders/" + live + "/tracking/stream", key: "busy-test"}, http.StatusNotFound, "not_found")
		if a := w.do(t, call{method: http.MethodHead, path: path, key: "busy"}); a.status != http.StatusOK || a.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("HEAD: %d %v", a.status, a.header)
		}
		w.refuses(t, call{method: http.MethodPost, path: path, key: "busy"}, http.StatusMethodNotAllowed, "method_not_allowed")
	})
}

// closes expects no further event, and no end of the order.
func (s *stream) closes() {
	s.t.Helper()
	defer time.AfterFunc(30*time.Second, s.hangUp).Stop() // it normally closes before this
	if rest, err := io.ReadAll(s.body); err != nil || len(rest) > 0 {
		s.t.Errorf("%q %v", rest, err)
	}
}

// A stream ends when its key loses access to the order: its partner is suspended, or
// has lost the scope or the store.
func TestStreamsEndWithTheirKey(t *testing.T) {
	yes, elsewhere, lesser := true, []string{"sto_north"}, []commerce.Scope{commerce.ReadDelivery}
	for name, change := range map[string]command.UpdatePartner{
		"suspended":         {Suspended: &yes},
		"without the store": {StoreIDs: &elsewhere},
		"without the scope": {Scopes: &lesser},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryEngine(t, func(t *testing.T, w *world) {
				w.importCatalog(t, "town")
				s := w.follow(t, w.deliver(t, "web-1", ""), "")
				s.is("shipped", "pending", false)
				change := change // the test runs on both engines at once
				change.ID = partnerID("busy")
				run(t, w, commit.Command[commerce.Partner](change))
				w.clock.move(2 * time.Second) // the gate accepts a key for so long
				s.closes()
			})
		})
	}
}

// The number of streams of one order is bounded; other orders have their own.
func TestStreamsOfOneOrder(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, w *world) {
		w.importCatalog(t, "town")
		order, other := w.deliver(t, "web-1", ""), w.deliver(t, "web-2", "")
		var open []*stream
		for range 8 {
			s := w.follow(t, order, "")
			s.is("shipped", "pending", false)
			open = append(open, s)
		}
		c := call{method: http.MethodGet, path: "/v1/orders/" + order + "/tracking/stream", key: "busy"}
		if a := w.refuses(t, c, http.StatusTooManyRequests, "too_many_streams"); a.header.Get("Retry-After") != "5" {
			t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
		}
		w.refuses(t, with(c, func(c *call) { c.key = "busy-test" }), http.StatusTooManyRequests, "too_many_streams")
		w.follow(t, other, "").is("shipped", "pending", false)
		w.steps(t, 1)
		for _, s := range open { // all streams share one poll
			s.is("shipped", "pickup", false)
		}
		open[0].hangUp()
		for again := w.do(t, with(c, func(c *call) { c.method = http.MethodHead })); again.status != http.StatusOK; {
			again = w.do(t, with(c, func(c *call) { c.method = http.MethodHead })) // until the closed stream is noticed
		}
	})
}
