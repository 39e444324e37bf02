package effect

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/testkit/database"
)

// journey is what is done to an order that is to be delivered: before by a
// process that lives, then by one that dies. What is repeated has the same key.
type journey struct {
	name   string
	before []move
	moves  []move
	saves  int // that it takes at least
	// inReal says that it is also tried in real time, where nothing may have to
	// wait until calls are settled.
	inReal bool

	// What comes of it.
	status    commerce.OrderStatus
	attention string
	underWay  int // deliveries that are not cancelled
}

var journeys = []journey{
	{name: "report", moves: []move{reporting}, saves: 3, inReal: true, status: commerce.Shipped, underWay: 1},
	{name: "confirm", before: []move{paying}, moves: []move{confirming}, saves: 3, status: commerce.Shipped, underWay: 1},
	{name: "another courier", before: []move{reporting}, moves: []move{courierMoves(1, commerce.CourierAssigned), courierMoves(1, commerce.CourierCancelled)}, saves: 4,
		inReal: true, status: commerce.Shipped, underWay: 1},
	{name: "cancel", before: []move{reporting}, moves: []move{cancellingIt}, saves: 2, inReal: true, status: commerce.Cancelled},
	{name: "report and cancel", moves: []move{reporting, cancellingIt}, saves: 5, status: commerce.Cancelled},
	{name: "full refund", before: []move{paying, confirming}, moves: []move{refunding}, saves: 3, status: commerce.Refunded},
	{name: "cancel with refund", before: []move{paying, confirming}, moves: []move{cancellingWithRefund}, saves: 3, status: commerce.Refunded},
	{name: "to the door", before: []move{reporting}, moves: []move{courierMoves(1, commerce.CourierAssigned), courierMoves(1, commerce.CourierLoaded),
		courierMoves(1, commerce.CourierEnRoute), courierMoves(1, commerce.CourierDone)}, saves: 4, inReal: true, status: commerce.Delivered, underWay: 1},
	{name: "four couriers that give up", before: []move{reporting}, moves: []move{courierMoves(1, commerce.CourierCancelled), courierMoves(2, commerce.CourierCancelled),
		courierMoves(3, commerce.CourierCancelled), courierMoves(4, commerce.CourierCancelled)}, saves: 10, status: commerce.Shipped, attention: "courier_gave_up"},
}

// ride is one journey of one order.
type ride struct {
	name  string
	order commerce.OrderKey
	calls []keyedCall // those that have an answer of their own, in order
}

// keyedCall is a request with its answer, if one arrived.
type keyedCall struct {
	path, key string
	body      any
	heard     reply
}

// move is a change of an order that is repeated until it has succeeded.
type move func(v *process, r *ride)

// ask makes a request with a key, and keeps the answer unless the process is dead.
func (r *ride) ask(v *process, path string, body any) reply {
	c := keyedCall{path: path, key: path + " " + r.name, body: body}
	got := v.ask(c.path, c.key, c.body)
	if v.m.isDead() {
		return reply{}
	}
	if n := len(r.calls); n == 0 || r.calls[n-1].path != path {
		r.calls = append(r.calls, c)
	}
	r.calls[len(r.calls)-1].heard = got
	return got
}

func (r *ride) path(verb string) string { return "/v1/orders/" + r.order.OrderID + "/" + verb }

func reporting(v *process, r *ride) {
	got := r.ask(v, "/v1/orders/report", map[string]any{"external_order_id": r.name, "store_id": storeID, "fulfillment_type": "delivery", "delivery_address": address,
		"items": []map[string]any{{"product_id": "prd_0", "quantity": 2, "price": 1250}}})
	r.order = commerce.OrderKey{StoreID: storeID, OrderID: orderIDOf(got)}
}

var address = map[string]any{"name": "Ann", "phone": "+15125550123", "address": map[string]any{"line1": "1 Congress Ave", "city": "Austin", "state": "TX",
	"postal_code": "78701", "country": "US"}}

var anOrderID = regexp.MustCompile(`"order_id":"([^"]+)"`)

// orderIDOf is the order that an answer names; empty: it names none.
func orderIDOf(r reply) string {
	match := anOrderID.FindStringSubmatch(r.body)
	if match == nil {
		return ""
	}
	return match[1]
}

func paying(v *process, r *ride) {
	body := checkoutBody("").(map[string]any)
	body["fulfillment_type"], body["delivery_address"] = "delivery", address
	r.order = v.ask(checkoutPath, "checkout "+r.name, body).checkedOut(v.s)
	v.pay(v.s.Payment(r.order).SessionID)
}

