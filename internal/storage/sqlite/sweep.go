package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/go-json-experiment/json"
)

// sweepMost is how much is swept at a call, so that batches wait a few
// milliseconds at most.
const sweepMost = 1000

// Sweep implements storage.Engine.
func (e *Engine) Sweep(ctx context.Context, before commerce.Millis) (int, error) {
	_, err := e.writeOne(ctx, "DELETE FROM stored_replies WHERE hour <= ?", func(b schema.Binder) { b.Int(int64(before - schema.HourMs)) })
	if err != nil {
		return 0, err
	}
	return e.writeOne(ctx, `DELETE FROM replies WHERE rowid IN (SELECT rowid FROM replies WHERE created_on < ? ORDER BY created_on LIMIT ?)`,
		func(b schema.Binder) { b.Int(int64(before)).Int(sweepMost) })
}

// CountReplies implements storage.Engine.
func (e *Engine) CountReplies(ctx context.Context, now commerce.Millis) (schema.ReplyBytes, error) {
	if added := e.replies.Take(); len(added) > 0 {
		list, err := json.Marshal(added)
		if err == nil {
			_, err = e.writeOne(ctx, "INSERT INTO stored_replies (partner_id, hour, bytes) SELECT key, ?, value FROM json_each(?) WHERE true"+
				" ON CONFLICT (partner_id, hour) DO UPDATE SET bytes = bytes + excluded.bytes",
				func(b schema.Binder) { b.Int(schema.HourOf(now)).JSON(list) })
		}
		if err != nil {
			e.replies.Add(added)
			return nil, err
		}
	}
	stored := schema.ReplyBytes{}
	err := newReader(e).with(ctx, func(conn *connection) error {
		return query(conn, "SELECT partner_id, sum(bytes) FROM stored_replies GROUP BY partner_id", noArgs,
			func(s *scanner) { stored[s.Text()] = s.Int() })
	})
	return stored, err
}

// SweepEvents implements storage.Engine. Ids begin with their time.
func (e *Engine) SweepEvents(ctx context.Context, before commerce.Millis) (n int, err error) {
	sweep := func(sql string, bind func(schema.Binder)) {
		if err != nil || n >= sweepMost {
			return
		}
		var more int
		more, err = e.writeOne(ctx, sql, func(b schema.Binder) { bind(b); b.Int(int64(sweepMost - n)) })
		n += more
	}
	holding, err := json.Marshal(commerce.HoldingKinds)
	if err != nil {
		return 0, err
	}
	partners, err := newReader(e).Partners(ctx)
	if err != nil {
		return 0, err
	}
	event := commerce.NewID(commerce.PrefixEvent, commerce.Millis(before), commerce.Entropy{})
	for _, p := range partners {
		sweep(`DELETE FROM webhook_attempts WHERE (partner_id, event_id, id) IN (SELECT partner_id, event_id, id
			FROM webhook_attempts WHERE partner_id = ? AND event_id < ? ORDER BY event_id, id LIMIT ?)`,
			func(b schema.Binder) { b.Text(p.ID).Text(event) })
		sweep(`DELETE FROM jobs WHERE (slot, id) IN (SELECT slot, id FROM jobs
			WHERE state = 'parked' AND owner = ? AND run_at < ? ORDER BY run_at, slot, id LIMIT ?)`,
			func(b schema.Binder) { b.Text(p.ID).Int(int64(before)) })
		sweep(`DELETE FROM webhook_events WHERE rowid IN (SELECT rowid FROM webhook_events
			WHERE partner_id = ? AND id < ? ORDER BY id LIMIT ?)`,
			func(b schema.Binder) { b.Text(p.ID).Text(event) })
	}
	sweep(`DELETE FROM jobs WHERE (slot, id) IN (SELECT slot, id FROM jobs WHERE state = 'dead' AND run_at < ?
		AND kind NOT IN (SELECT value FROM json_each(?)) ORDER BY run_at, slot, id LIMIT ?)`,
		func(b schema.Binder) { b.Int(int64(before)).JSON(holding) })
	sweep(`DELETE FROM jobs WHERE (slot, id) IN (SELECT slot, id FROM jobs WHERE state = 'given_up' AND run_at < ? ORDER BY run_at, slot, id LIMIT ?)`,
		func(b schema.Binder) { b.Int(int64(before)) })
	sweep(`DELETE FROM courier_notices WHERE id IN (SELECT id FROM courier_notices WHERE id < ? ORDER BY id LIMIT ?)`,
		func(b schema.Binder) {
			b.Text(commerce.NewID(commerce.PrefixStrayCallback, commerce.Millis(before), commerce.Entropy{}))
		})
	sweep(`DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE id < ? ORDER BY id LIMIT ?)`,
		func(b schema.Binder) {
			b.Text(commerce.NewID(commerce.PrefixOutbox, commerce.Millis(before), commerce.Entropy{}))
		})
	return n, err
}
