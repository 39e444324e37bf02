package postgres

import (
	"context"
	"maps"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// sweepMost is how much is swept at a call, so that others wait a few
// milliseconds at most.
const sweepMost = 1000

// Sweep implements storage.Engine.
func (e *Engine) Sweep(ctx context.Context, before commerce.Millis) (n int, err error) {
	err = e.on(ctx, e.claims, func(conn *pgx.Conn) error {
		if _, err := exec(ctx, conn, "DELETE FROM stored_replies WHERE hour <= $1", before-schema.HourMs); err != nil {
			return err
		}
		rows, err := query(ctx, conn, "SELECT partner_id, digest FROM replies WHERE created_on < $1 ORDER BY created_on LIMIT $2", before, sweepMost)
		if err != nil {
			return err
		}
		old := map[string][][]byte{}
		err = each(rows, func(s *scanner) {
			partner := s.Text()
			old[partner] = append(old[partner], s.Blob())
		})
		for partner, digests := range old {
			if err != nil {
				break
			}
			var tag pgconn.CommandTag
			tag, err = exec(ctx, conn, "DELETE FROM replies WHERE partner_id = $1 AND digest = ANY($2)", partner, digests)
			n += int(tag.RowsAffected())
		}
		return err
	})
	return n, err
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
		rows, err := query(ctx, conn, "SELECT partner_id, sum(bytes)::bigint FROM stored_replies GROUP BY partner_id")
		if err != nil {
			return err
		}
		stored = schema.ReplyBytes{}
		return each(rows, func(s *scanner) { stored[s.Text()] = s.Int() })
	})
	if err != nil {
		e.replies.Add(added)
	}
	return stored, err
}

// SweepEvents implements storage.Engine. Ids begin with their time.
func (e *Engine) SweepEvents(ctx context.Context, before commerce.Millis) (n int, err error) {
	partners, err := newReader(e).Partners(ctx)
	if err != nil {
		return 0, err
	}
	event := commerce.NewID(commerce.PrefixEvent, commerce.Millis(before), commerce.Entropy{})
	message := commerce.NewID(commerce.PrefixOutbox, commerce.Millis(before), commerce.Entropy{})
	holding := make([]string, len(commerce.HoldingKinds))
	for i, kind := range commerce.HoldingKinds {
		holding[i] = string(kind)
	}
	err = e.on(ctx, e.claims, func(conn *pgx.Conn) error {
		s := sweeping{ctx: ctx, conn: conn}
		for _, p := range partners {
			s.rows(sweepAttempts, p.ID, event)
			s.jobs("SELECT slot, id FROM jobs WHERE state = 'parked' AND owner = $1 AND run_at < $2 ORDER BY run_at, slot, id LIMIT $3", p.ID, before)
			s.rows(sweepEvents, p.ID, event)
		}
		s.jobs("SELECT slot, id FROM jobs WHERE state = 'dead' AND run_at < $1 AND kind <> ALL($2) ORDER BY run_at, slot, id LIMIT $3", before, holding)
		s.jobs("SELECT slot, id FROM jobs WHERE state = 'given_up' AND run_at < $1 ORDER BY run_at, slot, id LIMIT $2", before)
		s.rows(sweepCallbacks, commerce.NewID(commerce.PrefixStrayCallback, commerce.Millis(before), commerce.Entropy{}))
		s.rows("DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE id < $1 ORDER BY id LIMIT $2)", message)
		n += s.n
		return s.err
	})
	return n, err
}

const (
	sweepAttempts = `DELETE FROM webhook_attempts WHERE partner_id = $1 AND (event_id, id) IN (
		SELECT event_id, id FROM webhook_attempts WHERE partner_id = $1 AND event_id < $2 ORDER BY event_id, id LIMIT $3)`
	sweepCallbacks = `DELETE FROM courier_notices WHERE id IN (
		SELECT id FROM courier_notices WHERE id < $1 ORDER BY id LIMIT $2)`
	sweepEvents = `DELETE FROM webhook_events WHERE partner_id = $1 AND id IN (
		SELECT id FROM webhook_events WHERE partner_id = $1 AND id < $2 ORDER BY id LIMIT $3)`
)

// sweeping is a sweep under way. The last argument of each statement is how
// many rows are left to it; after the last, or an error, nothing happens.
type sweeping struct {
	ctx  context.Context
	conn *pgx.Conn
	n    int
	err  error
}

func (s *sweeping) over() bool { return s.err != nil || s.n >= sweepMost }

func (s *sweeping) rows(sql string, args ...any) {
	if s.over() {
		return
	}
	tag, err := exec(s.ctx, s.conn, sql, append(args, sweepMost-s.n)...)
	s.n, s.err = s.n+int(tag.RowsAffected()), err
}

// jobs deletes those whose keys a statement reads.
func (s *sweeping) jobs(sql string, args ...any) {
	if s.over() {
		return
	}
	keys, err := keysOf(s.ctx, s.conn, sql, append(args, sweepMost-s.n)...)
	if err != nil {
		s.err = err
		return
	}
	of, err := inSlots(s.ctx, s.conn, keys, "DELETE FROM jobs WHERE slot = $1 AND id = ANY($2) AND state IN ('parked', 'dead', 'given_up')")
	s.n, s.err = s.n+of, err
}
