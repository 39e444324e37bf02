package backoffice

import (
	"bytes"
	"net/url"
	"strconv"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// stockPage is the data of the page "stock".
type stockPage struct {
	storeFilter
	AtMost      int64
	Rows        []productRow
	More        string // the address of the next page; empty: there is none
	Examined    bool   // the page ends since it examined enough
	CheckURL    string
	CheckAllURL string // of the check that shows repaired breaks, too
}

// stock lists the products that are for sale and of which few are left.
func (v *visit) stock() error {
	stores, err := v.storeFilter()
	if err != nil {
		return err
	}
	q := v.URL.Query()
	page := stockPage{storeFilter: stores, AtMost: fewPieces, CheckURL: stockPath + "/check?store=" + url.QueryEscape(stores.Store)}
	page.CheckAllURL = page.CheckURL + "&all=yes"
	if most, err := strconv.ParseInt(q.Get("low"), 10, 64); err == nil && most >= 0 {
		page.AtMost = most
	}
	list, err := v.o.uses.ListProducts(v.Context(), service.ProductQuery{StoreIDs: page.ids, Active: new(true), AtMost: &page.AtMost, Limit: productsOnPage,
		After: commerce.ProductKey{StoreID: q.Get("after_store"), ProductID: q.Get("after")}})
	if err != nil {
		return err
	}
	categories, err := v.o.reads.Categories(v.Context(), storage.CategoryFilter{})
	if err != nil {
		return err
	}
	page.Rows, page.Examined = v.rowsOf(list.Products, page.Stores, categories), list.Examined
	if list.More {
		page.More = v.next(list.Next)
	}
	return v.page("stock", "Stock", page)
}

// streamed stands in a page where its streamed part comes.
const streamed = "[streamed]"

// shownBreak is one fault that a check found.
type shownBreak struct {
	service.StockFault
	URL    string
	Broken bool // the fault is not repaired yet
	N      int
}

const (
	breaksShown  = 200
	productsStep = 500 // products after which the check says how far it is
)

// checkStock proves that the moves of each product lead to its quantity. The page comes while
// the check runs: how far it is, and each fault with the form that repairs it.
func (v *visit) checkStock() error {
	stores, err := v.storeFilter()
	if err != nil {
		return err
	}
	page := v.made("stock_check", frame{Title: "Stock check", Content: stores, Said: v.said()})
	before, after, _ := bytes.Cut(page, []byte(streamed))
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("X-Accel-Buffering", "no") // proxies pass each part on
	if v.Method == "HEAD" || !v.send(before) {
		return nil
	}
	c := checking{visit: v}
	ids := stores.ids
	if ids == nil {
		ids = []string{""}
	}
	for _, store := range ids {
		sums, err := v.o.uses.CheckStock(v.Context(), service.CheckStock{StoreID: store, All: v.URL.Query().Get("all") == "yes", Fault: c.fault, Checked: c.checked})
		if err != nil {
			return cutOff(err, true)
		}
		c.sums.Products, c.sums.Moves, c.sums.Broken = c.sums.Products+sums.Products, c.sums.Moves+sums.Moves, c.sums.Broken+sums.Broken
	}
	c.part("outcome", &c)
	v.send(append(c.buffer.Bytes(), after...))
	return nil
}

// checking writes what a check finds.
type checking struct {
	*visit
	buffer bytes.Buffer
	faults int
	sums   service.StockSums // of the stores that are checked
}

// part adds a part of the page.
func (c *checking) part(name string, data any) {
	if err := pages.Page("stock_check").ExecuteTemplate(&c.buffer, name, data); err != nil {
		panic(err) // as render does
	}
}

func (c *checking) fault(f service.StockFault) {
	if c.faults++; c.faults <= breaksShown {
		c.part("break", shownBreak{f, productPath(f.Product.ProductID), !f.Repaired, c.faults})
	}
}

// checked sends what there is to tell after each step. It ends the check if the browser has gone.
func (c *checking) checked(sums service.StockSums, _ commerce.ProductKey, broken bool) error {
	if done := c.sums.Products + sums.Products; done%productsStep == 0 {
		c.part("progress", done)
	} else if !broken {
		return nil
	}
	part := bytes.Clone(c.buffer.Bytes())
	c.buffer.Reset()
	if !c.send(part) {
		return c.Context().Err()
	}
	return nil
}

// Sums and Left are for the template of the outcome.
func (c *checking) Sums() service.StockSums { return c.sums }

// Left is how many faults are not shown.
func (c *checking) Left() int { return max(0, c.faults-breaksShown) }

// repairStock begins the chain of a product's moves again, unless it is whole.
func (v *visit) repairStock() error {
	item, err := v.o.uses.FindProduct(v.Context(), v.caller(), v.PostFormValue("product"))
	if err == nil {
		err = v.mayIn(item.StoreID, "product")
	}
	var reason string
	if err == nil {
		reason, err = v.reason()
	}
	if err != nil {
		return err
	}
	back := stockPath + "/check?store=" + url.QueryEscape(item.StoreID)
	sums, err := v.o.uses.CheckStock(v.Context(), service.CheckStock{StoreID: item.StoreID, ProductID: item.ID})
	if err != nil {
		return err
	}
	if sums.Broken == 0 {
		return v.done(back, "The moves of "+item.Stock.Name+" lead to its quantity: nothing is to be repaired")
	}
	move, err := v.o.uses.RepairStock(v.Context(), v.caller().Actor, service.RepairStock{Product: item.Product.Key(), Reason: reason})
	if err != nil {
		return err
	}
	return v.done(back, item.Stock.Name+" is repaired at the quantity "+strconv.FormatInt(move.QuantityAfter, 10)+". If other pieces are on the shelf, count")
}
