package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// reportsBeside is the baseline of what costs about as much as a report.
var reportsBeside = &test{title: "  reports", run: reportSpread}

// checkoutRate compares checkouts with reports of the same baskets.
func checkoutRate(s *stage) {
	s.compete(test{title: "checkouts", beside: reportsBeside, targets: both(0.3),
		run: func(c *contender) measurement { return c.load(c.checkouts("", c.newBook()).fully) }})
}

func (c *contender) checkouts(tag string, b *book) sales {
	return checkouts(c.data.shops, c.testKey(), tag, b)
}

// paymentNotices measures the notices that say that orders are paid.
func paymentNotices(s *stage) {
	var longest time.Duration
	s.compete(test{title: "payment notices", beside: reportsBeside, targets: both(0.6), run: func(c *contender) measurement {
		m, after := c.pay(s.paid)
		longest = max(longest, after)
		return m
	}})
	s.report.note("Notices: the last e-mail or text to a store was written %v after the last notice, at most. Checked: each order is paid.",
		longest.Round(time.Millisecond))
}

// pay makes n orders, and measures the notices that say that they are paid. after
// is the time from the last answer until the stores' messages were written.
func (c *contender) pay(n int) (m measurement, after time.Duration) {
	p, made := c.serve(), c.newBook()
	finish(p.addr, limited(c.checkouts("", made).fully(), n))
	var bodies [][]byte
	for _, o := range made.orders {
		bodies = append(bodies, fmt.Appendf(nil, `{"id":"evt_%s","kind":"paid","order_id":%q,"session_id":%q,"payment_id":"pi_%s","amount_cents":%d}`,
			o.session, o.id, o.session, o.session, o.cents))
	}
	m = c.postNotices(p, "/inbound/payments/sandbox", bodies[:n/4], bodies[n/4:])
	answered := time.Now()
	for c.data.number("SELECT count(*) FROM jobs WHERE state = 'waiting' AND owner LIKE 'store-%'") > 0 {
		check(c.ctx.Err())
		time.Sleep(10 * time.Millisecond)
	}
	after = time.Since(answered)
	each(p.addr, c.testKey(), orderPaths(made.ids()), hasStatus("paid"))
	return m, after
}

// postNotices posts notices to the inbound path of a sandbox, signed as it does.
// The first ones do not count.
func (c *contender) postNotices(p *process, path string, uncounted, counted [][]byte) measurement {
	var secret struct{ Secret []byte }
	c.data.query("SELECT data FROM sandbox_objects WHERE id = 'secret'", func(scan func(...any)) {
		var data []byte
		scan(&data)
		check(json.Unmarshal(data, &secret))
	})
	sign := func(bodies [][]byte) (list []post) {
		for _, body := range bodies {
			now := fmt.Sprint(time.Now().Unix())
			mac := hmac.New(sha256.New, secret.Secret)
			mac.Write([]byte(now + "." + string(body)))
			list = append(list, post{path, body, []string{"Sandbox-Signature", "t=" + now + ",v1=" + hex.EncodeToString(mac.Sum(nil))}})
		}
		return list
	}
	finish(p.addr, posters(sign(uncounted)))
	return runOut(p.addr, posters(sign(counted)), p.meter)
}

// hasStatus expects the answer to GET /v1/orders/{id} to say so.
func hasStatus(status string) func(int, []byte) error {
	return func(_ int, body []byte) error {
		if textOf(body, `"status":"`) != status {
			return fmt.Errorf("the order is not %s: %.300s", status, body)
		}
		return nil
	}
}

const (
	targetSlow  = 2.0 // times the p99 without a slow processor
	slowReports = 400 // per second: a tenth of what can be
	slowReads   = 2000

	slowTag  = "slow"          // of the sandbox
	slowness = 5 * time.Second // with the tag
	settling = slowness / 4    // after which all checkouts wait for the processor
	slowRun  = slowness / 2    // that is measured until the first of them goes on
)

// slowProcessor compares what others notice of checkouts that wait for the
// processor with what they notice without any.
func slowProcessor(s *stage) {
	length := s.pace
	length.Warm, length.Measured = min(length.Warm, slowRun/4), min(length.Measured, slowRun)
	for _, c := range s.list {
		if c.newer == nil {
			s.slowOn(c, length)
		}
	}
}

func (s *stage) slowOn(c *contender, length pace) {
	var open transactions
	reads := &side{name: "one product beside a slow processor, " + c.name}
	readsAlone := &side{name: "  one product, no checkouts, " + c.name}
	waiting := &side{name: "  checkouts that wait, " + c.name}
	reports := c.side("reports beside a slow processor", func(c *contender) measurement {
		p, began := c.serve(), time.Now()
		var waited, read, reported measurement
		wait := background(func() {
			waited = runOut(p.addr, limited(c.checkouts(slowTag, c.newBook()).callers(s.slow), s.slow), unmetered)
		})
		time.Sleep(settling)
		open.watch(c, func() { read, reported = c.evenly(p, length, slowReads, slowReports) })
		if took := time.Since(began); took > slowness {
			check(fmt.Errorf("the processor answered before all was measured, which took %v", took))
		}
		wait()
		reads.rounds, waiting.rounds = append(reads.rounds, read), append(waiting.rounds, waited)
		return reported
	})
	reportsAlone := c.side("  reports, no checkouts", func(c *contender) measurement {
		read, reported := c.evenly(c.serve(), length, slowReads, slowReports)
		readsAlone.rounds = append(readsAlone.rounds, read)
		return reported
	})
	alternate(length, reportsAlone, reports)
	s.report.slower(reports, reportsAlone, targetSlow)
	s.report.slower(reads, readsAlone, targetSlow)
	s.report.show(reportsAlone, readsAlone, waiting)
	if c.engine == postgresEngine {
		s.report.limit("oldest open transaction beside a slow processor, "+c.name, float64(open.oldest.Milliseconds()), 1000, "ms")
		s.report.note("Open transactions on %s were looked for %d times while checkouts waited.", c.name, open.looks)
	}
}

// transactions are what was seen of open ones on PostgreSQL.
type transactions struct {
	oldest time.Duration
	looks  int
}

// watch looks at the open transactions of a database while f runs. SQLite shows
// nothing to look at.
func (t *transactions) watch(c *contender, f func()) {
	if c.engine != postgresEngine {
		f()
		return
	}
	const oldest = `SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::float8
		FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
	done := make(chan struct{})
	wait := background(func() {
		db := c.data.open()
		defer func() { _ = db.Close() }()
		for {
			var seconds float64
			check(db.QueryRow(oldest).Scan(&seconds))
			t.oldest, t.looks = max(t.oldest, time.Duration(seconds*float64(time.Second))), t.looks+1
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	f()
	close(done)
	wait()
}
