package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// Stamps of several writers are not in the order of their commits, so each writer
// publishes its low watermark before it begins to write: the stamp below which it
// will write nothing. It withdraws the watermark when the batch is saved. A page of a
// feed ends before the lowest watermark. The newest saved stamp is read after the
// watermark was published, so everything that a reader saw before it could see the
// watermark is below it.
//
// A single server has the watermarks of all batches in one table. In a cluster that table
// would be on every node, each batch would wait for all others, and a node that is away would stop
// every batch. There a batch publishes a watermark for each of its stores and partners,
// beside their rows.

// guard is a table of low watermarks, with its statements. Their parameters are the
// writer's id, a stamp if there is one, and the key of the guarded rows if the table has one.
type guard struct {
	publish, prolong, save, withdraw, newest, forget string
	// lowest is the lowest watermark as a subquery, or NULL: rows below it are complete.
	// The key is the statement's first parameter.
	lowest string
	// state gives the newest stamp, and a sum that changes with each batch.
	state string
}

const (
	// watermarkTime is how long readers wait for an open batch whose process may be dead.
	watermarkTime = "8 seconds"
	renewAfter    = 2 * time.Second
)

var (
	guardOfAll      = newGuard("writers", "", "floor = NULL, last = $2")
	guardOfStores   = newGuard("store_writers", "store_id", "last = $2")
	guardOfPartners = newGuard("partner_writers", "partner_id", "last = $2")
)

// newGuard makes the statements of a table whose rows guard the rows with the same key. save is what the
// batch itself writes. In a cluster that is not the withdrawal: rows of several
// nodes do not become visible at the same time.
func newGuard(table, key, save string) *guard {
	where, and, column, value, conflict := "", "", "", "", "id"
	if key != "" {
		where, and, column, value, conflict = key+" = $1 AND ", " AND "+key+" = $", ", "+key, ", $3", key+", id"
	}
	with := func(n string) string {
		if key == "" {
			return ""
		}
		return and + n
	}
	const until = "now() + INTERVAL '" + watermarkTime + "'"
	newest := "SELECT max(last) FROM " + table
	if key != "" {
		newest += " WHERE " + key + " = $1"
	}
	return &guard{
		publish: "INSERT INTO " + table + " (id, floor, last, until" + column + ") VALUES ($1, $2, 0, " + until + value + ")" +
			" ON CONFLICT (" + conflict + ") DO UPDATE SET floor = excluded.floor, until = excluded.until",
		prolong:  "UPDATE " + table + " SET until = " + until + " WHERE id = $1" + with("2"),
		save:     "UPDATE " + table + " SET " + save + " WHERE id = $1" + with("3"),
		withdraw: "UPDATE " + table + " SET floor = NULL WHERE id = $1" + with("2"),
		newest:   newest,
		forget:   "DELETE FROM " + table + " WHERE " + where + "until < now() - INTERVAL '1 hour' AND last < (" + newest + ")",
		state:    "SELECT coalesce(max(last), 0)::bigint, coalesce(sum(last % 1000000007), 0)::bigint FROM " + table,
		lowest:   "(SELECT min(floor) FROM " + table + " WHERE " + where + "until > now())",
	}
}

// guarded is what a batch publishes a low watermark for.
type guarded struct {
	*guard
	key []any // none, or the id of a store or partner
}

func (g guarded) name() string {
	if len(g.key) == 0 {
		return g.newest
	}
	return g.newest + g.key[0].(string)
}

// guards are those of a batch with these rows. ofOrders are the partners of its orders.
func (e *Engine) guards(r *commerce.Rows, ofOrders []string) (list []guarded) {
	if !e.spread {
		return []guarded{{guardOfAll, nil}}
	}
	met := map[string]bool{}
	add := func(of *guard, id string) {
		if g := (guarded{of, []any{id}}); !met[g.name()] {
			met[g.name()] = true
			list = append(list, g)
		}
	}
	for _, t := range tables {
		of := map[string]*guard{"store_id": guardOfStores, "partner_id": guardOfPartners}[t.Shard]
		if t.keyed == nil || of == nil {
			continue
		}
		for i := range t.keyed.Asked(r) {
			var key values
			t.keyed.BindAsked(&key, r, i)
			add(of, key[0].text)
		}
	}
	for _, id := range ofOrders {
		add(guardOfPartners, id)
	}
	if len(list) == 0 { // no feed waits for it, and copies see that it was saved
		list = []guarded{{guardOfAll, nil}}
	}
	return list
}

// queueEach queues a statement for each guard, in a transaction of its own: none waits
// for the others, and each is of one node. It need not outlive a crash.
func queueEach(q *request, list []guarded, sql func(guarded) string, args ...any) {
	for _, g := range list {
		q.Queue(seen(begin))
		q.Queue(seen("SET LOCAL synchronous_commit = off"))
		q.Queue(seen(sql(g)), append(args[:len(args):len(args)], g.key...)...)
		q.Queue(seen("COMMIT"))
	}
}

