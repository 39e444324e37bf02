package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// errand is an order that is reported, delivered by a courier of the sandbox, and
// perhaps cancelled.
type errand struct {
	id      string
	orderID string
	report  request
	cancel  *request // nil: it is not cancelled
	heard   answer   // to the report; status 0: no answer arrived
	gone    answer   // to the cancellation
}

// drivers are all errands of one shop.
type drivers struct {
	shop  *shop
	all   []*errand
	acked atomic.Int64
}

// mishaps are second lines of addresses that make the sandbox misbehave.
var mishaps = []string{"", "", "", "sandbox:cancel", "sandbox:twice", "sandbox:unordered.twice", "sandbox:late", "sandbox:skip-pickup", "sandbox:return"}

func newErrand(r *rand.Rand, id string) *errand {
	e := &errand{id: id, report: post("/v1/orders/report", "report "+id, map[string]any{
		"external_order_id": id, "store_id": "s1", "fulfillment_type": "delivery", "items": []map[string]any{{"product_id": "p1", "quantity": 1, "price": 100}},
		"delivery_address": map[string]any{"name": "Ann", "phone": "+15125550123", "address": map[string]any{"line1": "100 Congress Ave",
			"line2": mishaps[r.IntN(len(mishaps))], "city": "Austin", "state": "TX", "postal_code": "78701", "country": "US"}}})}
	if r.IntN(4) == 0 {
		e.cancel = &request{method: "POST", key: "cancel " + id, body: map[string]any{}}
	}
	return e
}

// take makes the requests of an errand; false: the service is gone.
func (d *drivers) take(c *client, e *errand) bool {
	a, err := c.send(e.report)
	if err != nil {
		return false
	}
	if a.status != http.StatusCreated {
		c.t.Errorf("the report of %s was answered %d: %s", e.id, a.status, a.body)
		return false
	}
	e.heard, e.orderID = a, a.orderID(c.t)
	d.acked.Add(1)
	if e.cancel == nil {
		return true
	}
	e.cancel.path = "/v1/orders/" + e.orderID + "/cancel"
	if a, err = c.send(*e.cancel); err != nil {
		return false
	}
	if delivered := a.status == http.StatusConflict && strings.Contains(string(a.body), `"wrong_status"`); a.status != http.StatusOK && !delivered {
		c.t.Errorf("cancelling %s was answered %d: %s", e.id, a.status, a.body)
	}
	e.gone = a
	return true
}

// load has partners report until the service is gone.
func (d *drivers) load(c *client, round int) (wait func() []*errand) {
	const workers = 4
	var wg sync.WaitGroup
	lists := make([][]*errand, workers)
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(round), uint64(w)))
			for n := 0; ; n++ {
				e := newErrand(r, fmt.Sprintf("%d-%d-%d", round, w, n))
				lists[w] = append(lists[w], e)
				if !d.take(c, e) {
					return
				}
			}
		})
	}
	return func() (sent []*errand) {
		wg.Wait()
		sent = slices.Concat(lists...)
		d.all = append(d.all, sent...)
		return sent
	}
}

// repeatUnanswered repeats requests without an answer. Answered requests get the same answer
// again.
func (d *drivers) repeatUnanswered(c *client, sent []*errand) {
	c.t.Helper()
	cut := 0
	for _, e := range sent {
		before := e.heard
		if before.status == 0 {
			cut++
		}
		if !d.take(c, e) {
			c.t.Fatalf("%s was not taken again", e.id)
		}
		if before.status != 0 && !meanwhile(before) && string(before.body) != string(e.heard.body) {
			c.t.Errorf("the report of %s was answered %s, then %s", e.id, before.body, e.heard.body)
		}
	}
	c.t.Logf("%d errands, of which %d were cut", len(sent), cut)
}

// meanwhile reports whether a report was answered before its courier was known.
func meanwhile(a answer) bool { return strings.Contains(string(a.body), `"created":false`) }

// The process is killed in the middle of dispatch, and while couriers are on their
// way. Afterwards every order is delivered, cancelled, or flagged for the merchant,
// no order has two couriers, and no event was sent twice.
func TestKilledWhileCouriersDrive(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		killedWhileCouriersDrive(t, newShop(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := &shop{t: t, postgres: database(t)}
		s.fill()
		killedWhileCouriersDrive(t, s)
	})
}

