package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/storage"
	"purveyor/internal/web"

	"github.com/go-json-experiment/json"
)

// maxExamined bounds the rows that a page of orders is looked for in.
const maxExamined = 5000

// listOrders reads a page of the partner's orders. Answers are kept and used again until an
// order of the partner changes.
func (a *API) listOrders(r *request) (reply, error) {
	q := question{query: r.URL.RawQuery, stores: strings.Join(r.Partner.StoreIDs, "\x00"), orders: r.Partner.ID + "/" + string(r.Mode)}
	kept, holds, err := a.kept.get(r.Context(), q)
	if err != nil {
		return reply{}, err
	}
	if holds {
		return reply{status: http.StatusOK, body: kept.body, shared: true}, nil
	}
	filter, inEffect, err := orderFilter(r)
	if err != nil {
		return reply{}, err
	}
	if filter.StoreIDs, err = r.storesOf(inEffect["store_id"]); err != nil {
		return reply{}, err
	}
	filters, err := json.Marshal(inEffect, json.Deterministic(true))
	if err != nil {
		return reply{}, err
	}
	var have storage.OrderDocuments
	if kept != nil {
		have = parts(kept.body, kept.orders)
	}
	page, err := a.reader.PartnerOrders(r.Context(), filter, have)
	if err != nil {
		return reply{}, err
	}
	buffer := pages.Get().(*[]byte)
	orders, documents := a.appendOrders(*buffer, page.Orders, have, roomFor(filters))
	defer release(buffer, orders)
	count := len(documents)
	if count < len(page.Orders) {
		page.Next = page.Orders[count-1].At
	}
	cursor := ""
	if page.Next != (storage.PartnerOrderPosition{}) {
		cursor = encodeOrderCursor(page.Next, orderTag(r.Partner.ID, filter.Sequence, inEffect))
	}
	body := pageBody("orders", orders, count, cursor, filters)
	a.kept.put(q, page.Version, &keptAnswer{set: page.ReadSet, body: body, orders: documents})
	return reply{status: http.StatusOK, body: body}, nil
}

// appendOrders appends as many orders as there is room for, and at least one.
func (a *API) appendOrders(b []byte, orders []storage.PartnerOrder, have storage.OrderDocuments, room int) ([]byte, []document[storage.OrderVersion]) {
	documents := make([]document[storage.OrderVersion], 0, len(orders))
	for i, o := range orders {
		before := len(b)
		if i > 0 {
			b = append(b, ',')
		}
		if part, ok := have[o.Version]; ok {
			b = append(b, part...)
		} else {
			b = append(b, wire.Encode(a.encoder.Order(o.Order))...)
		}
		if len(b) > room && i > 0 {
			return b[:before], documents
		}
		documents = append(documents, document[storage.OrderVersion]{o.Version, len(b)})
	}
	return b, documents
}

