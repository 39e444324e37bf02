package backoffice

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

// productRoutes are the pages of products, their categories and their stock.
var productRoutes = []route{
	{method: get, path: productsPath, may: commerce.MayReadProducts, handle: (*visit).products, word: "Products", icon: "package"},
	{method: get, path: productsPath + "/new", may: commerce.MayWriteProducts, handle: (*visit).newProduct},
	{method: post, path: productsPath + "/new", may: commerce.MayWriteProducts, handle: (*visit).makeProduct},
	{method: get, path: productsPath + "/import", may: commerce.MayWriteProducts, handle: (*visit).importPage},
	{method: post, path: productsPath + "/import", may: commerce.MayWriteProducts, handle: (*visit).previewImport, room: uploadRoom},
	{method: post, path: productsPath + "/import/confirm", may: commerce.MayWriteProducts, handle: (*visit).confirmImport, room: confirmRoom},
	{method: get, path: productsPath + "/export", may: commerce.MayWriteProducts, handle: (*visit).exportProducts},
	{method: get, path: productsPath + "/{id}", may: commerce.MayReadProducts, handle: ofProduct((*visit).product)},
	{method: get, path: productsPath + "/{id}/edit", may: commerce.MayWriteProducts, handle: ofProduct((*visit).editProduct)},
	{method: post, path: productsPath + "/{id}/edit", may: commerce.MayWriteProducts, handle: ofProduct((*visit).saveProduct)},
	{method: post, path: productsPath + "/{id}/switch", may: commerce.MayWriteProducts, handle: ofProduct((*visit).switchProduct)},
	{method: post, path: productsPath + "/{id}/count", may: commerce.MayWriteInventory, handle: ofProduct((*visit).countStock)},
	{method: post, path: productsPath + "/{id}/adjust", may: commerce.MayWriteInventory, handle: ofProduct((*visit).adjustStock)},
	{method: get, path: categoriesPath, may: commerce.MayReadProducts, handle: (*visit).categories},
	{method: post, path: categoriesPath, may: commerce.MayWriteProducts, handle: (*visit).makeCategory},
	{method: post, path: categoriesPath + "/{id}", may: commerce.MayWriteProducts, handle: (*visit).saveCategory},
	{method: get, path: stockPath, may: commerce.MayWriteInventory, handle: (*visit).stock, word: "Stock", icon: "boxes"},
	{method: get, path: stockPath + "/check", may: commerce.MayWriteInventory, handle: (*visit).checkStock},
	{method: post, path: stockPath + "/repair", may: commerce.MayWriteInventory, handle: (*visit).repairStock},
}

const (
	productsPath   = Prefix + "/products"
	categoriesPath = Prefix + "/categories"
	stockPath      = Prefix + "/stock"
)

// productPath is the page of a product.
func productPath(id string) string { return productsPath + "/" + url.PathEscape(id) }

// ofProduct is the handler of a route about the product in the path.
func ofProduct(handle func(*visit, commerce.Item) error) func(*visit) error {
	return func(v *visit) error {
		item, err := v.o.uses.FindProduct(v.Context(), v.caller(), v.PathValue("id"))
		if err == nil {
			err = v.mayIn(item.StoreID, "product")
		}
		if err != nil {
			return err
		}
		return handle(v, item)
	}
}

const (
	productsOnPage = 50
	fewPieces      = 5 // so few or fewer pieces are a low stock
)

// storeFilter is the choice of a store in the filters of a list.
type storeFilter struct {
	Stores []commerce.Store // that the user may choose; with one alone there is no choice
	Store  string           // that is chosen; empty: all
	ids    []string         // to list; nil: every store
}

// storeFilter reads the store that the page is about from the query, or by the store switch. A
// store that the user may not see is refused.
func (v *visit) storeFilter() (f storeFilter, err error) {
	if f.Stores, err = v.storesOf(v.route.may); err != nil {
		return f, err
	}
	if f.Store = v.FormValue("store"); f.Store != "" {
		f.ids = []string{f.Store}
		return f, v.mayIn(f.Store, "store")
	}
	ids, all := v.storesWith(v.route.may)
	if v.Form.Has("store") { // all stores are chosen, whatever the switch says
		ids, all = v.user.StoresWith(v.route.may)
	}
	if all {
		return f, nil
	}
	if f.ids = append([]string{}, ids...); len(ids) == 1 {
		f.Store = ids[0]
	}
	return f, nil
}

