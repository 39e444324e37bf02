package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// paths says what is read on a database.
type paths func(*contender) []string

// pages walks the list of all products and returns the paths of its full pages. Of a
// large database they are the first ones: to walk all of them would take minutes.
func (c *contender) pages() (list []string) {
	const most = 2000
	for path := "/v1/products?limit=100"; path != "" && len(list) < most; {
		var page struct {
			Count int    `json:"count"`
			Next  string `json:"next_cursor"`
		}
		each(c.serve().addr, c.key(), []string{path}, func(_ int, body []byte) error { return json.Unmarshal(body, &page) })
		if page.Count == 100 {
			list = append(list, path)
		}
		if path = ""; page.Next != "" {
			path = "/v1/products?limit=100&cursor=" + page.Next
		}
	}
	return list
}

// onEach is the paths on each database.
func (s *stage) onEach(of paths) map[*contender][]string {
	all := map[*contender][]string{}
	for _, c := range s.list {
		all[c] = of(c)
	}
	return all
}

// read compares reads with net/http that writes the same bytes.
func (s *stage) read(title string, targets map[string]float64, full float64, of paths, also ...*side) {
	read := s.onEach(of)
	bare, least, stop := s.bare(read[s.list[0]])
	defer stop()
	s.compete(test{title: title, targets: targets, full: full, against: append([]*side{bare}, also...), run: func(c *contender) measurement {
		return c.load(func() []caller { return getters(anyOf(read[c]), c.key(), least) })
	}})
}

// bare starts net/http alone, which writes what the first database answers. It
// also returns the length that an answer has at least, and what stops it.
func (s *stage) bare(list []string) (bare *side, least int, stop func()) {
	first := s.list[0]
	bodies, shortest := make(map[string][]byte, len(list)), 1<<30
	each(first.serve().addr, first.key(), list, func(i int, body []byte) error {
		bodies[list[i]] = bytes.Clone(body)
		shortest = min(shortest, len(body))
		return nil
	})
	p := s.startBytes(bodies)
	least = shortest * 9 / 10 // a quantity or a stamp may have fewer digits later
	return &side{name: "  bare net/http, the same bytes", run: func() measurement {
		return run(p.addr, s.pace, getters(anyOf(list), first.key(), least), p.meter)
	}}, least, func() { check(p.stop()) }
}

// The limits: how far the service goes on each engine, beside what the machine
// could do at most. The load on a full database is that on the empty one: as many
// products, pages and orders are asked for.

func openLimits(s *stage) {
	full := s.full(s.orders)
	s.open("limits", s.limits, &full)
	for _, c := range s.list {
		if c.empty != nil {
			s.report.limit(fmt.Sprintf("%s orders filled in place, %s", thousands(full.Orders), c.name), c.filling.Seconds(), 30*60, "s")
		}
	}
	s.keepBooks()
}

// busy are the stores that the load is on.
func (c *contender) busy() []shop {
	if c.empty == nil {
		return c.data.shops
	}
	return c.data.shops[:len(c.empty.data.shops)]
}

// limitsStart times how long a start takes until the first answer.
func limitsStart(s *stage) {
	for _, c := range s.list {
		var times []float64
		for range s.starts {
			check(c.stop())
			times = append(times, float64(c.serve().took.Microseconds())/1000)
		}
		s.report.limit(fmt.Sprintf("process start to first answer, median of %d, %s", s.starts, c.name), medianOf(times), 500, "ms")
	}
}

// storePages is one page for each store, with all of its products.
func storePages(c *contender) (list []string) {
	for _, shop := range c.busy() {
		list = append(list, fmt.Sprintf("/v1/products?limit=%d&store_id=%s", ofEachStore, shop.ID))
	}
	return list
}

// These are parts of net/http's rate.
var (
	targetProduct  = map[string]float64{sqliteEngine: 0.7, postgresEngine: 0.5}
	targetPage     = map[string]float64{sqliteEngine: 0.85, postgresEngine: 0.7}
	targetOrders   = map[string]float64{sqliteEngine: 0.3, postgresEngine: 0.3}  // of the rate of single orders
	targetChanging = map[string]float64{sqliteEngine: 0.4, postgresEngine: 0.15} // of pages while stock changes
)

func limitsProduct(s *stage) {
	s.read("one product", targetProduct, targetLarge,
		func(c *contender) []string { return pathsOf(allGoods(c.busy())) }, s.pgbenchSide("  pgbench reading one product", "product"))
}

func limitsPage(s *stage) { s.read("page of 100 products", targetPage, targetLarge, storePages) }

