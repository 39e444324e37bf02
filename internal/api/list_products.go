package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/web"

	"github.com/go-json-experiment/json"
)

// listProducts reads a page of products, oldest change first.
func (a *API) listProducts(r *request) (reply, error) {
	q := question{query: r.URL.RawQuery, stores: strings.Join(r.Partner.StoreIDs, "\x00")}
	kept, holds, err := a.kept.get(r.Context(), q)
	if err != nil {
		return reply{}, err
	}
	if holds {
		return reply{status: http.StatusOK, body: kept.body, tag: kept.tag, shared: true}, nil
	}
	filter, inEffect, err := productFilter(r)
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
	filter.Bytes = roomFor(filters)
	var have storage.Documents
	if kept != nil {
		have = parts(kept.body, kept.documents)
	}
	page, err := a.reader.ProductPage(r.Context(), filter, have)
	if err != nil {
		return reply{}, err
	}
	buffer := pages.Get().(*[]byte)
	products, documents := appendProducts(*buffer, page.Items, have, filter.Bytes)
	defer release(buffer, products)
	cursor, count := "", len(documents)
	if page.More || count < len(page.Items) {
		cursor = encodeProductCursor(storage.PositionOf(documents[count-1].version), productTag(inEffect))
	}
	body := pageBody("products", products, count, cursor, filters)
	tag := etagOf(body)
	a.kept.put(q, page.Version, &keptAnswer{set: page.ReadSet, body: body, tag: tag, documents: documents})
	return reply{status: http.StatusOK, body: body, tag: tag}, nil
}

// appendProducts appends as many products as there is room for, and at least one.
func appendProducts(b []byte, items []commerce.Item, have storage.Documents, room int) ([]byte, []document[commerce.ProductVersion]) {
	documents := make([]document[commerce.ProductVersion], 0, len(items))
	for _, p := range items {
		before, version := len(b), p.Version()
		if before > 0 {
			b = append(b, ',')
		}
		if part, ok := have[version]; ok {
			b = append(b, part...)
		} else {
			b = wire.AppendProduct(b, p)
		}
		if len(b) > room && before > 0 {
			return b[:before], documents
		}
		documents = append(documents, document[commerce.ProductVersion]{version, len(b)})
	}
	return b, documents
}

const endOfPage = "]}"

// pageBody is the body of a page of a list, whose encoded elements have this name.
func pageBody(name string, elements []byte, count int, cursor string, filters []byte) []byte {
	b := make([]byte, 0, 128+len(filters)+len(cursor)+len(elements))
	b = fmt.Appendf(b, `{"ok":true,"count":%d`, count)
	if cursor != "" {
		b = wire.AppendString(append(b, `,"next_cursor":`...), cursor)
	}
	b = fmt.Appendf(b, `,"filters":%s,"%s":[`, filters, name)
	return append(append(b, elements...), endOfPage...)
}

// productFilter reads the query. It also returns the effective filters as text.
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
		f.After.UpdatedOn = since // the position has no id, so products with this very stamp are included
		inEffect["updated_since"] = strconv.FormatInt(int64(since), 10)
	}
	after := readCursor(q, "is not a next_cursor of this list with these filters", productTag(inEffect), decodeProductCursor)
	if after.UpdatedOn >= f.After.UpdatedOn {
		f.After = after
	}
	return f, inEffect, q.Err()
}
