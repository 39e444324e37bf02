package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
	"purveyor/internal/wire"

	"github.com/go-json-experiment/json"
)

// listProducts reads a page of products, oldest change first.
func (a *API) listProducts(r *request) (reply, error) {
	q := questionOf(r)
	kept, holds, err := a.kept.get(r.Context(), q)
	if err != nil {
		return reply{}, err
	}
	if holds {
		return reply{status: http.StatusOK, body: kept.body, shared: true}, nil
	}
	filter, inEffect, err := productFilter(r)
	if err != nil {
		return reply{}, err
	}
	if storeID := inEffect["store_id"]; storeID != "" {
		if err := a.mayRead(r, storeID); err != nil {
			return reply{}, err
		}
		filter.StoreIDs = []string{storeID}
	} else if len(r.Partner.StoreIDs) > 0 {
		filter.StoreIDs = r.Partner.StoreIDs
	}
	filters, err := json.Marshal(inEffect, json.Deterministic(true))
	if err != nil {
		return reply{}, err
	}
	filter.Bytes = roomFor(filters)
	var have storage.Documents
	if kept != nil {
		have = kept.documents
	}
	page, err := a.reader.ProductPage(r.Context(), filter, have)
	if err != nil {
		return reply{}, err
	}
	buffer := pages.Get().(*[]byte)
	products, ends := appendProducts(*buffer, page.Items, have, filter.Bytes)
	defer release(buffer, products)
	cursor, count := "", len(ends)
	if page.More || count < len(page.Items) {
		cursor = encodeProductCursor(storage.PositionOf(page.Items[count-1].Version()), productTag(inEffect))
	}
	if kept != nil || a.kept.askedBefore(q) {
		body := appendPage(nil, products, count, cursor, filters)
		a.kept.put(q, page.Version, &keptAnswer{set: page.ReadSet, body: body, documents: documentsOf(body, page.Items, ends)})
		return reply{status: http.StatusOK, body: body}, nil
	}
	buffer = pages.Get().(*[]byte)
	return reply{status: http.StatusOK, body: appendPage(*buffer, products, count, cursor, filters), pooled: buffer}, nil
}

// questionOf is what a request asks of the list of products.
func questionOf(r *request) question {
	return question{query: r.URL.RawQuery, stores: strings.Join(r.Partner.StoreIDs, "\x00")}
}

// appendProducts appends as many products as have room, at least one, and tells
// where each ends.
func appendProducts(b []byte, items []commerce.Item, have storage.Documents, room int) (products []byte, ends []int) {
	ends = make([]int, 0, len(items))
	for _, p := range items {
		before := len(b)
		if before > 0 {
			b = append(b, ',')
		}
		if document, ok := have[p.Version()]; ok {
			b = append(b, document...)
		} else {
			b = wire.AppendProduct(b, p)
		}
		if len(b) > room && before > 0 {
			return b[:before], ends
		}
		ends = append(ends, len(b))
	}
	return b, ends
}

const endOfPage = "]}"

func appendPage(b, products []byte, count int, cursor string, filters []byte) []byte {
	b = slices.Grow(b, 512+len(filters)+len(cursor)+len(products))
	b = append(b, `{"ok":true,"count":`...)
	b = strconv.AppendInt(b, int64(count), 10)
	if cursor != "" {
		b = append(b, `,"next_cursor":`...)
		b = wire.AppendString(b, cursor)
	}
	b = append(b, `,"filters":`...)
	b = append(b, filters...)
	b = append(b, `,"products":[`...)
	b = append(b, products...)
	return append(b, endOfPage...)
}

// documentsOf are the parts of a page, whose products end there.
func documentsOf(body []byte, items []commerce.Item, ends []int) storage.Documents {
	documents := make(storage.Documents, len(ends))
	if len(ends) == 0 {
		return documents
	}
	products := body[len(body)-len(endOfPage)-ends[len(ends)-1]:]
	begin := 0
	for i, end := range ends {
		documents[items[i].Version()] = products[begin:end:end]
		begin = end + len(",")
	}
	return documents
}

// productFilter reads the query, and says in strings which filters are in
// effect.
func productFilter(r *request) (storage.ProductFilter, map[string]string, error) {
	q := web.QueryOf(r.Request)
	f := storage.ProductFilter{CategoryID: q.Text("category_id"), AvailableOnly: q.Bool("available_only", false), Limit: q.Limit(100, 300)}
	inEffect := map[string]string{"active": "true", "available_only": strconv.FormatBool(f.AvailableOnly)}
	if q.Text("active") == "all" {
		inEffect["active"] = "all"
	} else {
		active := q.Bool("active", true)
		f.Active = &active
		inEffect["active"] = strconv.FormatBool(active)
	}
	if id := q.Text("store_id"); id != "" {
		inEffect["store_id"] = id
	}
	if f.CategoryID != "" {
		inEffect["category_id"] = f.CategoryID
	}
	if since := q.Millis("updated_since"); q.Text("updated_since") != "" {
		f.After.UpdatedOn = since // with no id before it: the stamp itself is included
		inEffect["updated_since"] = strconv.FormatInt(since, 10)
	}
	if text := q.Text("cursor"); text != "" {
		after, ok := decodeProductCursor(text, productTag(inEffect))
		if !ok {
			q.Fail("invalid_cursor", "cursor", "is not a next_cursor of this list with these filters")
		}
		if after.UpdatedOn >= f.After.UpdatedOn {
			f.After = after
		}
	}
	return f, inEffect, q.Err()
}
