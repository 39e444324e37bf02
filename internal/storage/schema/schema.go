// Package schema describes the tables once for all engines: the columns of each table, how
// a row is bound to them, and how it is read back. The types of columns and the indexes
// differ between engines and stand in their migrations. The engines make the statements.
package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
)

// Binder takes the values of columns one after another.
type Binder interface {
	Text(string) Binder
	Int(int64) Binder
	Bool(bool) Binder
	Blob([]byte) Binder
	// JSON takes the text of a JSON value; nil is NULL.
	JSON([]byte) Binder
	// Float is NULL for nil.
	Float(*float64) Binder
}

// Scanner gives the values of columns one after another.
type Scanner interface {
	Text() string
	Int() int64
	Bool() bool
	Blob() []byte
	JSON() []byte // nil for NULL
	Float() *float64
	// Fail reports a value that cannot be read. The first error counts.
	Fail(error)
}

// ErrUnreadable is the error of a row with a value that this program cannot read.
var ErrUnreadable = errors.New("a stored row cannot be read")

func unreadable(s Scanner, what string, err error) {
	s.Fail(fmt.Errorf("%w: its %s: %w", ErrUnreadable, what, err))
}

// Join joins lists of columns; empty ones are left out.
func Join(lists ...string) string {
	var kept []string
	for _, l := range lists {
		if l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, ", ")
}

// Split returns the names in a list of columns.
func Split(columns string) []string {
	if columns == "" {
		return nil
	}
	return strings.Split(columns, ", ")
}

// Qualified puts the table's name before each column.
func Qualified(table, columns string) string { return Each(columns, table+".{c}", ", ") }

// Each fills in form for each column of a list ({c} is its name, {n} its number from 1 on)
// and joins the results.
func Each(columns, form, separator string) string { return EachFrom(1, columns, form, separator) }

// EachFrom is Each with another first number.
func EachFrom(first int, columns, form, separator string) string {
	list := Split(columns)
	for i, c := range list {
		list[i] = strings.NewReplacer("{c}", c, "{n}", strconv.Itoa(first+i)).Replace(form)
	}
	return strings.Join(list, separator)
}

// millis reads a point in time.
func millis(s Scanner) commerce.Millis { return commerce.Millis(s.Int()) }

func bindText(b Binder, id string) { b.Text(id) }

func bindProductKey(b Binder, k commerce.ProductKey) { b.Text(k.StoreID).Text(k.ProductID) }