// confirming has no key: it is repeated by its own rules.
func confirming(v *process, r *ride) {
	if got := v.ask(r.path("confirm"), "confirm "+r.name, map[string]any{}); got.status != http.StatusOK && !v.m.isDead() {
		v.s.T.Errorf("%s: confirm was answered %d: %s", r.name, got.status, got.body)
	}
}

func cancellingIt(v *process, r *ride) {
	r.ask(v, r.path("cancel"), map[string]any{"reason": "changed their mind"})
}

func cancellingWithRefund(v *process, r *ride) {
	r.ask(v, r.path("cancel"), map[string]any{"refund": true})
}

func refunding(v *process, r *ride) { r.ask(v, r.path("refund"), map[string]any{}) }

// courierMoves moves a courier on, and posts the callback of its provider.
func courierMoves(attempt int64, status commerce.CourierStatus) move {
	return func(v *process, r *ride) {
		ref := commerce.DeliveryRef(r.order.OrderID, attempt)
		v.s.eventually("a courier", func() bool { return v.m.isDead() || v.s.depotOf(ref) != nil })
		if d := v.s.depotOf(ref); d != nil {
			v.postCallback(d, d.move(ref, status))
		}
	}
}

// TestDeliveryCrash has a process die at every save of every journey, just before
// and just after it. Whatever another process finds then, in the end everything
// is as without that: one delivery of each attempt, the same order, history,
// webhooks and answers.
func TestDeliveryCrash(t *testing.T) {
	for _, j := range journeys {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			for _, d := range deathsInBubble() { // in a shop of its own: what waits of earlier orders takes time
				in(t, func(s *shop) { s.travel(j, d) })
			}
		})
	}
}

// TestDeliveryCrashOnPostgreSQL is the same in real time.
func TestDeliveryCrashOnPostgreSQL(t *testing.T) {
	for _, j := range journeys {
		if !j.inReal {
			continue
		}
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			engine, err := postgres.Open(database.Postgres(t), postgres.Options{Readers: 4})
			if err != nil {
				t.Fatal(err)
			}
			s := newShop(t, engine)
			s.endLeases = s.returnJobs
			s.travel(j, deathsInReal()...)
		})
	}
}

// death is how a process dies at a save: with the save persisted or not, and
// whether the partner asks again before another process finds the work.
type death struct{ again, persisted bool }

var deaths = []death{{false, false}, {false, true}, {true, false}, {true, true}}

// someDeaths are two, in which each circumstance occurs once.
var someDeaths = deaths[1:3]

// deathsInBubble are those tried where waiting takes no time: all of them, and some
// with -short.
func deathsInBubble() []death {
	if testing.Short() {
		return someDeaths
	}
	return deaths
}

// deathsInReal are those tried in real time, where each takes a while: some, and all of
// them in scripts/test full.
func deathsInReal() []death {
	if os.Getenv("PURVEYOR_TEST_LOAD") == "" {
		return someDeaths
	}
	return deaths
}

func (s *shop) travel(j journey, deaths ...death) {
	s.admit()
	s.depots = []*depot{newDepot("near"), newDepot("far")}
	want, _ := s.travelOnce(j, "alive", false, false, 0)
	end, under := fmt.Sprintf("order %s, attention %q,", j.status, j.attention), fmt.Sprintf("\n%d under way\n", j.underWay)
	if s.T.Failed() || !strings.HasPrefix(want, end) || !strings.Contains(want, under) {
		s.T.Fatalf("without a crash:\n%s", want)
	}
	for _, d := range deaths {
		for at, died := 1, true; died; at++ {
			name := fmt.Sprintf("asked again %v, save %d, persisted %v", d.again, at, d.persisted)
			var got string
			if got, died = s.travelOnce(j, name, d.again, d.persisted, at); got != want || s.T.Failed() {
				s.T.Fatalf("%s: it is\n%s\nand without a crash\n%s", name, got, want)
			}
			if !died && at <= j.saves {
				s.T.Errorf("%s: the process does not come to save %d", name, j.saves)
			}
		}
	}
}

