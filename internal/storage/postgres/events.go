package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

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
