package postgres

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// sweepMost is how much is swept at a call, so that others wait a few
// milliseconds at most.
const sweepMost = 1000

// Sweep implements storage.Engine.
func (e *Engine) Sweep(ctx context.Context, now commerce.Millis) (n int, err error) {
	partners, err := newReader(e).Partners(ctx)
	if err != nil {
		return 0, err
	}
	err = e.on(ctx, e.claims, func(conn *pgx.Conn) error {
		removed, err := schema.Sweep(now, partners, sweepMost-n, func(p *schema.Plain, x schema.Expired, args []any, limit int) (int, error) {
			return remove(ctx, conn, p, x, args, limit)
		})
		n += removed
		return err
	})
	return n, err
}

// remove deletes expired rows. It reads their keys first, because a cluster needs them to
// find the shards. A row may change in between, so the condition is checked once more.
func remove(ctx context.Context, conn *pgx.Conn, p *schema.Plain, x schema.Expired, args []any, limit int) (int, error) {
	var keys values
	err := query(ctx, conn, func(s *scanner) { p.MoveKey(s, &keys) }, p.FindSQL(x), append(slices.Clone(args), limit)...)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	columns := schema.Split(p.Key)
	width, shards := len(columns), slices.Index(columns, p.Shard)
	sql := "DELETE FROM " + p.Name + " AS t USING " + keys[:width].unnest() + " AS u (" + schema.Each(p.Key, "k{n}", ", ") + ") WHERE " +
		schema.Each(p.Key, "t.{c} = u.k{n}", " AND ") + " AND t." + p.Shard + " = ANY($" + strconv.Itoa(width+1) + ") AND " + x.Condition(width+2)
	shard := array{values: keys[shards:], step: width}.eachOnce()
	tag, err := exec(ctx, conn, sql, append(append(keys.arrays(width), shard), args...)...)
	return int(tag.RowsAffected()), err
}

// CountReplies implements storage.Engine.
func (e *Engine) CountReplies(ctx context.Context, now commerce.Millis) (stored schema.ReplyBytes, err error) {
	added := e.replies.Take()
	err = e.on(ctx, e.claims, func(conn *pgx.Conn) error {
		var q pgx.Batch
		for _, partner := range slices.Sorted(maps.Keys(added)) { // in one order, so that processes do not wait for each other
			q.Queue(seen(`INSERT INTO stored_replies (partner_id, hour, bytes) VALUES ($1, $2, $3)
				ON CONFLICT (partner_id, hour) DO UPDATE SET bytes = stored_replies.bytes + excluded.bytes`), partner, schema.HourOf(now), added[partner])
		}
		if err := conn.SendBatch(ctx, &q).Close(); err != nil {
			return err
		}
		added = nil // they are written down, also if the connection breaks now
		stored = schema.ReplyBytes{}
		return query(ctx, conn, func(s *scanner) { stored[s.Text()] = s.Int() }, "SELECT partner_id, sum(bytes)::bigint FROM stored_replies GROUP BY partner_id")
	})
	if err != nil {
		e.replies.Add(added)
	}
	return stored, err
}
