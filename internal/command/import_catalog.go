package command

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"purveyor/internal/commerce"
)

// ImportCatalog creates or updates categories, stores and products by their ids: all of
// them, or none. On update, nil fields keep their values, and a row that has all its values
// already is left as it is.
type ImportCatalog struct {
	Actor string // operator:LOGIN
	// Cells says that the texts of products come from a spreadsheet: a text keeps its value if
	// the two are SameCell.
	Cells      bool
	Categories []ImportCategory
	Stores     []ImportStore
	Products   []ImportProduct
}

// ImportCategory is one category of the file.
type ImportCategory struct {
	ID     string
	Name   string
	Active *bool // default true
}

// ImportStore is one store of the file.
type ImportStore struct {
	ID, Name                       string
	Slug, Address, City, State     *string
	ZipCode, Email, Phone          *string
	Active, Open                   *bool // default true
	PickupEnabled, DeliveryEnabled *bool // default true
	Lat, Lng, RadiusMiles          *float64
	TaxRateBps                     *int64
	ChargesQuote                   *bool   // default false
	TimeZone                       *string // an IANA name; default UTC
	LateMinutes                    *int64  // 1 to 240; default 15
	HoldMinutes                    *int64  // 5 to 60, or 0: checkouts hold nothing; default 0
}

// ImportProduct is one product of the file.
type ImportProduct struct {
	ID, Name, StoreID string  // an empty Name keeps the name; a new product needs one
	CategoryID        *string // empty: none
	Description, SKU  *string
	FeaturedImage     *string
	Images            *[]string
	PriceCents        *commerce.Cents // must be given for a new product
	Active            *bool           // default true
	Quantity          *int64
	// Facts is the digest of the product that the import was prepared from, of an empty
	// one if it was new; empty: it is not checked.
	Facts string
	// Was is the quantity that the import was prepared from; nil: it is not checked.
	Was *int64
}

// ImportProblem is one problem of the file, with its path there.
type ImportProblem struct{ Path, Reason string }

// ImportRefused lists the problems of a file. Nothing of it was applied.
type ImportRefused struct{ Problems []ImportProblem }

func (e *ImportRefused) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Path + ": " + p.Reason
	}
	return strings.Join(lines, "\n")
}

// ImportResult counts rows: created, updated, and left as they are.
type ImportResult struct {
	CategoriesMade, CategoriesUpdated, CategoriesSame int
	StoresMade, StoresUpdated, StoresSame             int
	ProductsMade, ProductsUpdated, ProductsSame       int
}

// Needs names every row of the file and all that they refer to.
func (c ImportCatalog) Needs() commerce.Needs {
	n := commerce.Needs{Lock: true, NextStoreNo: true}
	for _, v := range c.Categories {
		n.Categories = append(n.Categories, v.ID)
	}
	for _, v := range c.Stores {
		n.Stores = append(n.Stores, v.ID)
	}
	for _, v := range c.Products {
		key := commerce.ProductKey{StoreID: v.StoreID, ProductID: v.ID}
		n.Stores = append(n.Stores, v.StoreID)
		n.ProductStores = append(n.ProductStores, v.ID)
		n.Products = append(n.Products, key)
		n.Stock = append(n.Stock, key)
		if v.CategoryID != nil && *v.CategoryID != "" {
			n.Categories = append(n.Categories, *v.CategoryID)
		}
	}
	return n
}

// Decide checks every reference and collects all problems before it refuses.
func (c ImportCatalog) Decide(rows *commerce.Rows, now commerce.Millis) (ImportResult, commerce.Changes, error) {
	im := importing{rows: rows, now: now, actor: c.Actor, cells: c.Cells, storeNo: rows.NextStoreNo,
		categories: map[string]bool{}, stores: map[string]bool{}}
	for _, v := range c.Categories {
		im.category(v)
	}
	for _, v := range c.Stores {
		im.store(v)
	}
	for i, v := range c.Products {
		im.product(fmt.Sprintf("products[%d]", i), v)
	}
	if len(im.problems) > 0 {
		return ImportResult{}, commerce.Changes{}, &ImportRefused{im.problems}
	}
	return im.result, im.changes, nil
}

type importing struct {
	rows               *commerce.Rows
	now                commerce.Millis
	actor              string
	cells              bool
	storeNo            int64
	categories, stores map[string]bool // named by this file
	changes            commerce.Changes
	result             ImportResult
	problems           []ImportProblem
}

func (im *importing) category(v ImportCategory) {
	category, known := im.rows.Categories.Get(v.ID)
	if !known {
		category = commerce.Category{ID: v.ID, Active: true}
	}
	was := category
	category.Name = v.Name
	set(&category.Active, v.Active)
	im.categories[v.ID] = true
	r := &im.result
	if count(known, category == was, &r.CategoriesMade, &r.CategoriesUpdated, &r.CategoriesSame) {
		return
	}
	im.changes.Categories = append(im.changes.Categories, category)
}

