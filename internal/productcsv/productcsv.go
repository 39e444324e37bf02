// Package productcsv reads and writes products as CSV, and says what a file would change.
//
// The first line names the columns, in any order. Cells are separated by commas or, as some
// spreadsheets write them, by semicolons. The text is UTF-8, with or without a byte order
// mark. A product that is known keeps the value of each column that is left out.
//
//	id              of the product; empty for a new product
//	store_id        of the store; may be left out where all products are of one store
//	name            required for a new product
//	sku, description, featured_image
//	category_id     of the category; empty: none
//	price           like 12.50; required for a new product; an empty cell keeps the price
//	active          yes or no; an empty cell keeps the value
//	quantity        pieces in stock; an empty cell keeps the quantity
//	images          addresses of pictures, each in a line of its own within the cell
//
// Spreadsheets run a cell that begins with =, +, -, @, a tab or a line break as a formula, so
// a ' is written before these, and taken off when the file is read.
package productcsv

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
)

// Columns are the names of the columns, in the order in which they are written.
var Columns = []string{"id", "store_id", "name", "sku", "description", "category_id", "price", "active", "quantity", "featured_image", "images"}

// byteOrderMark lets spreadsheets know that the text is UTF-8.
const byteOrderMark = "\ufeff"

// Header is the begin of a written file: the byte order mark and the line of names.
func Header() []byte { return line([]byte(byteOrderMark), Columns) }

// AppendProduct appends the line of a product.
func AppendProduct(b []byte, p commerce.Item) []byte {
	cells := []string{p.ID, p.StoreID, p.Stock.Name, p.SKU, p.Description, p.Stock.CategoryID, amount(p.Stock.PriceCents),
		yesNo(p.Stock.Active), pieces(p.Stock.Quantity), p.FeaturedImage, lines(p.Images)}
	for i, cell := range cells {
		cells[i] = guard(cell)
	}
	return line(b, cells)
}

func amount(c commerce.Cents) string { return fmt.Sprintf("%d.%02d", c/100, c%100) }

func pieces(n int64) string { return strconv.FormatInt(n, 10) }

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// lines writes each address in a line. An address cannot hold a line break.
func lines(urls []string) string {
	list := make([]string, len(urls))
	for i, url := range urls {
		list[i] = strings.ReplaceAll(url, "\n", "%0A")
	}
	return strings.Join(list, "\n")
}

func line(b []byte, cells []string) []byte {
	buffer := bytes.NewBuffer(b)
	w := csv.NewWriter(buffer)
	_ = w.Write(cells) // a buffer takes everything
	w.Flush()
	return buffer.Bytes()
}

// formulas are the characters by which a spreadsheet takes a cell for a formula.
const formulas = "=+-@\t\r\n"

// guarded reports whether a cell begins with the ' that guard writes.
func guarded(cell string) bool {
	return len(cell) > 1 && cell[0] == '\'' && strings.IndexByte(formulas+"'", cell[1]) >= 0
}

// guard keeps a spreadsheet from running a cell. A cell that looks guarded gets another ',
// so that unguard gives back each text.
func guard(cell string) string {
	if cell != "" && strings.IndexByte(formulas, cell[0]) >= 0 || guarded(cell) {
		return "'" + cell
	}
	return cell
}

// unguard takes off what guard has written.
func unguard(cell string) string {
	if guarded(cell) {
		return cell[1:]
	}
	return cell
}
