package main

import (
	"database/sql"
	"fmt"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// fillOrders reports the orders of a database to a service.
func (b *bench) fillOrders(d *dataset, program string) {
	n := max(d.Size.Orders, min(d.Size.Events, 1)) // all webhooks look like that of a real order
	if n == 0 {
		return
	}
	c, noted := &contender{bench: b, program: program, data: d}, newBook(d.Size.Products)
	defer func() { check(c.stop()) }()
	finish(c.serve().addr, limited(reports(d.shops, d.Partners[0].Key, false, noted).fully(), n))
	if d.reported = noted.ids(); len(d.reported) != n {
		check(fmt.Errorf("%d orders were reported in time, not %d", len(d.reported), n))
	}
}

// record describes the webhooks that were sent before, and those that could not be.
func (s size) record() string {
	return fmt.Sprintf("%s delivered webhooks on record, %s that wait for a dead endpoint", thousands(s.Events), thousands(s.Parked))
}

// receivers are the partners that get webhooks.
func (d *dataset) receivers() []partner { return d.Partners[1 : 1+d.Size.Receivers] }

func (d *dataset) deadEndpoint() string { return d.Partners[len(d.Partners)-1].ID }

// fillWebhooks stores events of the receivers as delivered, and parked jobs of
// the dead endpoint. All of them look like the event of one real order.
func (d *dataset) fillWebhooks() {
	if d.Size.Events == 0 {
		return
	}
	var statements []string
	for i, r := range d.receivers() {
		statements = append(statements, d.copyEvents(r.ID, i, d.Size.Events/d.Size.Receivers), fmt.Sprintf(
			`INSERT INTO webhook_attempts (partner_id, event_id, id, url, at, took_ms, status, error, answer)
			SELECT partner_id, id, 'att_' || substr(id, 5), 'http://127.0.0.1:8080/webhooks', timestamp, 1, 200, '', ''
			FROM webhook_events WHERE partner_id = '%s'`, r.ID))
	}
	dead, now := d.deadEndpoint(), time.Now().UnixMilli()
	statements = append(statements, d.copyEvents(dead, d.Size.Receivers, d.Size.Parked), fmt.Sprintf(
		`INSERT INTO jobs (slot, id, kind, owner, subject, run_at, state, tries, probes, error, leased_by, leased_until)
		SELECT timestamp %% 32, 'job_' || substr(id, 5), 'deliver_webhook', partner_id, id, timestamp, 'parked', 0, 0, '', '', 0
		FROM webhook_events WHERE partner_id = '%s'`, dead), fmt.Sprintf(
		`INSERT INTO endpoints (partner_id, failures, failing_since, held_until, paused_on, paused_for, previous_secret, previous_until)
		VALUES ('%s', 5, %d, %d, 0, '', '', 0)`, dead, now, now))
	db := d.openBulk()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			check(fmt.Errorf("%s: %w", s, err))
		}
	}
	d.closeBulk(db)
}

// copyEvents is the statement that gives a partner n copies of the one event that
// there is. The last digits of their ids tell partners and copies apart, and 5,000
// share a stamp, as in a large batch.
func (d *dataset) copyEvents(partnerID string, partner, n int) string {
	return fmt.Sprintf(`INSERT INTO webhook_events (partner_id, id, kind, mode, store_id, order_id, trace_id, data, timestamp)
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d)
		SELECT '%s', substr(id, 1, length(id) - 9) || %d || substr(cast(100000000 + i AS text), 2), kind, mode, store_id, order_id, trace_id, data, timestamp - i / 5000
		FROM n, webhook_events WHERE partner_id = '%s'`, n, partnerID, partner, d.Partners[0].ID)
}

// exec runs statements on the database itself.
func (d *dataset) exec(statements ...string) {
	db := d.open()
	defer func() { _ = db.Close() }()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			check(fmt.Errorf("%s: %w", s, err))
		}
	}
}

// query calls f for each row.
func (d *dataset) query(statement string, f func(scan func(...any))) {
	db := d.open()
	defer func() { _ = db.Close() }()
	query(db, statement, f)
}

func query(db *sql.DB, statement string, f func(scan func(...any))) {
	rows, err := db.Query(statement)
	if err != nil {
		check(fmt.Errorf("%s: %w", statement, err))
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		f(func(into ...any) { check(rows.Scan(into...)) })
	}
	check(rows.Err())
}

// number is the one that a query gives.
func (d *dataset) number(statement string) (n int) {
	d.query(statement, func(scan func(...any)) { scan(&n) })
	return n
}

func (d *dataset) open() *sql.DB {
	if d.onSQLite() {
		return must(sql.Open("sqlite", d.path()+"?_pragma=busy_timeout(10000)"))
	}
	return must(sql.Open("pgx", d.url))
}
