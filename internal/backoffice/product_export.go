package backoffice

import (
	"context"
	"net/http"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/productcsv"
)

const (
	exportPage = 200              // products that one read reads
	pageTime   = 30 * time.Second // in which a browser takes one part of an answer
)

// exportProducts writes the products of a store, or of all stores of the user, as CSV: page
// by page, so that no read stays open while the browser takes them.
func (v *visit) exportProducts() error {
	stores, err := v.storeFilter()
	if err != nil {
		return err
	}
	ids := stores.ids
	if ids == nil {
		ids = []string{""}
	}
	part, begun := productcsv.Header(), false
	for _, store := range ids {
		var after commerce.ProductKey
		for more := true; more; {
			var items []commerce.Item
			if items, after, more, err = v.productsBehind(v.Context(), store, after); err != nil {
				return cutOff(err, begun)
			}
			for _, item := range items {
				part = productcsv.AppendProduct(part, item)
			}
			if !begun {
				v.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
				v.w.Header().Set("Content-Disposition", `attachment; filename="products.csv"`)
			}
			if !v.send(part) {
				return nil // the browser has gone
			}
			part, begun = part[:0], true
		}
	}
	return nil
}

// productsBehind reads a page of products of a store (empty: of all) in the order of their keys.
func (v *visit) productsBehind(ctx context.Context, store string, after commerce.ProductKey) (items []commerce.Item, last commerce.ProductKey, more bool, err error) {
	page, err := v.o.reads.StockPage(ctx, store, after, exportPage)
	if err != nil {
		return nil, after, false, err
	}
	byStore := map[string][]string{}
	for _, stock := range page {
		byStore[stock.StoreID] = append(byStore[stock.StoreID], stock.ProductID)
	}
	found := map[string]commerce.Item{}
	for store, ids := range byStore {
		of, err := v.o.reads.Items(ctx, store, ids)
		if err != nil {
			return nil, after, false, err
		}
		for id, item := range of {
			found[id] = item
		}
	}
	for _, stock := range page {
		after = stock.Key()
		items = append(items, found[stock.ProductID])
	}
	return items, after, len(page) == exportPage, nil
}

// send sends a part of an answer. It returns false if the browser has gone.
func (v *visit) send(part []byte) bool {
	c := http.NewResponseController(v.w)
	_ = c.SetWriteDeadline(v.o.env.Now().Add(pageTime)) // where it is not possible, the usual one holds
	if _, err := v.w.Write(part); err != nil {
		return false
	}
	return c.Flush() == nil
}

// cutOff ends an answer that failed. Once it has begun the connection breaks, so that no
// browser takes what it got for the whole.
func cutOff(err error, begun bool) error {
	if begun {
		panic(http.ErrAbortHandler)
	}
	return err
}