// limitsUnchanged reads pages with the tags that they have, beside the pages themselves.
func limitsUnchanged(s *stage) {
	pages := s.onEach(storePages)
	s.compete(test{title: "page of 100 products, unchanged (304)", targets: both(1.2), full: targetLarge,
		beside: &test{title: "  page of 100 products", run: func(c *contender) measurement {
			return c.load(func() []caller { return getters(anyOf(pages[c]), c.key(), 100) })
		}},
		run: func(c *contender) measurement {
			tags := tagsOf(c.serve().addr, c.key(), pages[c])
			return c.load(func() []caller {
				return drawers(unchanged, func(r *fasthttp.Request, rng *rand.Rand) {
					path := anyOf(pages[c])(rng)
					get(r, path, c.key())
					r.Header.Set("If-None-Match", tags[path])
				})
			})
		}})
}

// tagsOf reads the tag of each page.
func tagsOf(addr, key string, paths []string) map[string]string {
	client := connect(addr)
	defer client.CloseIdleConnections()
	tags := make(map[string]string, len(paths))
	for _, path := range paths {
		var request fasthttp.Request
		var answer fasthttp.Response
		get(&request, path, key)
		check(client.Do(&request, &answer))
		tags[path] = string(answer.Header.Peek("ETag"))
	}
	return tags
}

func unchanged(status int, body []byte) error {
	if status != 304 || len(body) > 0 {
		return fmt.Errorf("status %d with %d bytes", status, len(body))
	}
	return nil
}

func limitsOrder(s *stage) {
	s.read("one order", nil, targetLarge, s.someOrders)
}

// limitsOrders reads pages of the list of orders beside single orders: at rest, where kept
// answers hold, and while orders are reported, where each page is read again. The third case
// is what a follower of the changes reads.
func limitsOrders(s *stage) {
	const ordersPerSecond = 500
	single := s.onEach(s.someOrders)
	one := s.list[0].side("  one order", func(c *contender) measurement {
		return c.load(func() []caller { return getters(anyOf(single[c]), c.key(), 100) })
	})
	pages := s.onEach(orderPages)
	whole := func(c *contender) choice { return anyOf(pages[c]) }
	s.compete(test{title: "page of 100 orders", targets: targetOrders, full: targetLarge, against: []*side{one}, run: func(c *contender) measurement {
		return c.load(func() []caller { return getters(whole(c), c.key(), 100) })
	}})
	beside := func(title string, of func(*contender) choice) {
		s.compete(test{title: title, against: []*side{one}, run: func(c *contender) measurement {
			wait := background(func() { run(c.serve().addr, c.pace, steadily(c.reporters(), ordersPerSecond), unmetered) })
			defer wait()
			return run(c.serve().addr, c.pace, getters(of(c), c.key(), 50), c.serve().meter)
		}})
	}
	beside("page of 100 orders, orders are reported", whole)
	beside("orders of the last second, orders are reported", func(*contender) choice {
		return func(*rand.Rand) string {
			return fmt.Sprintf("/v1/orders?limit=300&updated_since=%d", time.Now().Add(-time.Second).UnixMilli())
		}
	})
}

// orderPages walks the list of orders, the newest first, and returns the paths of its first
// pages.
func orderPages(c *contender) (list []string) {
	const most = 10
	for path := "/v1/orders?limit=100"; path != "" && len(list) < most; {
		var page struct {
			Next string `json:"next_cursor"`
		}
		each(c.serve().addr, c.key(), []string{path}, func(_ int, body []byte) error { return json.Unmarshal(body, &page) })
		list = append(list, path)
		if path = ""; page.Next != "" {
			path = "/v1/orders?limit=100&cursor=" + page.Next
		}
	}
	return list
}

// someOrders are as many orders as the empty database has, of all times.
func (s *stage) someOrders(c *contender) []string {
	ids := make([]string, s.limits.Orders)
	for i := range ids {
		ids[i] = c.data.order(i * c.data.Size.Orders / len(ids))
	}
	return orderPaths(ids)
}

func limitsReports(s *stage) {
	const onManyCores = 6000 // per second on SQLite
	own := s.compete(test{title: "reports, spread", run: reportSpread, full: targetLarge,
		targets: map[string]float64{sqliteEngine: 1.2, postgresEngine: s.byCores(1.5, 2)},
		against: []*side{s.pgbenchSide("  pgbench with the same transaction", "spread")}})
	if s.engine == sqliteEngine && s.byCores(0, onManyCores) > 0 {
		s.report.atLeast(&side{name: fmt.Sprintf("reports, spread, SQLite, %d cores or more", manyCores), rounds: own[s.list[0]].rounds}, onManyCores)
	}
}

func limitsHot(s *stage) {
	spread := s.list[0].side("  reports, spread", reportSpread)
	own := s.compete(test{title: "reports, two hot products", run: reportHot, targets: map[string]float64{sqliteEngine: 5, postgresEngine: s.byCores(8, 10)}, full: targetLarge,
		against: []*side{s.pgbenchSide("  pgbench with the same transaction", "hot"), spread}})
	if s.engine == sqliteEngine {
		s.report.compare(own[s.list[0]], spread, 1, "reports, two hot products, SQLite against spread")
	}
}

