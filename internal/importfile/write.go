package importfile

import (
	"bufio"
	"io"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"

	"github.com/go-json-experiment/json"
)

// Writer writes a file, element by element: all of one list, then all of the next. It keeps the
// first error for Close.
type Writer struct {
	out   *bufio.Writer
	begun []string // lists
	err   error
}

// NewWriter begins a file.
func NewWriter(out io.Writer) *Writer { return &Writer{out: bufio.NewWriterSize(out, 64<<10)} }

// Category writes a category.
func (w *Writer) Category(v commerce.Category) error {
	return w.add("categories", categoryFields{ID: v.ID, Name: v.Name, Active: &v.Active})
}

// Store writes a store.
func (w *Writer) Store(v commerce.Store) error {
	return w.add("stores", storeFields{
		ID: v.ID, Name: v.Name, Slug: &v.Slug, Address: &v.Address, City: &v.City, State: &v.State, ZipCode: &v.ZipCode,
		Email: &v.Email, Phone: &v.Phone, Active: &v.Active, Open: &v.Open, PickupEnabled: &v.PickupEnabled,
		DeliveryEnabled: &v.DeliveryEnabled, Lat: v.Lat, Lng: v.Lng, RadiusMiles: v.RadiusMiles, TaxRateBps: (*jsonin.Int)(&v.TaxRateBps),
		ChargesQuote: &v.ChargesQuote, TimeZone: &v.TimeZone, LateMinutes: (*jsonin.Int)(&v.LateMinutes), HoldMinutes: (*jsonin.Int)(&v.HoldMinutes),
	})
}

// Product writes a product.
func (w *Writer) Product(v commerce.Item) error {
	images := v.Images
	if images == nil {
		images = []string{}
	}
	return w.add("products", productFields{
		ID: v.ID, Name: v.Stock.Name, StoreID: v.StoreID, CategoryID: &v.Stock.CategoryID, Description: &v.Description, SKU: &v.SKU,
		FeaturedImage: &v.FeaturedImage, Images: &images, Price: (*cents)(&v.Stock.PriceCents), Active: &v.Stock.Active,
		Quantity: (*jsonin.Int)(&v.Stock.Quantity),
	})
}

// Close ends the file. It returns the first error of all.
func (w *Writer) Close() error {
	for _, list := range lists {
		if !slices.Contains(w.begun, list) {
			w.begin(list)
		}
	}
	w.text("\n]}\n")
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}

func (w *Writer) add(list string, v any) error {
	if n := len(w.begun); n == 0 || w.begun[n-1] != list {
		w.begin(list)
	} else {
		w.text(",\n")
	}
	element, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	w.text(string(element))
	return w.err
}

// begin ends the list before this one.
func (w *Writer) begin(list string) {
	between := "\n],\n"
	if len(w.begun) == 0 {
		between = "{"
	}
	w.text(between + `"` + list + "\": [\n")
	w.begun = append(w.begun, list)
}

func (w *Writer) text(s string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(s)
	}
}
