package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/batchget"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// reader implements storage.Reader on the pool of reading connections.
type reader struct {
	reads.Reader
	e *Engine
}

func newReader(e *Engine) reader {
	r := reader{e: e}
	r.Reader = reads.Reader{Rows: r.rows, Each: r.each, Among: "= ANY({list})", WaitingJobs: "jobs", Number: "{parameter}", Text: "{parameter}", Lookups: e.lookups, Homes: e.homes}
	if !e.spread {
		r.OpenStamp = guardOfAll.lowest
	}
	return r
}

// readTime bounds one read, so that a server that went silent does not hold up its callers.
const readTime = 10 * time.Second

// read runs f, and once more if its connection turns out to be broken: a pooled connection
// may be older than the server's last restart.
func (r reader) read(ctx context.Context, f func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	err := f(bounded)
	if broken(err) && bounded.Err() == nil {
		err = f(bounded)
	}
	if ctx.Err() != nil {
		return ctx.Err() // the caller has gone
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "22021" {
		return nil // PostgreSQL cannot store such a text (a NUL, broken UTF-8), so no row has it
	}
	return unavailable(err)
}

func broken(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, storage.ErrUnreadable) {
		return false
	}
	pg, answered := errors.AsType[*pgconn.PgError](err)
	return !answered || pg.Code[:2] == "57"
}

// once is read for statements whose rows are given to a caller: it does not run f again
// where the connection breaks in the midst of them. f sets given with the first row.
func (r reader) once(ctx context.Context, f func(ctx context.Context, given *bool) error) error {
	var broke error
	given := false
	return r.read(ctx, func(ctx context.Context) error {
		if !given {
			broke = f(ctx, &given)
		}
		return broke
	})
}

// rows implements reads.Rows.
func (r reader) rows(ctx context.Context, sql string, args []any, row func(schema.Scanner)) error {
	return r.once(ctx, func(ctx context.Context, given *bool) error {
		return query(ctx, r.e.readers, func(s *scanner) {
			*given = true
			row(s)
		}, sql, args...)
	})
}

// each implements reads.Reader.Each in one round trip, and in one more for each statement
// whose node is away: the others are asked, and the error is returned with their rows.
func (r reader) each(ctx context.Context, sql string, n int, args func(i int) []any, row func(i int, s schema.Scanner)) (err error) {
	for next := 0; next < n; next++ {
		failed := r.once(ctx, func(ctx context.Context, given *bool) error {
			var q pgx.Batch
			q.Queue(seen(beginSnapshot))
			for i := next; i < n; i++ {
				q.Queue(seen(sql), args(i)...).Query(func(rows pgx.Rows) error {
					next = i
					return each(rows, func(s *scanner) {
						*given = true
						row(i, s)
					})
				})
			}
			q.Queue(seen(endSnapshot))
			return r.e.readers.SendBatch(ctx, &q).Close()
		})
		if failed == nil {
			break
		}
		if err = failed; !errors.Is(err, storage.ErrNode) {
			break
		}
	}
	return err
}

// Categories implements storage.Reader, as do the others.
func (r reader) Categories(ctx context.Context, f storage.CategoryFilter) (list []commerce.Category, err error) {
	sql, args := "SELECT id, "+schema.Categories.Values()+" FROM categories WHERE true", []any{}
	if f.Active != nil {
		args = append(args, *f.Active)
		sql += " AND active = $" + strconv.Itoa(len(args))
	}
	if f.StoreIDs != nil {
		of, err := r.categoriesOf(ctx, f.StoreIDs)
		if err != nil {
			return nil, err
		}
		args = append(args, of)
		sql += " AND id = ANY($" + strconv.Itoa(len(args)) + ")"
	}
	err = r.rows(ctx, sql+" ORDER BY name, id", args, func(s schema.Scanner) { list = append(list, schema.Categories.Scan(s, s.Text())) })
	return list, err
}

// categoriesOf looks through all products of the stores: an index for it would
// be one more that each sale moves.
func (r reader) categoriesOf(ctx context.Context, storeIDs []string) (ids []string, err error) {
	err = r.rows(ctx, "SELECT DISTINCT category_id FROM stock WHERE store_id = ANY($1)", []any{storeIDs}, func(s schema.Scanner) { ids = append(ids, s.Text()) })
	return ids, err
}

func (r reader) Ping(ctx context.Context) error {
	return r.rows(ctx, "SELECT version FROM schema_version WHERE id = 1", nil, func(schema.Scanner) {})
}

