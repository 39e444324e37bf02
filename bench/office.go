package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"purveyor/internal/backoffice"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/web"
)

// The back office: how long the server takes for a page. Its handler runs in this process, in
// place of the service, with a user that needs no session.

func openOffice(s *stage) {
	z := s.limits
	if s.orders > 0 {
		z = s.full(s.orders)
	}
	s.add(contender{name: s.engine, database: "office"}, z)
}

// office is the back office of a database.
type office struct {
	engine    storage.Engine
	committer *commit.Committer
	uses      *service.Service
	handler   http.Handler
	user      commerce.User // of each request
}

// officeReads has no stored users.
type officeReads struct{ storage.Reader }

func (officeReads) Users(context.Context) ([]commerce.User, error) { return nil, nil }

func (c *contender) openOffice() *office {
	o := &office{}
	if c.data.onSQLite() {
		o.engine = must(sqlite.Open(c.data.path(), sqlite.Options{}))
	} else {
		o.engine = must(postgres.Open(c.data.url, postgres.Options{}))
	}
	o.committer = commit.New(o.engine, commit.Options{})
	o.uses = service.New(o.engine.Reader(), o.engine, o.committer, service.Options{})
	o.user = commerce.User{ID: "usr_bench", Name: "Bench", Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}}
	pages := must(backoffice.New(officeReads{o.engine.Reader()}, o.uses, backoffice.Options{PublicURL: "http://bench.example",
		Identify: func(*http.Request) (commerce.User, error) { return o.user, nil }}))
	o.handler = web.Trace(env.Env{}, slog.New(slog.DiscardHandler), pages)
	return o
}

func (o *office) close() {
	o.committer.Close()
	check(o.engine.Close())
}

// page answers one page.
func (o *office) page(path string) {
	w := httptest.NewRecorder()
	o.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://bench.example"+path, nil))
	if w.Code != http.StatusOK {
		check(fmt.Errorf("%s: %d %s", path, w.Code, w.Body))
	}
}

// p50 is the median time of a page, in milliseconds.
func (o *office) p50(path string) float64 {
	const times = 15
	var list []float64
	for range times {
		began := time.Now()
		o.page(path)
		list = append(list, float64(time.Since(began).Microseconds())/1000)
	}
	return medianOf(list)
}

// makeSums makes the sums that are missing, and returns how long that took.
func (o *office) makeSums() time.Duration {
	began := time.Now()
	check(o.uses.MakeSums(context.Background()))
	return time.Since(began)
}

// officeReports makes the sums of all orders, and once more those of the last hour, and times
// the pages that are made from sums.
func officeReports(s *stage) {
	for _, c := range s.list {
		o := c.openOffice()
		all := o.makeSums()
		o.close()
		c.data.exec(fmt.Sprintf("UPDATE sum_positions SET at = at - %d", time.Hour.Milliseconds()))
		o = c.openOffice()
		hour := o.makeSums()
		position, err := o.engine.Reader().SumPosition(context.Background(), commerce.SumRun)
		if check(err); position.At == 0 {
			check(errors.New("the sums were not made"))
		}
		s.report.note("%s: the sums of all orders were made in %v, those of one more hour in %v; both rest as long as they read.", c.name,
			all.Round(100*time.Millisecond), hour.Round(10*time.Millisecond))
		today := time.Now().UTC()
		day := func(ago int) string { return today.AddDate(0, 0, -ago).Format(time.DateOnly) }
		for _, page := range []struct {
			title, path string
			most        float64
		}{
			{"a report of 31 days, all stores", "/office/reports?from=" + day(30) + "&to=" + day(0), 500},
			{"a report of 31 days, one store", "/office/reports?from=" + day(30) + "&to=" + day(0) + "&store=" + c.data.shops[0].ID, 500},
			{"the first page", "/office", 20},
		} {
			s.report.limit(fmt.Sprintf("%s, p50, %s", page.title, c.name), o.p50(page.path), page.most, "ms")
		}
		o.close()
	}
}

// officePages times the other pages: few open orders, and all stores and products.
func officePages(s *stage) {
	for _, c := range s.list {
		c.data.giveCustomers()
		o := c.openOffice()
		shop, partner, order := c.data.shops[0], c.data.Partners[0].ID, c.data.order(c.data.Size.Orders-1)
		product := shop.Goods[0].ID
		for _, page := range []struct {
			title, path string
			most        float64
		}{
			{"the board", "/board", 20},
			{"the last orders of the board", "/board/recall", 20},
			{"an order", "/orders/" + order, 20},
			{"the form of its cancellation", "/orders/" + order + "/cancel", 20},
			{"a new order", "/orders/new?store=" + shop.ID, 20},
			{"products", "/products", 20},
			{"products of a store", "/products?store=" + shop.ID, 20},
			{"products by a word", "/products?text=" + url.QueryEscape("Product 7"), 50},
			{"products of which little is left", "/products?low=5", 20},
			{"a product", "/products/" + product, 20},
			{"categories of a store", "/categories?store=" + shop.ID, 20},
			{"stock", "/stock", 20},
			{"stores", "/stores", 20},
			{"a store", "/stores/" + shop.ID, 20},
			{"partners", "/partners", 20},
			{"a partner", "/partners/" + partner, 20},
			{"events of a partner", "/partners/" + partner + "/events", 20},
			{"people", "/people", 20},
			{"audit", "/audit", 20},
			{"outbox", "/outbox", 20},
		} {
			s.report.limit(fmt.Sprintf("%s, p50, %s", page.title, c.name), o.p50(backoffice.Prefix+page.path), page.most, "ms")
		}
		o.close()
	}
}