func (im *importing) store(v ImportStore) {
	store, known := im.rows.Stores.Get(v.ID)
	if !known {
		store = commerce.Store{ID: v.ID, No: im.storeNo, Slug: v.ID, Active: true, Open: true, PickupEnabled: true, DeliveryEnabled: true,
			TimeZone: commerce.DefaultTimeZone, LateMinutes: commerce.DefaultLateMinutes}
		im.storeNo++
	}
	was := store
	store.Name = v.Name
	set(&store.Slug, v.Slug)
	set(&store.Address, v.Address)
	set(&store.City, v.City)
	set(&store.State, v.State)
	set(&store.ZipCode, v.ZipCode)
	set(&store.Email, v.Email)
	set(&store.Phone, v.Phone)
	set(&store.Active, v.Active)
	set(&store.Open, v.Open)
	set(&store.PickupEnabled, v.PickupEnabled)
	set(&store.DeliveryEnabled, v.DeliveryEnabled)
	set(&store.TaxRateBps, v.TaxRateBps)
	set(&store.ChargesQuote, v.ChargesQuote)
	set(&store.TimeZone, v.TimeZone)
	set(&store.LateMinutes, v.LateMinutes)
	set(&store.HoldMinutes, v.HoldMinutes)
	if v.Lat != nil && v.Lng != nil {
		setNumber(&store.Lat, v.Lat)
		setNumber(&store.Lng, v.Lng)
	}
	setNumber(&store.RadiusMiles, v.RadiusMiles)
	im.stores[v.ID] = true
	r := &im.result
	if count(known, store == was, &r.StoresMade, &r.StoresUpdated, &r.StoresSame) {
		return
	}
	store.UpdatedOn = im.now
	im.changes.Stores = append(im.changes.Stores, store)
}

func (im *importing) product(path string, v ImportProduct) {
	key := commerce.ProductKey{StoreID: v.StoreID, ProductID: v.ID}
	product, known := im.rows.Products.Get(key)
	stock, _ := im.rows.Stock.Get(key)
	if home, elsewhere := im.rows.ProductStores.Get(v.ID); elsewhere && home.StoreID != v.StoreID {
		im.problem(path+".store_id", "product %s belongs to store %s and cannot be moved", v.ID, home.StoreID)
		return
	}
	if _, ok := im.rows.Stores.Get(v.StoreID); !ok && !im.stores[v.StoreID] {
		im.problem(path+".store_id", "store %s is neither in the file nor in the database", v.StoreID)
	}
	if v.CategoryID != nil && *v.CategoryID != "" {
		if _, ok := im.rows.Categories.Get(*v.CategoryID); !ok && !im.categories[*v.CategoryID] {
			im.problem(path+".category_id", "category %s is neither in the file nor in the database", *v.CategoryID)
		}
	}
	if !known && v.PriceCents == nil {
		im.problem(path+".price", "is missing; a new product needs a price")
	}
	if !known && v.Name == "" {
		im.problem(path+".name", "is missing; a new product needs a name")
	}
	was := commerce.Item{Product: product, Stock: stock}
	if err := was.CheckFacts(v.Facts); err != nil || v.Was != nil && *v.Was != stock.Quantity {
		im.problem(path+".id", "product %s was changed since the preview", v.ID)
	}
	if im.cells {
		v.keepSame(was)
	}
	category := stock.CategoryID
	set(&category, v.CategoryID)
	v.Name = cmp.Or(v.Name, stock.Name)
	upsert := UpsertProduct{ID: v.ID, Create: !known, StoreID: v.StoreID, CategoryID: category, Name: v.Name, Description: v.Description,
		FeaturedImage: v.FeaturedImage, Images: v.Images, Active: v.Active, PriceCents: v.PriceCents, Quantity: v.Quantity, SKU: v.SKU}
	item, moves, err := upsert.merge(was, commerce.MoveImported, im.actor, im.now)
	if err != nil {
		im.problem(path+".images", "%v", err)
	}
	same := len(moves) == 0 && item.FactsOn == product.FactsOn // merge moves it with each change of a fact
	r := &im.result
	if count(known, same, &r.ProductsMade, &r.ProductsUpdated, &r.ProductsSame) {
		return
	}
	im.changes.Products = append(im.changes.Products, item.Product)
	im.changes.Stock = append(im.changes.Stock, item.Stock)
	im.changes.StockMoves = append(im.changes.StockMoves, moves...)
}

func (im *importing) problem(path, format string, args ...any) {
	im.problems = append(im.problems, ImportProblem{path, fmt.Sprintf(format, args...)})
}

// count counts a row, and reports whether it is left as it is.
func count(known, same bool, made, updated, left *int) bool {
	switch {
	case !known:
		*made++
	case same:
		*left++
	default:
		*updated++
	}
	return known && same
}

// setNumber sets a number that may be missing, unless it is the same.
func setNumber(to **float64, given *float64) {
	if given != nil && (*to == nil || **to != *given) {
		*to = given
	}
}

// keepSame forgets the texts that a spreadsheet would show as they are stored.
func (v *ImportProduct) keepSame(was commerce.Item) {
	if SameCell(v.Name, was.Stock.Name) {
		v.Name = was.Stock.Name
	}
	for text, stored := range map[**string]string{&v.Description: was.Description, &v.SKU: was.SKU, &v.FeaturedImage: was.FeaturedImage} {
		if *text != nil && SameCell(**text, stored) {
			*text = nil
		}
	}
	same := func(a, b string) bool { return SameCell(a, strings.ReplaceAll(b, "\n", "%0A")) } // a line of its own in the cell
	if v.Images != nil && slices.EqualFunc(*v.Images, was.Images, same) {
		v.Images = nil
	}
}

// SameCell compares texts as a spreadsheet can hold them: a line break is one character there,
// and space around a cell is lost.
func SameCell(a, b string) bool {
	clean := func(s string) string { return strings.TrimSpace(lineEnds.ReplaceAllString(s, "\n")) }
	return a == b || clean(a) == clean(b)
}

// lineEnds are the ends of lines of a text. A file of CSV keeps fewer returns than a text may have.
var lineEnds = regexp.MustCompile(`\r+\n`)