// readMoves follows the chain of a product. Each step looks through the moves of
// one batch, from the highest number below that of the newer move downwards.
var readMoves = "SELECT " + schema.MoveColumns + ` FROM (
	WITH RECURSIVE chain AS (
		(SELECT ` + moveStep + ` AND at = $3 AND seq < $4 ORDER BY at DESC, seq DESC LIMIT 1)
		UNION ALL
		SELECT older.* FROM chain AS c CROSS JOIN LATERAL (
			SELECT ` + moveStep + ` AND at = c.previous_at AND seq < c.seq ORDER BY at DESC, seq DESC LIMIT 1) AS older
	) SELECT * FROM chain LIMIT $5) AS m
	LEFT JOIN stock_notes AS n ON n.store_id = $1 AND n.product_id = $2 AND n.seq = m.seq`

var moveStep = schema.Join("at, seq", schema.StockMoves.Rest) + ` FROM stock_moves WHERE store_id = $1 AND product_id = $2`

func (r reader) StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) (list []commerce.StockMove, err error) {
	err = r.rows(ctx, readMoves, []any{key.StoreID, key.ProductID, from.At, from.Seq, limit},
		func(s schema.Scanner) { list = append(list, schema.ScanStockMove(s, key)) })
	slices.SortFunc(list, func(a, b commerce.StockMove) int { return cmp.Compare(b.Seq, a.Seq) })
	return list, err
}

// EventPage implements storage.Reader. Ids begin with their batch's stamp.
func (r reader) EventPage(ctx context.Context, f storage.EventFilter) (page storage.EventPage, err error) {
	err = belowWatermark(ctx, func(bool) (cut bool, err error) {
		page, cut, err = r.eventPage(ctx, f)
		return cut, err
	})
	return page, err
}

// eventPage ends before the low watermark; cut reports that the watermark was met. The newest event is read before the page, so that nothing stands
// below it that the page does not see.
func (r reader) eventPage(ctx context.Context, f storage.EventFilter) (page storage.EventPage, cut bool, err error) {
	lowWatermark := r.e.lowest(guardOfPartners)
	var list storage.EventList
	var newest string
	err = r.read(ctx, func(ctx context.Context) error {
		list, newest, cut = f.List(), "", false
		var q pgx.Batch
		queue(&q, func(s *scanner) {
			if id := s.Text(); complete(id, s.Int()) {
				newest = id
			}
		}, "SELECT id, "+lowWatermark+" FROM webhook_events WHERE partner_id = $1 ORDER BY id DESC LIMIT 1", f.PartnerID)
		sql, args := f.SQL("id, " + schema.WebhookEvents.Rest + ", " + lowWatermark)
		queue(&q, func(s *scanner) {
			if cut || list.Full() {
				return
			}
			e := schema.ScanEvent(s, f.PartnerID)
			if cut = !f.Newest && !complete(e.ID, s.Int()); !cut {
				list.Add(e)
			}
		}, sql, args...)
		return r.e.readers.SendBatch(ctx, &q).Close()
	})
	if cut {
		newest = "" // it may be above an event that was cut off
	}
	return list.Page(newest), cut, err
}

// complete reports whether the event is below the low watermark; 0: no batch is open.
func complete(id string, watermark int64) bool {
	return watermark == 0 || id < commerce.NewID(commerce.PrefixEvent, commerce.Millis(watermark), commerce.Entropy{})
}

// HeldEndpoints implements storage.Reader. A cluster is asked partner by partner, so that an
// endpoint is found while the node of another one is away.
func (r reader) HeldEndpoints(ctx context.Context) (list []commerce.Endpoint, err error) {
	if !r.e.spread {
		return r.Reader.HeldEndpoints(ctx)
	}
	partners, err := r.Partners(ctx)
	if err != nil {
		return nil, err
	}
	var owners []string
	for _, p := range partners {
		owners = append(owners, p.ID)
		for _, r := range p.Routes {
			if r.ID != "" {
				owners = append(owners, commerce.EndpointOwner(p.ID, r.ID))
			}
		}
	}
	err = r.each(ctx, "SELECT "+schema.Endpoints.Values()+" FROM endpoints WHERE partner_id = $1 AND held_until <> 0 AND paused_on = 0", len(owners),
		func(i int) []any { return []any{owners[i]} },
		func(i int, s schema.Scanner) { list = append(list, schema.Endpoints.Scan(s, owners[i])) })
	if errors.Is(err, storage.ErrNode) {
		err = nil
	}
	slices.SortFunc(list, func(a, b commerce.Endpoint) int { return cmp.Compare(a.HeldUntil, b.HeldUntil) })
	return list, err
}

// sitesSQL reads each strip for itself, from an index that has all columns. The
// limit is none: with it the server, which may take the table for empty, cannot
// go through all stores and look for the strip of each.
const sitesSQL = "SELECT s.* FROM unnest($1::bigint[], $2::double precision[], $3::double precision[]) AS strip (number, west, east)" +
	" CROSS JOIN LATERAL (SELECT " + schema.SiteColumns + " FROM stores" +
	" WHERE active = $4 AND band = number AND lng BETWEEN west AND east LIMIT 1000000000) AS s"