// orderFilter reads the query. It also returns the effective filters as text.
func orderFilter(r *request) (storage.PartnerOrderFilter, map[string]string, error) {
	q := web.QueryOf(r.Request)
	f := storage.PartnerOrderFilter{PartnerID: r.Partner.ID, Fulfillment: commerce.Fulfillment(q.Text("fulfillment_type")), Since: q.Millis("created_since"),
		Until: q.Millis("created_before"), Prefix: q.Text("external_order_id_prefix"), Limit: q.Limit(100, 300), Examine: maxExamined}
	inEffect := map[string]string{}
	for _, name := range []string{"store_id", "status", "fulfillment_type", "created_since", "created_before", "updated_since", "external_order_id_prefix"} {
		if text := q.Text(name); text != "" {
			inEffect[name] = text
		}
	}
	if f.Fulfillment != "" && f.Fulfillment != commerce.ByDelivery && f.Fulfillment != commerce.ByPickup {
		q.Fail("invalid_query", "fulfillment_type", "must be delivery or pickup")
	}
	if utf8.RuneCountInString(f.Prefix) > jsonin.MaxID {
		q.Fail("invalid_query", "external_order_id_prefix", "must be 1 to 255 characters")
	}
	f.Statuses = statusesOf(q)
	f.Modes = modesOf(r, q, inEffect)
	if f.Until == 0 && inEffect["created_before"] != "" {
		f.Modes = nil // no order was made before 1970
	}
	since := q.Millis("updated_since")
	switch changes := inEffect["updated_since"] != ""; {
	case f.Prefix != "" && changes:
		q.Fail("invalid_query", "updated_since", "cannot be used together with external_order_id_prefix")
	case changes:
		f.Sequence = storage.InChangeOrder
	case f.Prefix != "":
		f.Sequence = storage.ByExternalID
	}
	f.After = readCursor(q, "is not a next_cursor of this list with these filters", orderTag(r.Partner.ID, f.Sequence, inEffect), decodeOrderCursor)
	if f.Sequence == storage.InChangeOrder && f.After.At < since {
		f.After = storage.PartnerOrderPosition{At: since} // has no id, so orders with this very stamp are included
	}
	return f, inEffect, q.Err()
}

// statusesOf reads the statuses that are asked for; nil: all.
func statusesOf(q *web.Query) (list []commerce.OrderStatus) {
	text := q.Text("status")
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		status := commerce.OrderStatus(name)
		if !slices.Contains(commerce.Statuses, status) {
			q.Fail("invalid_query", "status", "names a status that there is not")
		}
		list = append(list, status)
	}
	return list
}

// modesOf are the modes of the orders that are asked for and that the key may read.
func modesOf(r *request, q *web.Query, inEffect map[string]string) []commerce.Mode {
	readable := []commerce.Mode{commerce.Test}
	if r.Mode == commerce.Live {
		readable = []commerce.Mode{commerce.Live, commerce.Test}
	}
	if q.Text("dev") == "" {
		return readable
	}
	asked := commerce.Live
	if q.Bool("dev", false) {
		asked = commerce.Test
	}
	inEffect["dev"] = strconv.FormatBool(asked == commerce.Test)
	if !slices.Contains(readable, asked) {
		return nil
	}
	return []commerce.Mode{asked}
}

// The sequences of a list of orders have cursors of different forms.
var orderForms = map[storage.OrderSequence]string{storage.NewestFirst: "o1.", storage.InChangeOrder: "oc1.", storage.ByExternalID: "ox1."}

// orderTag is the form and tag of cursors of a list of orders that was read with these
// filters. Times are not part of it.
func orderTag(partnerID string, sequence storage.OrderSequence, inEffect map[string]string) string {
	return orderForms[sequence] + cursorTag(partnerID, inEffect["store_id"], inEffect["status"], inEffect["fulfillment_type"], inEffect["dev"],
		inEffect["external_order_id_prefix"])
}

// encodeOrderCursor makes a cursor of a position.
func encodeOrderCursor(p storage.PartnerOrderPosition, tag string) string {
	return sealCursor(tag, strconv.FormatInt(int64(p.At), 10)+"."+string(p.Mode)+"."+p.ID)
}

// decodeOrderCursor reads a cursor of encodeOrderCursor with the same tag.
func decodeOrderCursor(text, tag string) (p storage.PartnerOrderPosition, ok bool) {
	position, ok := openCursor(text, tag)
	parts := strings.SplitN(position, ".", 3)
	if !ok || len(parts) != 3 {
		return p, false
	}
	at, err := strconv.ParseUint(parts[0], 10, 63)
	p = storage.PartnerOrderPosition{At: commerce.Millis(at), Mode: commerce.Mode(parts[1]), ID: parts[2]}
	byName := strings.HasPrefix(tag, orderForms[storage.ByExternalID])
	known := p.Mode == commerce.Live || p.Mode == commerce.Test
	return p, err == nil && p.ID != "" && known == byName && (known || p.Mode == "") && encodeOrderCursor(p, tag) == text
}
