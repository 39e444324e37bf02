package api

import (
	"slices"
	"strings"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
)

// maxEventReads bounds how many times a request reads on when its key may not see the
// events of a page. The cursor lets the next request go on from there.
const maxEventReads = 10

// listEvents reads the partner's events, oldest first, with the very bytes that were
// pushed or would have been pushed.
func (a *API) listEvents(r *request) (reply, error) {
	f, err := eventFilter(r)
	if err != nil {
		return reply{}, err
	}
	events := []wire.Webhook{}
	limit, room, more := f.Limit, f.Room(), true
	for reads := 0; more && len(events) < limit && reads < maxEventReads; reads++ {
		f.Limit = limit - len(events)
		page, err := a.reader.EventPage(r.Context(), f)
		if err != nil {
			return reply{}, err
		}
		for _, e := range page.Events {
			if more = !r.mayHear(e) || room.Add(len(e.Data)+storage.EventRoom); !more {
				break
			}
			if f.After = e.ID; r.mayHear(e) {
				events = append(events, wire.WebhookOf(e))
			}
		}
		if more {
			f.After, more = page.Through, page.More
		}
	}
	return ok(struct {
		OK         bool           `json:"ok"`
		Count      int            `json:"count"`
		NextCursor *string        `json:"next_cursor"`
		Events     []wire.Webhook `json:"events"`
	}{true, len(events), wire.OrNull(encodeEventCursor(r.Partner.ID, f.After)), events})
}

// mayHear reports whether the key may read the event. Lists leave other events out.
func (r *request) mayHear(e commerce.WebhookEvent) bool {
	return (r.Mode == commerce.Live || e.Mode == commerce.Test) && (!e.Kind.OfProduct() || r.Partner.Has(commerce.ReadProducts)) && (e.StoreID == "" || r.Partner.MayUse(e.StoreID) == nil)
}

func eventFilter(r *request) (storage.EventFilter, error) {
	q := web.QueryOf(r.Request)
	f := storage.EventFilter{PartnerID: r.Partner.ID, Since: q.Millis("since"), Limit: q.Limit(100, 300), Bytes: roomFor(nil)}
	if text := q.Text("types"); text != "" {
		for name := range strings.SplitSeq(text, ",") {
			kind := commerce.WebhookKind(name)
			if !slices.Contains(commerce.WebhookKinds, kind) {
				q.Fail("invalid_query", "types", "names an event that there is not")
			}
			f.Kinds = append(f.Kinds, kind)
		}
	}
	f.After = readCursor(q, "is not a next_cursor of this list", r.Partner.ID, decodeEventCursor)
	return f, q.Err()
}