// withdraw takes the watermarks of the batch back: all at once, or one by one where the
// node of one is away. One that stays ends by itself. In a cluster the first batch of a
// connection with a store or partner also deletes what old connections left beside it.
func (b *batch) withdraw(ctx context.Context) {
	conn := b.writer.conn
	send := func(list []guarded) error {
		var q request
		queueEach(&q, list, func(g guarded) string { return g.guard.withdraw }, b.writer.id)
		fresh := b.unmet(list)
		queueEach(&q, fresh, func(g guarded) string { return g.guard.forget })
		err := endTransaction(ctx, conn, conn.SendBatch(ctx, &q.Batch).Close())
		if err == nil {
			for _, g := range fresh {
				b.writer.met[g.name()] = true
			}
		}
		return err
	}
	if len(b.guards) == 0 || send(b.guards) == nil || !b.engine.spread {
		return
	}
	for i := range b.guards {
		if !conn.IsClosed() {
			_ = send(b.guards[i : i+1]) // as above
		}
	}
}

// unmet are those of the list that the connection meets for the first time.
func (b *batch) unmet(list []guarded) (fresh []guarded) {
	for _, g := range list {
		if b.engine.spread && !b.writer.met[g.name()] {
			fresh = append(fresh, g)
		}
	}
	return fresh
}

// prolong keeps a batch open that takes long, until ctx ends: the server waits for it, and so do
// readers.
func (b *batch) prolong(ctx context.Context, id string, list []guarded) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(renewAfter):
		}
		b.awake()
		if conn, err := b.engine.connectWriter(ctx); err == nil { // without a connection the batch will not be saved either
			for _, g := range list {
				_, _ = exec(ctx, conn, g.prolong, append([]any{id}, g.key...)...) // as above
			}
			_ = conn.Close(ctx)
		}
	}
}

// The clock of a cluster is the coordinator's: processes stamp rows of different stores
// without seeing each other's stamps.
const clockSQL = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"

// queueClock asks for the time. A clock of our own is read when the answer comes.
func (e *Engine) queueClock(q *pgx.Batch, now *int64) {
	q.Queue(seen(clockSQL)).QueryRow(func(row pgx.Row) error {
		if e.ownClock {
			*now = e.now().UnixMilli()
			return nil
		}
		return row.Scan(now)
	})
}

// before returns the time and the partners of the orders that the batch may change, which
// only a cluster is asked for.
func (b *batch) before(ctx context.Context) (now int64, partners []string, err error) {
	if !b.engine.spread {
		return b.engine.now().UnixMilli(), nil, nil
	}
	var q pgx.Batch
	b.engine.queueClock(&q, &now)
	b.partnersOf(&q, func(id string) { partners = append(partners, id) })
	return now, partners, b.writer.conn.SendBatch(ctx, &q).Close()
}

// lowest is the subquery of the lowest watermark for a statement whose first parameter is
// the key of g.
func (e *Engine) lowest(g *guard) string {
	if !e.spread {
		g = guardOfAll
	}
	return g.lowest
}

// queueLowest asks for the lowest watermark of a cluster in a transaction of its own, and not by the
// snapshot of the page that is read afterwards. A batch that publishes its watermark later has a stamp that is not
// below the time, which is therefore read before: the stamps below both are complete.
func (e *Engine) queueLowest(q *pgx.Batch, lowest *int64, sql string, args ...any) {
	now := e.now().UnixMilli()
	q.Queue(seen(begin))
	if !e.ownClock {
		e.queueClock(q, &now)
	}
	queue(q, func(s *scanner) {
		*lowest = now
		if open := s.Int(); open != 0 {
			*lowest = min(now, open)
		}
	}, sql, args...)
	q.Queue(seen("COMMIT"))
}

// awaitClock lets the clock of a cluster catch up with the stamps of batches that follow each other
// within one millisecond. Otherwise a read over all stores, which ends before the time, would miss
// what they wrote. Stamps that are further ahead come from a clock that was set back.
func (e *Engine) awaitClock(ctx context.Context, ahead int64) {
	const most = 10
	if !e.spread || ahead <= 0 || ahead > most {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(ahead) * time.Millisecond):
	}
}

const noWatermark = math.MaxInt64

// unguarded returns an error if the batch appended an event of a partner without a
// watermark. A feed could miss such an event.
func (b *batch) unguarded() error {
	if !b.engine.spread {
		return nil
	}
	has := map[string]bool{}
	for _, g := range b.guards {
		if g.guard == guardOfPartners {
			has[g.key[0].(string)] = true
		}
	}
	for _, w := range b.rows.Appended.Webhooks {
		if !has[w.PartnerID] {
			return fmt.Errorf("an event of partner %s is not among what the batch was loaded for", w.PartnerID)
		}
	}
	return nil
}

// partnersOf asks for the partners of the orders that the batch may change.
func (b *batch) partnersOf(q *pgx.Batch, add func(id string)) {
	t := &schema.Orders
	rows := t.Rows(&b.rows)
	of := map[string][]string{}
	for i := range rows.Asked() {
		if k, locked := rows.AskedKey(i); locked {
			of[k.StoreID] = append(of[k.StoreID], k.OrderID)
		}
	}
	for store, ids := range of {
		queue(q, func(s *scanner) { add(s.Text()) }, "SELECT DISTINCT partner_id FROM orders WHERE store_id = $1 AND id = ANY($2)", store, ids)
	}
}
