package main

import "fmt"

// The large database shows that cost does not grow. The load is that of the
// nearly empty one: as many products, pages and orders are asked for. Beside it
// stands what happens when everything in it is wanted alike, which no cache of
// this size can hold, and external ids come in no order.

const targetLarge = 0.8 // of the nearly empty database

func openLarge(s *stage) {
	empty := s.add(contender{name: sqliteEngine + " nearly empty", engine: sqliteEngine, database: "large_empty"}, s.largeEmpty)
	name := fmt.Sprintf("large_%d", s.orders)
	s.add(contender{name: sqliteEngine + " large", engine: sqliteEngine, database: name, data: s.kept(sqliteEngine, name, s.large), empty: empty}, s.large)
	s.keepBooks()
}

// largeStart times how long a start takes until the first answer.
func largeStart(s *stage) {
	const starts = 5
	var times []float64
	for range starts {
		check(s.list[1].stop())
		times = append(times, float64(s.list[1].serve().took.Microseconds())/1000)
	}
	s.report.limit(fmt.Sprintf("process start to first answer, median of %d", starts), medianOf(times), 500, "ms")
}

func largeProduct(s *stage) {
	s.readLarge("one product", productsOf(s.largeEmpty.Products), productsOf(s.large.Products))
}

func largePage(s *stage) {
	walk := func(products int) paths {
		return func(c *contender) []string { return c.pages(products/100, false) }
	}
	s.readLarge("page of 100 products", walk(s.largeEmpty.Products), walk(s.large.Products))
}

func largeOrder(s *stage) {
	s.readLarge("one order", ordersOf(s.largeEmpty.Orders), ordersOf(s.large.Orders))
}

func (s *stage) readLarge(title string, same, everything paths) {
	compete := func(title string, of paths, target float64) {
		read := s.onEach(of)
		s.compete(test{title: title, full: target, run: func(on *contender) measurement {
			return on.load(func() []caller { return getters(read[on], on.key(), 100) })
		}})
	}
	compete(title, same, targetLarge)
	compete(title+", over everything", everything, 0)
}

func largeReports(s *stage) {
	of := func(products int, scattered bool) func(*contender) measurement {
		return func(c *contender) measurement {
			return c.load(reports(partOf(c.data.shops, products), c.key(), scattered && c.empty != nil, c.book).fully)
		}
	}
	s.compete(test{title: "reports, spread", full: targetLarge, run: of(s.largeEmpty.Products, false)})
	s.compete(test{title: "reports, over everything, scattered ids", run: of(s.large.Products, true)})
}
