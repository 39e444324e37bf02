package effect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/payment"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/pg"

	"github.com/jackc/pgx/v5"
	driver "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestJobsOfAnOlderDatabase: a database of number 1 has jobs whose answers are
// waited for: a session, a refund, a courier to be found, and a courier and a
// refund of one call that cancelled. It is brought up to date, and each job closes
// its key with the answer that it would have had.
func TestJobsOfAnOlderDatabase(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "old.db")
		conn, err := driver.OpenConn(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range append(oldTables(t, "sqlite"), oldRows()...) {
			if err := sqlitex.ExecuteScript(conn, sql, nil); err != nil {
				t.Fatalf("%v: %s", err, sql)
			}
		}
		if err := sqlitex.ExecuteScript(conn, fmt.Sprintf("PRAGMA user_version=1; PRAGMA application_id=%d", 0x50555256), nil); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		engine, err := sqlite.Open(path, sqlite.Options{})
		closeOldKeys(t, engine, err)
	})
	t.Run("postgres", func(t *testing.T) {
		url, ctx := pg.Shared(t).Database(t), context.Background()
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		tables := append([]string{"CREATE TABLE schema_version (id INT PRIMARY KEY, version INT NOT NULL)",
			"INSERT INTO schema_version (id, version) VALUES (1, 1)"}, oldTables(t, "postgres")...)
		for _, sql := range append(tables, oldRows()...) {
			if _, err := conn.Exec(ctx, sql); err != nil {
				t.Fatalf("%v: %s", err, sql)
			}
		}
		if err := conn.Close(ctx); err != nil {
			t.Fatal(err)
		}
		engine, err := postgres.Open(url, postgres.Options{})
		closeOldKeys(t, engine, err)
	})
}

// oldTables are those of the first migration, as the engine has it.
func oldTables(t *testing.T, engine string) []string {
	t.Helper()
	script, err := os.ReadFile("../storage/" + engine + "/migrations/0001_core.sql")
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(string(script), ";\n")
}

func oldOrder(n byte) string { return commerce.NewOrderID(1, 7, commerce.Entropy{n}) }

var (
	oldSession, oldRefund, oldReport, oldCancel = oldOrder(1), oldOrder(2), oldOrder(3), oldOrder(4)
	// oldKeys are the keys whose answers wait, and the jobs that they wait for.
	oldKeys = map[string]commerce.JobKey{"session": {Slot: 1, ID: "job_1"}, "refund": {Slot: 2, ID: "job_2"}, "report": {Slot: 3, ID: "job_3"}, "cancel": {Slot: 5, ID: "job_5"}}
)

// oldRows are orders as the old program stored them in the middle of a call.
func oldRows() (rows []string) {
	add := func(format string, args ...any) { rows = append(rows, fmt.Sprintf(format, args...)) }
	for _, o := range []struct{ id, external, fulfillment, status, address string }{
		{oldSession, "", "pickup", "pending_payment", "NULL"}, {oldRefund, "", "pickup", "paid", "NULL"},
		{oldReport, "A-1", "delivery", "processed", `'{"name":"Ann","address":{"line1":"1 A St","city":"Austin","state":"TX","postal_code":"78701","country":"US"}}'`},
		{oldCancel, "", "delivery", "cancelled", `'{"name":"Ann","address":{"line1":"1 A St","city":"Austin","state":"TX","postal_code":"78701","country":"US"}}'`},
	} {
		add("INSERT INTO orders (store_id, id, partner_id, mode, source, external_id, fulfillment, lines, address, subtotal_cents, tax_cents,"+
			" delivery_fee_cents, total_cents, pickup_instructions, dropoff_instructions, external_payment_id, created_on, customer_id, customer_email, status,"+
			" refunded_cents, courier_quote_id, courier_delivery_id, courier_tracking_url, inventory_deducted, confirmed, ready_for_pickup_at, picked_up_at,"+
			" attention, updated_on, events, notified_on) VALUES ('%s', '%s', '%s', 'test', 'partner', '%s', '%s', '[{\"product_id\":\"prd_0\",\"quantity\":1,\"price\":300}]',"+
			" %s, 300, 0, 0, 300, '', '', '', 7, '', '', '%s', 0, '', '', '', FALSE, %s, 0, 0, '', 8, 0, 0)",
			storeID, o.id, partnerID, o.external, o.fulfillment, o.address, o.status, map[bool]string{true: "TRUE", false: "FALSE"}[o.id == oldCancel])
	}
	payment := func(order, key, state string, captured, pending int) {
		add("INSERT INTO payments (store_id, order_id, processor, success_url, cancel_url, store_name, titles, answers_partner, answers_op,"+
			" answers_key, trace_id, created_on, state, session_id, checkout_url, payment_id, error, notice_id, captured_cents, refunded_cents, pending_cents,"+
			" entries, updated_on) VALUES ('%s', '%s', 'box', '', '', '', '[{\"name\":\"Rye\"}]', '%s', 'op', '%s', 'trace', 7, '%s', '', '', 'pi', '', '', %d, 0, %d, 1, 8)",
			storeID, order, partnerID, key, state, captured, pending)
	}
	payment(oldSession, "session", "opening", 0, 0)
	payment(oldRefund, "paid", "paid", 300, 100)
	payment(oldCancel, "paid too", "paid", 300, 300)
	for _, r := range []struct{ id, order, origin, key string }{{"rfd_1", oldRefund, "asked", "refund"}, {"rfd_2", oldCancel, "cancelled", "cancel"}} {
		add("INSERT INTO refunds (store_id, id, order_id, amount_cents, reason, origin, answers_partner, answers_op, answers_key, trace_id, created_on,"+
			" state, ref, error, updated_on) VALUES ('%s', '%s', '%s', %d, '', '%s', '%s', 'op', '%s', 'trace', 7, 'pending', '', '', 8)",
			storeID, r.id, r.order, map[string]int{"asked": 100, "cancelled": 300}[r.origin], r.origin, partnerID, r.key)
	}
	for _, d := range []struct{ order, key, state, provider, cancelKey string }{
		{oldReport, "report", "dispatching", "", ""}, {oldCancel, "", "dispatching", "uber", "cancel"},
	} {
		add("INSERT INTO deliveries (store_id, order_id, answers_partner, answers_op, answers_key, trace_id, created_on, attempt, state, provider,"+
			" asked_on, provider_id, quote_id, fee_cents, avoid, tracking_url, status, pickup_eta, dropoff_eta, courier_name, courier_phone, courier_vehicle,"+
			" courier_image_url, imminent, seen_on, heard_on, told_on, untold, cancel_partner, cancel_op, cancel_key, error, updated_on, changes)"+
			" VALUES ('%s', '%s', '%s', 'op', '%s', 'trace', 7, 1, '%s', '%s', 0, '', '', 0, '', '', '', 0, 0, '', '', '', '', FALSE, 0, 0, 0, FALSE,"+
			" '%s', 'op', '%s', '', 8, 0)", storeID, d.order, partnerID, d.key, d.state, d.provider, partnerID, d.cancelKey)
	}
	for i, j := range []struct{ kind, subject string }{{"open_session", oldSession}, {"refund_payment", "rfd_1"}, {"dispatch", commerce.DeliveryRef(oldReport, 1)},
		{"cancel_delivery", oldCancel}, {"refund_payment", "rfd_2"}} {
		add("INSERT INTO jobs (slot, id, kind, owner, subject, run_at, state, tries, probes, error, leased_by, leased_until)"+
			" VALUES (%d, 'job_%[1]d', '%s', '%s', '%s', 7, 'waiting', 0, 0, '', '', 0)", i+1, j.kind, storeID, j.subject)
	}
	return rows
}