func reportSpread(c *contender) measurement { return c.load(c.reporters) }

func reportHot(c *contender) measurement {
	orders := reports(c.data.shops, c.key(), false, c.book)
	orders.hot = true
	return c.load(orders.fully)
}

// limitsEverything wants all that is in the databases alike, which no cache holds
// if they are full, and reports orders whose external ids come in no order.
func limitsEverything(s *stage) {
	all := func(title string, of func(*contender) choice) {
		s.compete(test{title: title + ", of all", run: func(c *contender) measurement {
			return c.load(func() []caller { return getters(of(c), c.key(), 100) })
		}})
	}
	all("one product", func(c *contender) choice {
		return func(rng *rand.Rand) string {
			goods := c.data.shops[rng.IntN(len(c.data.shops))].Goods
			return pathOf(goods[rng.IntN(len(goods))])
		}
	})
	pages := s.onEach((*contender).pages)
	all("page of 100 products", func(c *contender) choice { return anyOf(pages[c]) })
	all("one order", func(c *contender) choice {
		return func(rng *rand.Rand) string { return orderPath(c.data.order(rng.IntN(c.data.Size.Orders))) }
	})
	s.compete(test{title: "reports, of all, scattered ids", run: func(c *contender) measurement {
		return c.load(reports(c.data.shops, c.key(), true, c.book).fully)
	}})
}

// limitsChanging reads pages while the stock changes. What an order sold that was
// acknowledged before a page was asked for must be missing on that page.
func limitsChanging(s *stage) {
	const ordersPerSecond = 500
	beside, w, pages := map[*contender]*side{}, &watch{}, s.onEach(storePages)
	for _, c := range s.list {
		beside[c] = &side{name: "  orders beside the pages, " + c.name}
	}
	bare, least, stop := s.bare(pages[s.list[0]])
	defer stop()
	s.compete(test{title: "page of 100 products, stock changes", targets: targetChanging, full: targetLarge, against: []*side{bare}, run: func(c *contender) measurement {
		p, orders := c.serve(), measurement{}
		wait := background(func() { orders = run(p.addr, c.pace, steadily(c.reporters(), ordersPerSecond), unmetered) })
		m := run(p.addr, c.pace, w.watchers(c, pages[c], least), p.meter)
		wait()
		beside[c].rounds = append(beside[c].rounds, orders)
		return m
	}})
	for _, c := range s.list {
		s.report.atLeast(beside[c], ordersPerSecond*0.95)
	}
	s.report.note("Checked while the stock changed: of %d pages, with all their quantities, %d were older than an order that was acknowledged before.",
		w.pages.Load(), w.stale.Load())
}

// watch counts the pages that were checked.
type watch struct{ pages, stale atomic.Int64 }

// watchers read the pages of stores and check one of eight, because the checks
// share the machine with the service.
func (w *watch) watchers(c *contender, pages []string, least int) []caller {
	before := make(map[string]int64, len(c.sample))
	for i, g := range c.sample {
		before[g.ID] = c.stock[i]
	}
	list := make([]caller, connections)
	for i := range list {
		rng, checks := newRand(), false
		most := map[string]int64{} // of each product of the page, as it may be at most
		list[i] = caller{
			next: func(r *fasthttp.Request) bool {
				store := rng.IntN(len(pages))
				if checks = rng.IntN(8) == 0; checks {
					clear(most)
					for _, g := range c.data.shops[store].Goods {
						most[g.ID] = before[g.ID] - c.book.sold[g.Index].Load()
					}
				}
				get(r, pages[store], c.key())
				return true
			},
			answer: func(status int, body []byte) error {
				err := hasBytes(least)(status, body)
				if err != nil || !checks {
					return err
				}
				w.pages.Add(1)
				if err = checkPage(body, most); err != nil {
					w.stale.Add(1)
				}
				return err
			},
		}
	}
	return list
}

// checkPage compares each quantity of a page with what may be left of the product.
func checkPage(body []byte, most map[string]int64) error {
	count := 0
	for _, rest, ok := bytes.Cut(body, []byte(`"id":"`)); ok; _, rest, ok = bytes.Cut(rest, []byte(`"id":"`)) {
		id, more, _ := bytes.Cut(rest, []byte{'"'})
		_, more, _ = bytes.Cut(more, []byte(`"available_quantity":`))
		digits, _, _ := bytes.Cut(more, []byte{','})
		left, err := strconv.ParseInt(string(digits), 10, 64)
		expected, known := most[string(id)]
		if err != nil || !known {
			return fmt.Errorf("product %q with quantity %q", id, digits)
		}
		if left > expected {
			return fmt.Errorf("stale page: product %s has %d left, of which acknowledged orders left at most %d", id, left, expected)
		}
		rest = more
		count++
	}
	if count != len(most) {
		return fmt.Errorf("%d products on the page, want %d", count, len(most))
	}
	return nil
}