// productsPage is the data of the page "products".
type productsPage struct {
	storeFilter
	Categories []commerce.Category
	Category   string
	Active     string // "yes", "no"; empty: both
	Low        string // pieces at most; empty: any number
	Text       string
	Rows       []productRow
	More       string // the address of the next page; empty: there is none
	Examined   bool   // the page ends since it examined enough
	Filtered   bool
	LowURL     string // the same list of products with few pieces alone
	MayWrite   bool
}

// productRow is a product of a list.
type productRow struct {
	service.ListedProduct
	URL      string
	Store    string
	Category string
	Few      bool
	MayCount bool
}

// products lists products of a store, or of all stores of the user.
func (v *visit) products() error {
	stores, err := v.storeFilter()
	if err != nil {
		return err
	}
	q := v.URL.Query()
	page := productsPage{storeFilter: stores, Category: q.Get("category"), Active: q.Get("active"), Low: q.Get("low"), Text: strings.TrimSpace(q.Get("text")),
		MayWrite: v.user.MaySomewhere(commerce.MayWriteProducts)}
	page.Filtered = page.Category+page.Active+page.Low+page.Text != ""
	if page.Categories, err = v.o.reads.Categories(v.Context(), storage.CategoryFilter{}); err != nil {
		return err
	}
	query := service.ProductQuery{StoreIDs: page.ids, CategoryID: page.Category, Text: page.Text, Limit: productsOnPage,
		After: commerce.ProductKey{StoreID: q.Get("after_store"), ProductID: q.Get("after")}}
	if page.Active != "" {
		query.Active = new(page.Active == "yes")
	}
	if most, err := strconv.ParseInt(page.Low, 10, 64); err == nil {
		query.AtMost = &most
	}
	list, err := v.o.uses.ListProducts(v.Context(), query)
	if err != nil {
		return err
	}
	page.Rows = v.rowsOf(list.Products, page.Stores, page.Categories)
	page.Examined = list.Examined
	if list.More {
		page.More = v.next(list.Next)
	}
	low := v.URL.Query()
	low.Set("low", strconv.Itoa(fewPieces))
	low.Del("after")
	low.Del("after_store")
	page.LowURL = "?" + low.Encode()
	return v.page("products", "Products", page)
}

// next is the address of the page of a list behind a product.
func (v *visit) next(after commerce.ProductKey) string {
	q := v.URL.Query()
	q.Set("after_store", after.StoreID)
	q.Set("after", after.ProductID)
	return "?" + q.Encode()
}

// rowsOf are the rows of a list of products.
func (v *visit) rowsOf(list []service.ListedProduct, stores []commerce.Store, categories []commerce.Category) []productRow {
	names := map[string]string{}
	for _, s := range stores {
		names[s.ID] = s.Name
	}
	for _, c := range categories {
		names[c.ID] = c.Name
	}
	rows := make([]productRow, len(list))
	for i, p := range list {
		rows[i] = productRow{ListedProduct: p, URL: productPath(p.ProductID), Store: cmp.Or(names[p.StoreID], p.StoreID), Few: p.Quantity <= fewPieces,
			MayCount: v.user.May(commerce.MayWriteInventory, p.StoreID)}
		if p.CategoryID != "" {
			rows[i].Category = cmp.Or(names[p.CategoryID], p.CategoryID)
		}
	}
	return rows
}

// chooseFirst is the store that a form begins with: the chosen one, or the first that sells.
func (f storeFilter) chooseFirst() string {
	if f.Store == "" && len(f.Stores) > 0 {
		return f.Stores[max(0, slices.IndexFunc(f.Stores, func(s commerce.Store) bool { return s.Active }))].ID
	}
	return f.Store
}
