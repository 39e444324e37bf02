// Package schema says, once for all engines, how rows are kept: the columns of
// each table, and how a row is bound to them and read back. What differs
// between engines (types, indexes) stands in their migrations, and what
// statements they make of it in the engines.
package schema

import (
	"errors"
	"fmt"
	"strings"
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
	// Fail says that a value was not what it should be; the first one counts.
	Fail(error)
}

// ErrUnreadable is the error of a row that holds what this program cannot read.
var ErrUnreadable = errors.New("a stored row cannot be read")

func unreadable(s Scanner, what string, err error) {
	s.Fail(fmt.Errorf("%w: its %s: %w", ErrUnreadable, what, err))
}

// Table describes how the rows of one kind are kept: the columns of the key,
// those that never change, and those that do (names separated by a comma and a
// space); and how each part is bound and read, in that order.
type Table[K comparable, V any] struct {
	Name                string
	Key, Fixed, Mutable string
	KeyOf               func(*V) K
	BindKey             func(Binder, K)
	BindFixed           func(Binder, *V)
	BindMutable         func(Binder, *V)
	Scan                func(Scanner, K) V // reads fixed, then mutable

	// Often is those of Mutable that most changes are confined to, as Confined
	// tells: then only they are written, and indexes of the others are not touched.
	Often     string
	BindOften func(Binder, *V)
	Confined  func(v, was *V) bool
}

// Written are the columns that a change writes, and what binds them.
func (t *Table[K, V]) Written(often bool) (columns string, bind func(Binder, *V)) {
	if often {
		return t.Often, t.BindOften
	}
	return t.Mutable, t.BindMutable
}

// IsOften tells whether a change is confined to the columns of Often.
func (t *Table[K, V]) IsOften(v, was *V) bool { return t.Confined != nil && t.Confined(v, was) }

// Bind binds a whole row: key, fixed, mutable.
func (t *Table[K, V]) Bind(b Binder, v *V) {
	t.BindKey(b, t.KeyOf(v))
	t.BindFixed(b, v)
	t.BindMutable(b, v)
}

// Columns are all of the table, in the order of Bind.
func (t *Table[K, V]) Columns() string { return Join(t.Key, t.Fixed, t.Mutable) }

// Values are all but the key's, in the order of Scan.
func (t *Table[K, V]) Values() string { return Join(t.Fixed, t.Mutable) }

// Log describes rows that are only ever appended. ID is the columns of the
// key, which stand first.
type Log[V any] struct {
	Name, ID, Rest string
	Bind           func(Binder, *V)
}

// Columns are all of the log, in the order of Bind.
func (l *Log[V]) Columns() string { return Join(l.ID, l.Rest) }

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

// Split is the names of a list of columns.
func Split(columns string) []string {
	if columns == "" {
		return nil
	}
	return strings.Split(columns, ", ")
}

// Qualified puts the table's name before each column.
func Qualified(table, columns string) string {
	return table + "." + strings.ReplaceAll(columns, ", ", ", "+table+".")
}

func none[V any](Binder, *V) {}
