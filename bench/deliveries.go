package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/sandbox"

	"github.com/valyala/fasthttp"
)

const targetOfProduct = 0.1 // of the rate of reads of one product

// productBeside is the baseline of searches and preflights.
var productBeside = &test{title: "  one product", run: func(c *contender) measurement { return c.load(c.products) }}

var cities = []string{"New York, NY", "Los Angeles, CA", "Chicago, IL", "Houston, TX", "Atlanta, GA", "San Francisco, CA", "Denver, CO", "Austin, TX"}

// searches look for the stores around the middles of cities.
func (c *contender) searches() []caller {
	return drawers(hasText(`"distance_miles":`), func(r *fasthttp.Request, rng *rand.Rand) {
		post{"/v1/stores/nearby", fmt.Appendf(nil, `{"delivery_address":%q}`, cities[rng.IntN(len(cities))]), []string{"X-Api-Key", c.key()}}.set(r)
	})
}

func nearbyFast(s *stage) {
	s.compete(test{title: "nearby stores", beside: productBeside, targets: both(targetOfProduct),
		run: func(c *contender) measurement { return c.load(c.searches) }})
}

func nearbyEven(s *stage) {
	const perSecond = 200
	s.compete(test{title: "nearby stores at an even pace", within: []time.Duration{0, 50 * time.Millisecond}, run: func(c *contender) measurement {
		return c.load(func() []caller { return steadily(c.searches(), perSecond) })
	}})
}

// preflights ask whether two products can be delivered.
func preflights(s *stage) {
	ask := func(c *contender) func() []caller {
		return func() []caller {
			return drawers(hasText(`"eligible":true`), func(r *fasthttp.Request, rng *rand.Rand) {
				of := draw(c.data.shops, false, rng)
				post{"/v1/checkout/preflight", fmt.Appendf(nil, `{"store_id":%q,"fulfillment_type":"delivery","items":[{"product_id":%q,"quantity":1},`+
					`{"product_id":%q,"quantity":2}],"delivery_address":%s}`, of.shop.ID, of.a.ID, of.b.ID, address(rng)), []string{"X-Api-Key", c.testKey()}}.set(r)
			})
		}
	}
	s.compete(test{title: "preflights for delivery", beside: productBeside, targets: both(targetOfProduct),
		run: func(c *contender) measurement { return c.load(ask(c)) }})
}

// courierNotices measures the notices of the sandbox's couriers.
func courierNotices(s *stage) {
	s.compete(test{title: "courier notices", beside: reportsBeside, targets: both(0.6), run: func(c *contender) measurement { return c.moveByHand(s.tracked) }})
	s.report.note("Checked: each order of the courier notices is delivered, and each change of its status stands once on its timeline.")
}

// standStill keeps the sandbox's couriers where they are.
var standStill = []string{"--sandbox-step", "1h"}

// moveByHand makes n deliveries whose couriers stand still, and measures the
// notices that their way would cause. Those of the first quarter do not count.
func (c *contender) moveByHand(n int) measurement {
	p := c.serve(standStill...)
	orders := c.deliver(p, n)
	m := c.postNotices(p, "/inbound/couriers/sandbox", c.noticesOf(orders[:n/4]), c.noticesOf(orders[n/4:]))
	c.checkDelivered(p, orders)
	return m
}

// deliver reports n orders that are to be delivered.
func (c *contender) deliver(p *process, n int) []string {
	made := c.newBook()
	finish(p.addr, limited(deliveries(c.data.shops, c.testKey(), made).fully(), n))
	return made.ids()
}

// noticesOf are the notices that tell the way of deliveries: the first of each
// delivery, then the second of each. Their couriers move here alone.
func (c *contender) noticesOf(orders []string) [][]byte {
	mover := courier.NewSandbox(env.Env{}, nil, "http://bench")
	var steps [][][]byte
	c.data.query("SELECT d.order_id, o.id, o.data FROM deliveries d JOIN sandbox_objects o ON o.id = d.provider_id", func(scan func(...any)) {
		var order string
		var object sandbox.Object
		scan(&order, &object.ID, &object.Data)
		if !slices.Contains(orders, order) {
			return
		}
		for next, n := true, 0; next; n++ {
			step := must(mover.Step(c.ctx, object))
			if len(step.Callbacks) != 1 {
				check(fmt.Errorf("step %d of delivery %s has %d notices", n, object.ID, len(step.Callbacks)))
			}
			if n == len(steps) {
				steps = append(steps, nil)
			}
			steps[n] = append(steps[n], step.Callbacks[0].Body)
			object.Data, next = step.Data, step.Next > 0
		}
	})
	return slices.Concat(steps...)
}

// checkDelivered reads every order and its timeline, which must have each change
// of status once.
func (c *contender) checkDelivered(p *process, orders []string) {
	timelines := make([]string, len(orders))
	for i, id := range orders {
		timelines[i] = "/v1/orders/" + id + "/timeline"
	}
	each(p.addr, c.testKey(), orderPaths(orders), hasStatus("delivered"))
	each(p.addr, c.testKey(), timelines, func(i int, body []byte) error {
		for _, kind := range []string{"delivery.created", "delivery.courier_assigned", "delivery.out_for_delivery", "delivery.delivered"} {
			if n := bytes.Count(body, fmt.Appendf(nil, `"event":%q`, kind)); n != 1 {
				return fmt.Errorf("%s: %d times %s: %s", orders[i], n, kind, body)
			}
		}
		return nil
	})
}