// travelOnce has a process die at one of its saves (0: none), and tells what
// came of it in the end, and whether it came so far.
func (s *shop) travelOnce(j journey, name string, again, after bool, at int) (outcome string, died bool) {
	s.T.Helper()
	r := &ride{name: name}
	before := s.Stock(0).Quantity
	s.alive(r, j.before)
	first := s.serve(newMortal(s.Engine, at, after), nil, nil)
	left := first.perform(r, j.moves)
	died = first.m.hasDied()
	first.stop()
	if s.endLeases != nil {
		s.endLeases(first.runner.Worker)
	}
	second := s.serve(newMortal(s.Engine, 0, false), nil, nil)
	defer second.stop()
	if !again {
		s.eventually(name+": the work to be found", s.quiet)
	}
	second.perform(r, left)
	s.eventually(name+": the work to be done", s.quiet)
	second.checkAnswers(r, at > 0)
	return second.outcome(r, before), died
}

// alive does what comes before, in a process that lives.
func (s *shop) alive(r *ride, moves []move) {
	v := s.serve(newMortal(s.Engine, 0, false), nil, nil)
	defer v.stop()
	v.perform(r, moves)
}

// perform makes moves one after the other, each when nothing is left to do of
// the one before. It returns those that are to be made by another process, because
// this one has died.
func (v *process) perform(r *ride, moves []move) []move {
	for i, m := range moves {
		done := make(chan struct{})
		go func() {
			defer close(done)
			m(v, r)
		}()
		select {
		case <-done:
			v.s.eventually("the process to come to rest, or to die", func() bool { return v.m.isDead() || v.s.quiet() })
		case <-v.m.dead:
			v.effects.EndWaits()
			v.s.stop(v.effects)
			<-done
		}
		if v.m.hasDied() {
			return moves[i:]
		}
	}
	return nil
}

// quiet tells whether nothing is left to be done but for what is to come later
// whatever happens: questions after a silence, and the newest of a courier.
func (s *shop) quiet() bool {
	for _, j := range s.work() {
		if later := j.Kind == commerce.JobCheckDelivery || j.Kind == commerce.JobCourierUpdate; !later {
			return false
		}
	}
	return true
}

// checkAnswers checks that a repeat of each key is replayed. An earlier answer stays
// true, unless it was a preliminary one, which is possible if another process had the
// job.
func (v *process) checkAnswers(r *ride, early bool) {
	for i, c := range r.calls {
		got := v.ask(c.path, c.key, c.body)
		if got.status/100 != 2 || !got.replayed {
			v.s.T.Errorf("%s: %s, repeated: %+v", r.name, c.path, got)
		}
		if c.heard.status/100 == 2 && c.heard.body != got.body && !(early && meanwhile(c.heard.body)) {
			v.s.T.Errorf("%s: %s was answered %s, and then %s", r.name, c.path, c.heard.body, got.body)
		}
		r.calls[i].heard = got
	}
}

// meanwhile tells whether an answer is one that was given before its time, because
// another process had the job.
func meanwhile(body string) bool {
	return strings.Contains(body, `"created":false`) || strings.Contains(body, `"delivery_cancelled":false`) || strings.Contains(body, `"amount_refunded_cents":0`)
}

var randomID = regexp.MustCompile(`rfd_[0-9A-Za-z_]+|"trace_id":"[^"]*"`)

// outcome is all that came of a ride, without what differs from order to order.
func (v *process) outcome(r *ride, stockBefore int64) string {
	s := v.s
	s.T.Helper()
	o, d := s.Order(r.order), s.Delivery(r.order)
	underWay, deliveries := s.underWay(o.ID)
	lines := []string{
		fmt.Sprintf("order %s, attention %q, courier %q, quote %q, %d taken from stock, deducted %v, refunded %d", o.Status, s.Attention(r.order), o.CourierDeliveryID,
			o.CourierQuoteID, stockBefore-s.Stock(0).Quantity, o.InventoryDeducted, o.RefundedCents),
		fmt.Sprintf("delivery %s of attempt %d, %q by %q, id %q, fee %d", d.State, d.Attempt, d.Status, d.Provider, d.ProviderID, d.FeeCents),
		fmt.Sprintf("%d under way\n%s", underWay, deliveries),
		"timeline: " + strings.Join(s.history(r.order), ", "),
		"webhooks: " + strings.Join(s.webhooks(o), ", "),
	}
	for _, c := range r.calls {
		lines = append(lines, fmt.Sprintf("%s: %d %s", c.path, c.heard.status, c.heard.body))
	}
	text := randomID.ReplaceAllString(strings.Join(lines, "\n"), "RANDOM")
	return strings.ReplaceAll(strings.ReplaceAll(text, strings.TrimPrefix(o.ID, commerce.PrefixOrder), "ORDER"), r.name, "NAME")
}
