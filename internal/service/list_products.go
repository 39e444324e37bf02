package service

import (
	"context"
	"slices"
	"strings"

	"purveyor/internal/commerce"
)

// ProductQuery selects products for a list of the back office, in the order of their stores
// and ids.
type ProductQuery struct {
	StoreIDs   []string // in the order of ids; nil: all
	CategoryID string   // empty: all
	Active     *bool    // nil: both
	AtMost     *int64   // pieces in stock; nil: any number
	Text       string   // an id, or a part of the name or the SKU; empty: all
	After      commerce.ProductKey
	Limit      int
}

// ProductList is a page of a list.
type ProductList struct {
	Products []ListedProduct
	More     bool                // products may follow
	Next     commerce.ProductKey // After of the next page
	// Examined says that the page ends because the query examined as many products as one
	// page may, and not because the page is full.
	Examined bool
}

// ListedProduct is a product of a list.
type ListedProduct struct {
	commerce.Stock
	SKU string
}

const (
	listPage   = 500  // products that one read reads
	mostListed = 5000 // products that a page examines
)

// ListProducts reads a page of products. Products are found by their keys alone, so a page
// with filters examines a bounded number of them: each sale would write an index on
// quantities.
func (s *Service) ListProducts(ctx context.Context, q ProductQuery) (ProductList, error) {
	if found, err := s.productByID(ctx, q); err != nil || found != nil {
		return ProductList{Products: found}, err
	}
	l := lister{s: s, q: q, text: strings.ToLower(q.Text)}
	l.list.Next = q.After
	stores := q.StoreIDs
	if stores == nil {
		stores = []string{""}
	}
	for _, store := range stores {
		after := q.After
		switch {
		case store != "" && store < q.After.StoreID:
			continue
		case store != "" && store > q.After.StoreID:
			after = commerce.ProductKey{}
		}
		if full, err := l.store(ctx, store, after); err != nil || full {
			return l.list, err
		}
	}
	return l.list, nil
}

// productByID finds the product that the text names.
func (s *Service) productByID(ctx context.Context, q ProductQuery) ([]ListedProduct, error) {
	if q.Text == "" || q.After != (commerce.ProductKey{}) {
		return nil, nil
	}
	found, err := s.reader.Stock(ctx, []string{q.Text})
	if err != nil {
		return nil, err
	}
	stock, ok := found[q.Text]
	if !ok || q.StoreIDs != nil && !slices.Contains(q.StoreIDs, stock.StoreID) {
		return nil, nil
	}
	skus, err := s.reader.SKUs(ctx, stock.StoreID, []string{q.Text})
	return []ListedProduct{{stock, skus[q.Text]}}, err
}

// lister collects a page.
type lister struct {
	s        *Service
	q        ProductQuery
	text     string // of the query, in lower case
	list     ProductList
	examined int
}

// store adds the products of a store (empty: of all). It returns true if the page is full.
func (l *lister) store(ctx context.Context, storeID string, after commerce.ProductKey) (full bool, err error) {
	for {
		size := min(listPage, mostListed-l.examined)
		if size == 0 {
			l.list.More, l.list.Examined = true, true
			return true, nil
		}
		if l.plain() {
			size = min(size, l.q.Limit-len(l.list.Products)+1)
		}
		page, err := l.s.reader.StockPage(ctx, storeID, after, size)
		if err != nil {
			return false, err
		}
		if full, err := l.add(ctx, page); full || err != nil {
			return full, err
		}
		if len(page) < size {
			return false, nil
		}
		after = l.list.Next
	}
}

// plain reports whether each product matches.
func (l *lister) plain() bool {
	return l.q.CategoryID == "" && l.q.Active == nil && l.q.AtMost == nil && l.text == ""
}

// add adds the products of a read that match.
func (l *lister) add(ctx context.Context, page []commerce.Stock) (full bool, err error) {
	var fits []commerce.Stock
	for _, stock := range page {
		if l.fits(stock) {
			fits = append(fits, stock)
		}
	}
	skus, err := l.s.skusOf(ctx, fits)
	if err != nil {
		return false, err
	}
	for _, stock := range page {
		if len(l.list.Products) == l.q.Limit {
			l.list.More = true
			return true, nil
		}
		l.examined++
		l.list.Next = stock.Key()
		sku, ok := skus[stock.Key()]
		if ok && (strings.Contains(strings.ToLower(stock.Name), l.text) || strings.Contains(strings.ToLower(sku), l.text)) {
			l.list.Products = append(l.list.Products, ListedProduct{stock, sku})
		}
	}
	return false, nil
}

// fits reports whether a product matches all of the query but its text.
func (l *lister) fits(stock commerce.Stock) bool {
	q := l.q
	return (q.CategoryID == "" || q.CategoryID == stock.CategoryID) && (q.Active == nil || *q.Active == stock.Active) &&
		(q.AtMost == nil || stock.Quantity <= *q.AtMost)
}

// skusOf reads the SKUs of products.
func (s *Service) skusOf(ctx context.Context, list []commerce.Stock) (map[commerce.ProductKey]string, error) {
	ids := map[string][]string{}
	for _, stock := range list {
		ids[stock.StoreID] = append(ids[stock.StoreID], stock.ProductID)
	}
	skus := make(map[commerce.ProductKey]string, len(list))
	for store, ids := range ids {
		found, err := s.reader.SKUs(ctx, store, ids)
		if err != nil {
			return nil, err
		}
		for id, sku := range found {
			skus[commerce.ProductKey{StoreID: store, ProductID: id}] = sku
		}
	}
	return skus, nil
}
