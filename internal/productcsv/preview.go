package productcsv

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
)

// Current is what is stored of the things that a file names.
type Current struct {
	Products   map[string]commerce.Item // by id
	Stores     map[string]bool          // the stores whose products the user may change
	Categories map[string]commerce.Category
}

// WithIDs gives ids to the new products of a file. The same file gets the same ids for the
// same time and key, so that an import that is sent twice makes each product once.
func (f File) WithIDs(at commerce.Millis, key string) File {
	f.Rows = slices.Clone(f.Rows)
	for i, row := range f.Rows {
		if row.ID == "" {
			sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(key), uint64(row.Line)))
			f.Rows[i].ID = commerce.NewID(commerce.PrefixProduct, at, commerce.Entropy(sum[:len(commerce.Entropy{})]))
		}
	}
	return f
}

// Catalog is the import of all rows, which keeps what the file has no cells for.
func (f File) Catalog() command.ImportCatalog {
	c := command.ImportCatalog{Cells: true}
	for _, row := range f.Rows {
		c.Products = append(c.Products, row.ImportProduct)
	}
	return c
}

// Preview is what a file would change.
type Preview struct {
	Changes   []Change
	New       int // of Changes
	Unchanged int
	Problems  []Problem
	More      bool // there are more problems than are listed
	// Mark is a digest of the changes with the values that they replace. It differs if a
	// value was changed meanwhile.
	Mark string
}

// Change is a product that the file would make or change.
type Change struct {
	Row    Row // with its id, its name, and only what differs
	New    bool
	Fields []Field
}

// Field is a value that the file would set.
type Field struct{ Column, Before, After string }

// Changed counts the changes of known products.
func (p Preview) Changed() int { return len(p.Changes) - p.New }

// Catalog is the import of all changes.
func (p Preview) Catalog() command.ImportCatalog {
	var c command.ImportCatalog
	for _, change := range p.Changes {
		c.Products = append(c.Products, change.Row.ImportProduct)
	}
	return c
}

// Compare tells what a file, whose rows all have ids, would change of the current rows. The
// quantities of known products are set only if quantities is true; new ones get theirs.
func Compare(f File, current Current, quantities bool) Preview {
	c := comparer{decoder: decoder{file: File{Problems: f.Problems, More: f.More}}, current: current, quantities: quantities}
	hash := sha256.New()
	for _, row := range f.Rows {
		change, ok := c.row(row)
		switch {
		case !ok:
			continue
		case !change.New && len(change.Fields) == 0:
			c.preview.Unchanged++
			continue
		case change.New:
			c.preview.New++
		}
		_, _ = fmt.Fprintf(hash, "%q %q %t %q\n", change.Row.ID, change.Row.StoreID, change.New, change.Fields)
		c.preview.Changes = append(c.preview.Changes, change)
	}
	c.preview.Problems, c.preview.More = c.file.Problems, c.file.More
	c.preview.Mark = hex.EncodeToString(hash.Sum(nil)[:16])
	return c.preview
}

type comparer struct {
	decoder    // collects the problems
	current    Current
	quantities bool
	preview    Preview
}

// row compares one product. It returns false after a problem.
func (c *comparer) row(row Row) (Change, bool) {
	r := rowReader{decoder: &c.decoder, row: row}
	was, known := c.current.Products[row.ID]
	switch {
	case known && was.StoreID != row.StoreID && c.current.Stores[was.StoreID]:
		r.fail("store_id", "the product belongs to store %s and cannot be moved", was.StoreID)
	case known && was.StoreID != row.StoreID:
		r.fail("id", "is taken")
	case !c.current.Stores[row.StoreID]:
		r.fail("store_id", "%s is not a store whose products you may change", row.StoreID)
	}
	if id := row.CategoryID; id != nil && *id != "" {
		if _, ok := c.current.Categories[*id]; !ok {
			r.fail("category_id", "there is no category %s", *id)
		}
	}
	if !known && !row.named {
		r.fail("name", "is missing: the product is new")
	}
	if !known && row.PriceCents == nil {
		r.fail("price", "is missing: the product is new")
	}
	if row.Images != nil && was.CheckImages(*row.Images) != nil {
		r.fail("images", "the addresses are longer than %d bytes together", commerce.MaxImages)
	}
	if r.bad {
		return Change{}, false
	}
	return difference(row, was, known, c.quantities), true
}

// difference keeps of a row what differs from the stored product.
func difference(row Row, was commerce.Item, known, quantities bool) Change {
	change := Change{New: !known}
	if !row.named {
		row.Name = was.Stock.Name
	}
	if known && !quantities {
		row.Quantity = nil
	}
	old := func(value string) string { // a new product has no values
		if known {
			return value
		}
		return ""
	}
	if before := old(was.Stock.Name); !command.SameCell(before, row.Name) {
		change.Fields = append(change.Fields, Field{"name", before, row.Name})
	}
	plain := func(s string) string { return s }
	keepChanged(&change, "sku", old(was.SKU), &row.SKU, plain)
	keepChanged(&change, "description", old(was.Description), &row.Description, plain)
	keepChanged(&change, "category_id", old(was.Stock.CategoryID), &row.CategoryID, plain)
	keepChanged(&change, "price", old(amount(was.Stock.PriceCents)), &row.PriceCents, amount)
	keepChanged(&change, "active", old(yesNo(was.Stock.Active)), &row.Active, yesNo)
	keepChanged(&change, "quantity", old(pieces(was.Stock.Quantity)), &row.Quantity, pieces)
	keepChanged(&change, "featured_image", old(was.FeaturedImage), &row.FeaturedImage, plain)
	keepChanged(&change, "images", old(lines(was.Images)), &row.Images, lines)
	row.Facts = was.Facts() // of a new product: that there is none
	if known && row.Quantity != nil {
		row.Was = new(was.Stock.Quantity)
	}
	change.Row = row
	return change
}

// keepChanged adds a field that differs, and forgets one that does not.
func keepChanged[T any](c *Change, column, before string, after **T, format func(T) string) {
	if *after == nil {
		return
	}
	if next := format(**after); !command.SameCell(before, next) {
		c.Fields = append(c.Fields, Field{column, before, next})
		return
	}
	*after = nil
}