// closeOldKeys has all jobs done, and reads the answers.
func closeOldKeys(t *testing.T, engine storage.Engine, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	s := newShop(t, engine)
	key := func(name string) commerce.ReplyKey {
		return commerce.ReplyKey{PartnerID: partnerID, Op: "op", Key: name}
	}
	storagetest.Change(t, engine, commerce.Needs{Replies: []commerce.ReplyKey{key("session"), key("refund"), key("report"), key("cancel")}},
		func(_ *commerce.Rows, now commerce.Millis) (c commerce.Changes) {
			for name, job := range oldKeys {
				c.Replies = append(c.Replies, commerce.Reply{ReplyKey: key(name), Job: job, Body: []byte{}, CreatedOn: now})
			}
			return c
		})
	uber := newDepot("uber")
	uber.make(courier.CreateRequest{QuoteRequest: courier.QuoteRequest{Ref: commerce.DeliveryRef(oldCancel, 1)}})
	effects := Start(Options{Queue: engine, Reads: engine.Reader(), Uses: s.uses(), Runner: s.runner("me"), Sender: s, AppendWebhook: wire.AppendWebhook, Geocoder: nowhere{},
		Processors: map[string]payment.Processor{"box": oldProcessor{}},
		Fleet:      courier.Fleet{Providers: map[string]courier.Provider{"uber": uber}, Modes: map[commerce.Mode][]string{commerce.Test: {"uber"}}}})
	defer s.stop(effects)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, job := range append([]commerce.JobKey{{Slot: 4, ID: "job_4"}}, oldKeys["session"], oldKeys["refund"], oldKeys["report"], oldKeys["cancel"]) {
		if err := effects.Finish(ctx, job); err != nil {
			t.Errorf("%s: %v", job.ID, err)
		}
	}
	ref := commerce.DeliveryRef(oldReport, 1)
	for name, want := range map[string]string{
		"session": `201 {"ok":true,"order_id":"` + oldSession + `","session_id":"cs_1","checkout_url":"https://pay.example","trace_id":"trace"}`,
		"refund":  `200 {"ok":true,"order_id":"` + oldRefund + `","payments_refund_id":"rfd_1","amount_refunded_cents":100,"total_refunded_cents":100,"status":"paid"}`,
		"report": `201 {"ok":true,"order_id":"` + oldReport + `","external_order_id":"A-1","status":"processed","delivery":{"created":true,` +
			`"courier_delivery_id":"uber ` + ref + `","courier_tracking_url":"https://uber.example/` + ref + `"},"trace_id":"trace"}`,
		"cancel": `200 {"ok":true,"order_id":"` + oldCancel + `","status":"cancelled","delivery_cancelled":true,"inventory_restored":true,` +
			`"refund":{"payments_refund_id":"rfd_2","amount_refunded_cents":300}}`,
	} {
		var reply commerce.Reply
		s.eventually("the answer of "+name, func() bool {
			reply, err = engine.Reader().Reply(ctx, key(name))
			return err != nil || !reply.Open()
		})
		if got := fmt.Sprintf("%d %s", reply.Status, reply.Body); err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
}

// oldProcessor does what it is asked.
type oldProcessor struct{ payment.Processor }

func (oldProcessor) OpenSession(context.Context, payment.SessionRequest) (payment.Session, error) {
	return payment.Session{ID: "cs_1", URL: "https://pay.example"}, nil
}

func (oldProcessor) Refund(context.Context, payment.RefundRequest) (payment.Refund, error) {
	return payment.Refund{ID: "re_1"}, nil
}
