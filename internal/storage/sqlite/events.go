package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"
)

var endpointSQL = schema.Endpoints.Shape().ByKeySQL()

func (r reader) Endpoints(ctx context.Context, partnerIDs []string) (map[string]commerce.Endpoint, error) {
	found := make(map[string]commerce.Endpoint, len(partnerIDs))
	err := queryEach(ctx, r, partnerIDs, endpointSQL, schema.Endpoints.BindKey,
		func(s *scanner, id string) { found[id] = schema.Endpoints.Scan(s, id) })
	return found, err
}

func (r reader) WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error) {
	found := make(map[commerce.EventKey]commerce.WebhookEvent, len(keys))
	err := queryEach(ctx, r, keys, "SELECT id, "+schema.WebhookEvents.Rest+" FROM webhook_events WHERE partner_id = ? AND id = ?",
		func(b schema.Binder, k commerce.EventKey) { b.Text(k.PartnerID).Text(k.ID) },
		func(s *scanner, k commerce.EventKey) { found[k] = schema.ScanEvent(s, k.PartnerID) })
	return found, err
}

// EventPage implements storage.Reader. SQLite has one writer: ids become
// visible in their order.
func (r reader) EventPage(ctx context.Context, f storage.EventFilter) (page storage.EventPage, err error) {
	sql, args := f.SQL("id, " + schema.WebhookEvents.Rest)
	newest, list := "", f.List()
	err = r.snapshot(ctx, func(conn *connection) error {
		err := query(conn, sql, reads.Bind(args...), func(s *scanner) {
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
