package main

import (
	"fmt"
	"time"
)

// section is cases on the same databases.
type section struct {
	name  string
	about func(*bench) string
	full  bool // it also shows large databases
	open  func(*stage)
	cases []benchCase
	end   func(*stage)
}

// benchCase is what -only names.
type benchCase struct {
	name string
	run  func(*stage)
}

var sections = []section{
	{name: "limits", full: true, open: openLimits, end: (*stage).settle,
		about: func(b *bench) string { return b.limits.String() + b.ifFull("; full: %s", b.full(b.orders)) },
		cases: []benchCase{{"start", limitsStart}, {"product", limitsProduct}, {"page", limitsPage}, {"unchanged", limitsUnchanged}, {"sync", limitsSync}, {"order", limitsOrder}, {"orders", limitsOrders}, {"changing", limitsChanging},
			{"reports", limitsReports}, {"hot", limitsHot}, {"everything", limitsEverything}, {"cores", limitsCores}}},
	// Reports come first: other cases leave PostgreSQL something to clean up.
	{name: "webhooks", full: true, open: openWebhooks, end: checkParked,
		about: func(b *bench) string { return b.shop.String() + b.ifFull("; full: and %s", b.recorded().record()) },
		cases: []benchCase{{"reports", webhookReports}, {"drain", webhookDrain}, {"latency", webhookLatency}}},
	{name: "payments", open: openShop("payments"), about: shopSize,
		cases: []benchCase{{"checkouts", checkoutRate}, {"notices", paymentNotices}, {"slow", slowProcessor}}},
	{name: "nearby", open: func(s *stage) { s.open("nearby", s.near, nil) }, about: func(b *bench) string { return b.near.String() },
		cases: []benchCase{{"fast", nearbyFast}, {"even", nearbyEven}}},
	{name: "deliveries", open: openShop("deliveries"), about: shopSize,
		cases: []benchCase{{"preflight", preflights}, {"notices", courierNotices}}},
	{name: "office", open: openOffice, about: func(b *bench) string {
		if b.orders > 0 {
			return b.full(b.orders).String()
		}
		return b.limits.String()
	}, cases: []benchCase{{"reports", officeReports}, {"find", officeFind}, {"pages", officePages}, {"boards", officeBoards}}},
	{name: "catalog", open: openShop("catalog"), about: shopSize, cases: []benchCase{{"upserts", bulkUpserts}}},
	{name: "moving", open: openShop("moving"), about: shopSize, cases: []benchCase{{"couriers", movingCouriers}}},
}

// ifFull is empty unless full databases are measured, too.
func (o options) ifFull(format string, args ...any) string {
	if o.orders == 0 {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func shopSize(b *bench) string { return b.shop.String() }

// openShop makes an empty database of the usual size.
func openShop(name string) func(*stage) {
	return func(s *stage) { s.open(name, s.shop, nil) }
}

// allNames are all that -only takes: sections, and cases as section/case.
func allNames() (names []string) {
	for _, s := range sections {
		names = append(names, s.name)
		for _, c := range s.cases {
			names = append(names, s.name+"/"+c.name)
		}
	}
	return names
}

// measureSection runs the wanted cases of a section.
func (b *bench) measureSection(s section) *report {
	r := &report{title: s.about(b) + "."}
	for _, engine := range engines {
		b.measureOn(s, &stage{bench: b, engine: engine, report: r})
	}
	if s.full && b.shortage != "" {
		r.note("%s", b.shortage)
	}
	return r
}

func (b *bench) measureOn(s section, st *stage) {
	defer func() { check(st.close()) }()
	s.open(st)
	for _, c := range s.cases {
		if b.wants(s.name, c.name) {
			c.run(st)
		}
	}
	if s.end != nil {
		s.end(st)
	}
}

// sizes are how much there is in each database and each run.
type sizes struct {
	limits, shop, near size

	receivers                  int           // partners that get webhooks
	waiting                    int           // webhooks of a drain
	drains                     int           // in each round
	reportTurns                int           // of reports with and without webhooks, in each round
	paid                       int           // orders of a run of payment notices
	slow                       int           // checkouts that wait for a slow processor
	tracked                    int           // deliveries of a run of courier notices; a quarter of them is a multiple of connections
	moving                     int           // couriers that move at once
	step                       time.Duration // between two steps of one of them
	starts                     int           // that are timed
	besideReads, besideReports int           // per second, while couriers move
}

// ofEachStore is how many products a store of the limits has: a page of 100 is
// all of them.
const ofEachStore = 100

// full is the size of the large database: one product for each ten orders, but
// more stores than the empty one has.
func (s sizes) full(orders int) size {
	stores := max(orders/(10*ofEachStore), s.limits.Stores*3/2)
	return size{Stores: stores, Products: stores * ofEachStore, Orders: orders, History: true}
}

func (o options) sizes() sizes {
	if o.quick {
		return sizes{
			limits: size{Stores: 2, Products: 2 * ofEachStore, Orders: 10},
			shop:   size{Stores: 2, Products: 20}, near: size{Stores: 2000, Products: 2000, Spread: true},
			receivers: 1, waiting: 20, drains: 1, reportTurns: 1, paid: 12, slow: 8, tracked: 16, moving: 8, step: 200 * time.Millisecond,
			starts: 1, besideReads: 100, besideReports: 50}
	}
	return sizes{
		limits: size{Stores: 100, Products: 100 * ofEachStore, Orders: 1000},
		shop:   size{Stores: 16, Products: 10_000}, near: size{Stores: 100_000, Products: 100_000, Spread: true},
		receivers: 4, waiting: 10_000, drains: 2, reportTurns: 16, paid: 8000, slow: 500, tracked: 768, moving: 10_000, step: 5 * time.Second,
		starts: 5, besideReads: 1000, besideReports: 200}
}
