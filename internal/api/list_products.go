package api

import (
	"net/http"
	"slices"
	"strconv"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"
	"purveyor/internal/wire"

	"github.com/go-json-experiment/json"
)

// listProducts reads a page of products, oldest change first.
func (a *API) listProducts(r *request) (reply, error) {
	key := pageKey(r)
	if body, err := a.knownPage(r, key); body != nil || err != nil {
		return reply{status: http.StatusOK, body: body, shared: true}, err
	}
	filter, inEffect, err := productFilter(r)
	if err != nil {
		return reply{}, err
	}
	storeID := inEffect["store_id"]
	if storeID != "" {
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
	documents := make([][]byte, filter.Limit)
	page, err := a.reader.ProductPage(r.Context(), filter, storage.ProductSink{
		Cached: func(i int, v commerce.ProductVersion) (bytes int, known bool) {
			documents[i], known = a.products.get(v)
			return len(documents[i]) + len(","), known
		},
		Fresh: func(i int, p commerce.Item) int {
			documents[i] = a.products.put(p)
			return len(documents[i]) + len(",")
		}})
	if err != nil {
		return reply{}, err
	}
	cursor := ""
	if page.Next != nil {
		cursor = encodeProductCursor(*page.Next, productTag(inEffect))
	}
	if a.pages.wanted(key) {
		body := appendPage(nil, documents[:page.Count], cursor, filters)
		a.pages.put(key, encodedPage{filter, storeID, page.Mark, body})
		return reply{status: http.StatusOK, body: body}, nil
	}
	buffer := pages.Get().(*[]byte)
	body := appendPage(*buffer, documents[:page.Count], cursor, filters)
	return reply{status: http.StatusOK, body: body, pooled: buffer}, nil
}

// knownPage is the answer of an earlier request, if nothing on it has changed.
func (a *API) knownPage(r *request, key string) ([]byte, error) {
	page, known := a.pages.get(key)
	if !known {
		return nil, nil
	}
	if page.storeID != "" {
		if err := a.mayRead(r, page.storeID); err != nil {
			return nil, err
		}
	}
	mark, same, err := a.reader.StillThere(r.Context(), page.filter, page.mark)
	if err != nil || !same {
		return nil, err
	}
	if mark != page.mark {
		page.mark = mark
		a.pages.put(key, page)
	}
	return page.body, nil
}

func appendPage(b []byte, documents [][]byte, cursor string, filters []byte) []byte {
	size := 512 + len(filters) + len(cursor)
	for _, d := range documents {
		size += len(d) + 1
	}
	b = slices.Grow(b, size)
	b = append(b, `{"ok":true,"count":`...)
	b = strconv.AppendInt(b, int64(len(documents)), 10)
	if cursor != "" {
		b = append(b, `,"next_cursor":`...)
		b = wire.AppendString(b, cursor)
	}
	b = append(b, `,"filters":`...)
	b = append(b, filters...)
	b = append(b, `,"products":[`...)
	for i, d := range documents {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, d...)
	}
	return append(b, "]}"...)
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
