package productcsv

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/nearest"
)

// MaxBytes is the length of the longest file that a browser may send.
const MaxBytes = 10 << 20

// maxProblems is how many problems of a file are listed.
const maxProblems = 1000

// Problem is one error of a file.
type Problem struct {
	Line   int
	Column string // empty: the line as a whole
	Reason string
}

func (p Problem) String() string {
	if p.Column == "" {
		return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
	}
	return fmt.Sprintf("line %d, %s: %s", p.Line, p.Column, p.Reason)
}

// Row is one product of a file. Fields of columns that are left out are nil, and so are the
// price, active and quantity of empty cells.
type Row struct {
	Line int
	command.ImportProduct
	named bool // the file has a name
}

// File is the content of a file. Rows with problems are left out.
type File struct {
	Rows     []Row
	Problems []Problem
	More     bool // the file has more problems than are listed
}

// Decode reads a file that a browser sent, and lists every problem that the file alone shows.
// Products are in the store storeID, unless their line has another store.
func Decode(data []byte, storeID string) File {
	if len(data) > MaxBytes {
		d := decoder{}
		d.problem(1, "", "the file is larger than %d MiB", MaxBytes>>20)
		return d.file
	}
	return Options{StoreID: storeID}.Decode(data)
}

// Options of a file of any length.
type Options struct {
	StoreID      string // of products whose line has no store
	NeedIDs      bool   // a product without an id is a problem, and no new product
	AllowUnknown bool   // ignore columns that are not known
}

// Decode reads a file. It lists every problem that the file alone shows.
func (o Options) Decode(data []byte) File {
	d := decoder{Options: o, lines: map[string]int{}}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if at := invalidUTF8(data); at >= 0 {
		d.problem(1+bytes.Count(data[:at], []byte{'\n'}), "", "the text is not UTF-8; save the file as \"CSV UTF-8\"")
		return d.file
	}
	d.decode(data)
	return d.file
}

// invalidUTF8 finds the first byte that is not UTF-8; -1: there is none.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

type decoder struct {
	Options
	file      File
	header    []string
	semicolon bool
	lines     map[string]int // of the ids so far
}

func (d *decoder) problem(line int, column, reason string, args ...any) {
	if len(d.file.Problems) == maxProblems {
		d.file.More = true
		return
	}
	d.file.Problems = append(d.file.Problems, Problem{line, column, fmt.Sprintf(reason, args...)})
}

func (d *decoder) decode(data []byte) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	first, _, _ := bytes.Cut(data, []byte{'\n'})
	if bytes.ContainsRune(first, ';') && !bytes.ContainsRune(first, ',') {
		r.Comma, d.semicolon = ';', true
	}
	for !d.file.More {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
			d.problem(syntax.Line, "", "the quotes of this line do not match")
			if d.header == nil {
				return
			}
			continue
		}
		at, _ := r.FieldPos(0)
		for len(cells) > max(1, len(d.header)) && strings.TrimSpace(cells[len(cells)-1]) == "" {
			cells = cells[:len(cells)-1] // spreadsheets end each line with the separators of the longest
		}
		switch {
		case d.header == nil:
			if !d.readHeader(at, cells) {
				return
			}
		case !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" }): // a blank line
		case len(cells) != len(d.header):
			d.problem(at, "", "the line has %d cells, and the first line names %d columns", len(cells), len(d.header))
		default:
			d.row(at, cells)
		}
	}
	if d.header == nil {
		d.problem(1, "", "the file is empty; its first line has to name the columns: %s", strings.Join(Columns, ", "))
	}
}

// readHeader reads the names of the columns. It returns false if the rows cannot be read.
func (d *decoder) readHeader(at int, cells []string) bool {
	d.header = make([]string, len(cells))
	for i, cell := range cells {
		name := strings.ToLower(strings.TrimSpace(cell))
		switch {
		case !slices.Contains(Columns, name) && d.AllowUnknown:
		case !slices.Contains(Columns, name) && nearest.Of(name, Columns) != "":
			d.problem(at, cell, "is not a column; did you mean %s?", nearest.Of(name, Columns))
		case !slices.Contains(Columns, name):
			d.problem(at, cell, "is not a column; the columns are %s", strings.Join(Columns, ", "))
		case slices.Contains(d.header[:i], name):
			d.problem(at, name, "is named twice")
		}
		d.header[i] = name
	}
	if !slices.Contains(d.header, "id") && !slices.Contains(d.header, "name") {
		d.problem(at, "", "neither id nor name is a column")
	}
	return len(d.file.Problems) == 0
}

