package sqlite

import (
	"cmp"
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/go-json-experiment/json"
)

func (r reader) Endpoints(ctx context.Context, partnerIDs []string) (map[string]commerce.Endpoint, error) {
	found := make(map[string]commerce.Endpoint, len(partnerIDs))
	err := r.snapshot(ctx, func(conn *connection) error {
		for _, id := range partnerIDs {
			err := query(conn, endpoints.selectSQL, func(b schema.Binder) { b.Text(id) },
				func(s *scanner) { found[id] = endpoints.Scan(s, id) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

func (r reader) HeldEndpoints(ctx context.Context) (list []commerce.Endpoint, err error) {
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT "+endpoints.Columns()+
			" FROM endpoints INDEXED BY endpoints_held WHERE held_until <> 0 AND paused_on = 0 ORDER BY held_until",
			noArgs, func(s *scanner) { list = append(list, endpoints.Scan(s, s.Text())) })
	})
	return list, err
}

func (r reader) WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error) {
	found := make(map[commerce.EventKey]commerce.WebhookEvent, len(keys))
	err := r.snapshot(ctx, func(conn *connection) error {
		for _, k := range keys {
			err := query(conn, "SELECT id, "+schema.WebhookEvents.Rest+" FROM webhook_events WHERE partner_id = ? AND id = ?",
				func(b schema.Binder) { b.Text(k.PartnerID).Text(k.ID) },
				func(s *scanner) { found[k] = schema.ScanEvent(s, k.PartnerID) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// EventPage implements storage.Reader. SQLite has one writer: ids become
// visible in their order.
func (r reader) EventPage(ctx context.Context, f storage.EventFilter) (page storage.EventPage, err error) {
	sql, bind, err := eventsSQL(f)
	if err != nil {
		return page, err
	}
	newest, list := "", f.List()
	err = r.snapshot(ctx, func(conn *connection) error {
		err := query(conn, sql, bind, func(s *scanner) {
			if !list.Full() {
				list.Add(schema.ScanEvent(s, f.PartnerID))
			}
		})
		if err != nil {
			return err
		}
		return query(conn, "SELECT id FROM webhook_events WHERE partner_id = ? ORDER BY id DESC LIMIT 1",
			func(b schema.Binder) { b.Text(f.PartnerID) }, func(s *scanner) { newest = s.Text() })
	})
	return list.Page(newest), err
}

// eventsSQL asks for one event more than the page holds.
func eventsSQL(f storage.EventFilter) (string, func(schema.Binder), error) {
	sql := "SELECT id, " + schema.WebhookEvents.Rest + " FROM webhook_events WHERE partner_id = ?"
	kinds, err := json.Marshal(f.Kinds)
	if err != nil {
		return "", nil, err
	}
	order := " ORDER BY id"
	if f.Newest {
		sql, order = sql+" AND id < ?", order+" DESC"
		f.After = cmp.Or(f.After, afterAllIDs)
	} else {
		sql += " AND id > ?"
	}
	if f.Kinds != nil {
		sql += " AND kind IN (SELECT value FROM json_each(?))"
	}
	if f.Since != 0 {
		sql += " AND timestamp >= ?"
	}
	if f.Until != 0 {
		sql += " AND timestamp < ?"
	}
	return sql + order + " LIMIT ?", func(b schema.Binder) {
		b.Text(f.PartnerID).Text(f.After)
		if f.Kinds != nil {
			b.JSON(kinds)
		}
		if f.Since != 0 {
			b.Int(int64(f.Since))
		}
		if f.Until != 0 {
			b.Int(int64(f.Until))
		}
		b.Int(int64(f.Limit + 1))
	}, nil
}

func (r reader) Attempts(ctx context.Context, key commerce.EventKey) (list []commerce.WebhookAttempt, err error) {
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT id, "+schema.Attempts.Rest+" FROM webhook_attempts WHERE partner_id = ? AND event_id = ? ORDER BY id",
			func(b schema.Binder) { b.Text(key.PartnerID).Text(key.ID) },
			func(s *scanner) { list = append(list, schema.ScanAttempt(s, key)) })
	})
	return list, err
}

const afterAllIDs = "~"

func (r reader) Outbox(ctx context.Context, before string, limit int) (list []commerce.UnsentMessage, err error) {
	before = cmp.Or(before, afterAllIDs)
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT "+schema.Outbox.Columns()+" FROM outbox WHERE id < ? ORDER BY id DESC LIMIT ?",
			func(b schema.Binder) { b.Text(before).Int(int64(limit)) },
			func(s *scanner) { list = append(list, schema.ScanOutbox(s)) })
	})
	return list, err
}

func (r reader) OutboxMessage(ctx context.Context, id string) (m commerce.UnsentMessage, err error) {
	err = r.with(ctx, func(conn *connection) error {
		return query(conn, "SELECT "+schema.Outbox.Columns()+" FROM outbox WHERE id = ?",
			func(b schema.Binder) { b.Text(id) }, func(s *scanner) { m = schema.ScanOutbox(s) })
	})
	if err == nil && m.ID == "" {
		err = storage.ErrNotFound
	}
	return m, err
}