// Sites implements storage.Reader.
func (r reader) Sites(ctx context.Context, f storage.SiteFilter) (list []commerce.Site, err error) {
	var bands []int64
	var wests, easts []float64
	for _, strip := range f.Area {
		bands, wests, easts = append(bands, strip.Band), append(wests, strip.West), append(easts, strip.East)
	}
	err = r.read(ctx, func(ctx context.Context) error {
		list = nil // of a read that broke off
		return query(ctx, r.e.readers, func(s *scanner) { list = append(list, schema.ScanSite(s)) }, sitesSQL, bands, wests, easts, f.Active)
	})
	return list, err
}

// newLookups makes look-ups of single rows by their keys. Look-ups at the same time share a
// statement, because the statement is most of their cost.
func newLookups(e *Engine) map[string]any {
	list := map[string]any{}
	addLookup(e, list, &schema.Stores)
	addLookup(e, list, &schema.Orders)
	addLookup(e, list, &schema.Payments)
	addLookup(e, list, &schema.Replies)
	addLookup(e, list, &schema.Deliveries)
	addLookup(e, list, &schema.SandboxObjects)
	return list
}

func addLookup[K comparable, V any](e *Engine, list map[string]any, t *schema.Table[K, V]) {
	rows := newLoader(e, t)
	list[t.Name] = reads.Lookup[K, V](func(ctx context.Context, k K) (v V, found bool, err error) {
		err = reader{e: e}.read(ctx, func(ctx context.Context) (err error) {
			v, found, err = rows.Get(ctx, k)
			return err
		})
		return v, found, err
	})
}

func newLoader[K comparable, V any](e *Engine, t *schema.Table[K, V]) *batchget.Loader[K, V] {
	var bound values
	t.BindKey(&bound, *new(K))
	sql, width := byKeysSQL(t.Shape(), bound), len(bound)+1
	read := sql.read
	if e.spread {
		read = sql.cluster
	}
	l := batchget.New(func(ctx context.Context, keys []K) (map[K]V, error) { return readSingles(ctx, e, t, read, width, keys) })
	if e.spread && t.Shard != schema.Everywhere {
		l.Apart = func(k K) string { // a read of several stores would need all of their nodes
			var key values
			t.BindKey(&key, k)
			return key[0].text
		}
	}
	return l
}

func readSingles[K comparable, V any](ctx context.Context, e *Engine, t *schema.Table[K, V], sql string, width int, keys []K) (map[K]V, error) {
	found := make(map[K]V, len(keys))
	var bound values
	for i, k := range keys {
		n := len(bound)
		if t.BindKey(&bound, k); !bound[n:].storable() {
			bound = bound[:n] // it shall not harm the others
			continue
		}
		bound.Int(int64(i))
	}
	if len(bound) == 0 {
		return found, nil
	}
	return found, query(ctx, e.readers, func(s *scanner) {
		k := keys[s.Int()]
		found[k] = t.Scan(s, k)
	}, sql, bound.arrays(width)...)
}

// byKeys are statements that read rows by their keys, which are given as one list
// for each column of the key. One more list numbers the keys.
type byKeys struct {
	read, lock string // for one server
	cluster    string // read
}

// byKeysSQL compares each column of a key with one value, so that rows of other keys are
// not read. The LIMIT keeps a server that takes the table for empty from reading all rows.
// A cluster refuses the LIMIT, so its form has none and names the shards instead. On a
// single server that would cost more: it would look for each row in a sorted list.
func byKeysSQL(t schema.Shape, bound values) (s byKeys) {
	bound.Int(0)
	from := " FROM " + bound.unnest() + " AS k (" + schema.Each(t.Key, "k{n}", ", ") + ", i)"
	of := func(lock string) string {
		return "SELECT k.i, t.*" + from + " CROSS JOIN LATERAL (SELECT " + t.Values() + " FROM " + t.Name +
			" WHERE " + schema.Each(t.Key, "{c} = k.k{n}", " AND ") + " LIMIT 1" + lock + ") AS t"
	}
	s.read, s.lock = of(""), of(" FOR UPDATE")
	s.cluster = "SELECT k.i, " + schema.Qualified("t", t.Values()) + from + " JOIN " + t.Name + " AS t ON " + schema.Each(t.Key, "t.{c} = k.k{n}", " AND ") +
		" WHERE t." + schema.Split(t.Key)[0] + " = ANY($1)"
	return s
}

// storable reports whether PostgreSQL can store all texts. No row has a text that it cannot
// store.
func (v values) storable() bool {
	return !slices.ContainsFunc(v, func(x value) bool {
		return x.kind == text && (!utf8.ValidString(x.text) || strings.Contains(x.text, "\x00"))
	})
}