// row reads the cells of one product.
func (d *decoder) row(at int, cells []string) {
	r := rowReader{decoder: d, row: Row{Line: at}}
	r.row.StoreID = d.StoreID
	for i, cell := range cells {
		if strings.ContainsRune(cell, 0) {
			r.fail(d.header[i], "holds a NUL character")
			continue
		}
		r.cell(d.header[i], unguard(cell))
	}
	if r.row.StoreID == "" {
		r.fail("store_id", "is missing")
	}
	if r.row.ID == "" && d.NeedIDs {
		r.fail("id", "is missing; give a new product an id of your own")
	}
	if id := r.row.ID; id != "" {
		if first, twice := d.lines[id]; twice {
			r.fail("id", "is the id of line %d, too", first)
		}
		d.lines[id] = at
	}
	if !r.bad {
		d.file.Rows = append(d.file.Rows, r.row)
	}
}

// rowReader reads one row.
type rowReader struct {
	*decoder
	row Row
	bad bool
}

func (r *rowReader) fail(column, reason string, args ...any) {
	r.bad = true
	r.problem(r.row.Line, column, reason, args...)
}

func (r *rowReader) cell(column, text string) {
	line := strings.TrimSpace(text)
	switch column {
	case "id":
		if r.row.ID = line; line != "" {
			r.one(column, line, jsonin.MaxID)
		}
	case "store_id":
		if line != "" {
			r.row.StoreID = r.one(column, line, jsonin.MaxID)
		}
	case "name":
		if r.row.Name, r.row.named = r.text(column, line, jsonin.MaxName), true; line == "" {
			r.fail(column, "is missing")
		}
	case "sku":
		r.row.SKU = new(r.text(column, line, jsonin.MaxID))
	case "description":
		r.row.Description = new(r.text(column, text, jsonin.MaxText))
	case "category_id":
		r.row.CategoryID = new(r.one(column, line, jsonin.MaxID))
	case "featured_image":
		r.row.FeaturedImage = new(r.text(column, line, jsonin.MaxURL))
	case "images":
		r.images(text)
	default:
		if line != "" {
			r.value(column, line)
		}
	}
}

// value reads a cell that is not empty, and no text.
func (r *rowReader) value(column, text string) {
	switch column {
	case "price":
		if r.semicolon && !strings.Contains(text, ".") {
			text = strings.Replace(text, ",", ".", 1) // where cells end by semicolons, numbers have commas
		}
		cents, err := commerce.ParseScaled(strings.TrimPrefix(text, "$"), 2)
		if err != nil || cents < 0 || commerce.Cents(cents) > commerce.MaxCents {
			r.fail(column, "must be an amount like 12.50, from 0 to %s", commerce.FormatMajor(commerce.MaxCents))
		}
		r.row.PriceCents = new(commerce.Cents(cents))
	case "quantity":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > commerce.MaxStock {
			r.fail(column, "must be a whole number from 0 to %d", commerce.MaxStock)
		}
		r.row.Quantity = &n
	case "active":
		active, known := switches[strings.ToLower(text)]
		if !known {
			r.fail(column, "must be yes or no")
		}
		r.row.Active = &active
	}
}

var switches = map[string]bool{"yes": true, "true": true, "1": true, "on": true, "no": false, "false": false, "0": false, "off": false}

// one checks a text of one line.
func (r *rowReader) one(column, text string, most int) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		r.fail(column, "holds control characters")
	}
	return r.text(column, text, most)
}

func (r *rowReader) text(column, text string, most int) string {
	if utf8.RuneCountInString(text) > most {
		r.fail(column, "is longer than %d characters", most)
	}
	return text
}

func (r *rowReader) images(text string) {
	images := []string{}
	for url := range strings.SplitSeq(text, "\n") {
		if url = strings.TrimSpace(url); url != "" {
			images = append(images, r.text("images", url, jsonin.MaxURL))
		}
	}
	if len(images) > jsonin.MaxImages {
		r.fail("images", "has more than %d pictures", jsonin.MaxImages)
	}
	r.row.Images = &images
}
