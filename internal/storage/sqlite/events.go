package sqlite

import (
	"context"

	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// EventPage implements storage.Reader. SQLite has one writer: ids become
// visible in their order.
func (r reader) EventPage(ctx context.Context, f storage.EventFilter) (page storage.EventPage, err error) {
	sql, args := f.SQL("id, " + schema.WebhookEvents.Rest)
	newest, list := "", f.List()
	err = r.snapshot(ctx, func(conn *connection) error {
		err := query(conn, sql, bind(args...), func(s *scanner) {
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