func killedWhileCouriersDrive(t *testing.T, s *shop) {
	s.operate("import", s.file("places.json", map[string]any{"stores": []map[string]any{{"id": "s1", "name": "First", "address": "200 Lavaca St", "city": "Austin",
		"state": "TX", "zip_code": "78701", "lat": 30.2653, "lng": -97.7475}}})).ok(t)
	d := &drivers{shop: s}
	cut := 0
	for round := range 4 {
		p, c := s.serve("--sandbox-step", "40ms")
		wait := d.load(c.with(s.partner.Keys.Test), round)
		target := d.acked.Load() + times(10)
		check.Eventually(t, patience, pollPause, "couriers to drive", func() bool {
			return d.acked.Load() >= target && s.count("SELECT count(*) || '' FROM deliveries WHERE status <> 'pending' AND status <> ''") != "0"
		})
		time.Sleep(rand.N(30 * time.Millisecond)) // at a random moment, not always after the same answer
		p.kill()
		sent := wait()
		for _, e := range sent {
			if e.heard.status == 0 || e.cancel != nil && e.gone.status == 0 {
				cut++
			}
		}
		s.endLeases()
		p, c = s.serve("--sandbox-step", "40ms")
		d.repeatUnanswered(c.with(s.partner.Keys.Test), sent)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		p.kill() // the couriers of all rounds are still on their way
		s.endLeases()
	}
	if cut == 0 {
		t.Error("every request was answered, so the kills hit nothing")
	}
	s.serve("--sandbox-step", "5ms")
	d.check()
}

// parcels returns the sandbox's deliveries by order.
func (d *drivers) parcels() map[string][]sandboxDelivery {
	d.shop.t.Helper()
	list := map[string][]sandboxDelivery{}
	for _, data := range d.shop.rows("SELECT data FROM sandbox_objects WHERE id LIKE 'del_test%'") {
		var v sandboxDelivery
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			d.shop.t.Fatal(err)
		}
		order := "ord_" + strings.TrimPrefix(v.Ref[:strings.LastIndexByte(v.Ref, '_')], "dlv_")
		list[order] = append(list[order], v)
	}
	return list
}

type sandboxDelivery struct {
	Ref       string
	Tags      []string
	Cancelled bool
}

// quits reports whether the courier never delivers.
func (v sandboxDelivery) quits() bool { return v.Cancelled || slices.Contains(v.Tags, "cancel-always") }

// check compares all orders with the outcomes of their couriers.
func (d *drivers) check() {
	t, s := d.shop.t, d.shop
	t.Helper()
	check.Eventually(t, 2*patience, pollPause, "all couriers to arrive", func() bool {
		return s.count("SELECT count(*) || '' FROM jobs WHERE state = 'waiting' AND kind NOT IN ('check_delivery', 'courier_update')") == "0"
	})
	parcels := d.parcels()
	lines := s.rows(`SELECT o.id || ' ' || o.status || ' ' || d.state || ' ' || d.attempt || ' ' || d.status
		FROM orders o JOIN deliveries d ON d.store_id = o.store_id AND d.order_id = o.id`)
	attention := map[string][]string{}
	for _, open := range s.rows("SELECT order_id || ' ' || code FROM attention WHERE resolved_on = 0") {
		orderID, code, _ := strings.Cut(open, " ")
		attention[orderID] = append(attention[orderID], code)
	}
	known := map[string]bool{}
	for _, line := range lines {
		f := strings.SplitN(line, " ", 5)
		known[f[0]] = true
		d.checkOne(line, f[1], f[2], f[3], f[4], attention[f[0]], parcels[f[0]])
	}
	for _, e := range d.all {
		if !known[e.orderID] {
			t.Errorf("%s has no order, or that of another errand: %q", e.id, e.orderID)
		}
		delete(known, e.orderID)
	}
	if len(lines) != len(d.all) {
		t.Errorf("%d orders of %d errands", len(lines), len(d.all))
	}
	if twice := s.rows(`SELECT order_id || ' ' || kind FROM timeline WHERE kind IN ('order.created', 'order.processed', 'delivery.shipped', 'delivery.out_for_delivery',
		'delivery.delivered', 'order.cancelled') GROUP BY order_id, kind HAVING count(*) > 1`); len(twice) > 0 {
		t.Errorf("timelines repeat: %q", twice)
	}
	if twice := s.rows(`SELECT order_id || ' ' || kind FROM webhook_events WHERE kind IN ('order.accepted', 'order.shipped', 'order.out_for_delivery', 'order.delivered',
		'delivery.out_for_delivery', 'delivery.delivered', 'order.cancelled') GROUP BY order_id, kind HAVING count(*) > 1`); len(twice) > 0 {
		t.Errorf("webhooks repeat: %q", twice)
	}
	s.checkFile()
}

// checkOne checks that an order is finished, with one courier at most.
func (d *drivers) checkOne(line, status, state, attempt, courier string, attention []string, made []sandboxDelivery) {
	t := d.shop.t
	t.Helper()
	bringing := 0
	for _, v := range made {
		if !v.quits() {
			bringing++
		}
	}
	n, _ := strconv.Atoi(attempt)
	ended := status == "delivered" && courier == "delivered" || status == "cancelled" || slices.Contains(attention, "goods_returned") || slices.Contains(attention, "courier_gave_up")
	if !ended || bringing > 1 || status == "delivered" && bringing != 1 || status != "cancelled" && (state != "over" || len(made) != n) ||
		status == "cancelled" && bringing > 0 && !slices.Contains(attention, "goods_with_courier") && !slices.Contains(attention, "goods_returned") {
		t.Errorf("%s: the sandbox made %+v", line, made)
	}
}
