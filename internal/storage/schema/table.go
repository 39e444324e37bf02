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

// Table is the descriptor of a table with a key. Its columns have three parts: the key, the
// fixed columns, and the mutable ones (names separated by a comma and a space). Rows are
// bound and read in this order.
type Table[K comparable, V any] struct {
	Name                string
	Key, Fixed, Mutable string
	KeyOf               func(*V) K
	BindKey             func(Binder, K)
	BindFixed           func(Binder, *V)   // nil: no column is fixed
	BindMutable         func(Binder, *V)   // nil: no column changes
	Scan                func(Scanner, K) V // reads fixed, then mutable

	// HotColumns are the columns of Mutable that most changes are confined to. If
	// OnlyHotChanged reports such a change, only these columns are written, and the
	// indexes of the others stay untouched.
	HotColumns     string
	BindHot        func(Binder, *V)
	OnlyHotChanged func(v, was *V) bool

	// Rows, Needs and Changes are the table's fields.
	Rows    func(*commerce.Rows) *commerce.Table[K, V]
	Needs   func(*commerce.Needs) *[]K
	Changes func(*commerce.Changes) *[]V // nil: Rows.Prepare adds the rows
	// Created, Locked and Ended are further needs (nil: there are none). Created rows
	// have new ids, so they are not looked up. Locked rows may be changed even if the
	// rows of Needs are only read. Ended rows are deleted without being read.
	Created, Locked, Ended func(*commerce.Needs) *[]K
	Deleted                func(*commerce.Changes) *[]K // nil: no row is deleted

	Lock Lock
	Traits
}

// Lock names the rows of a table that a batch locks, because its commands may change
// them.
type Lock int

// The locks of tables.
const (
	LockNone      Lock = iota // only the rows of Table.Locked; other rows are only added
	LockAll                   // all rows of Table.Needs
	LockOnRequest             // the rows of Table.Needs if the command sets commerce.Needs.Lock
)

// Traits are properties of a table beside its columns.
type Traits struct {
	// Shard is the column by which a distributed engine spreads the rows, or
	// Everywhere. Rows that are needed together share the column.
	Shard string
	// Collides: two processes may insert one key.
	Collides bool
	// AddedByName: rows are found by a name that a caller chose (an idempotency key,
	// an external id, a contact), and one partner can have very many of them. They are
	// read after all locks, so that a batch that waited for a lock sees the rows of the
	// other batch. Each row is looked up by itself.
	AddedByName bool
	// Single: there can be very many rows of one store or owner, so PostgreSQL gets
	// a statement for each row that is changed, in which each column of the key is
	// compared with one value.
	Single bool
	// Counted: a single PostgreSQL server knows the size of the table, because the
	// table never gets empty and grows slowly, or by an import that ends with ANALYZE.
	// Updates need not name the shards then. That would cost more, because the server
	// would look for each row in a sorted list of shards.
	Counted bool
	// Secret are the text columns that audit rows must not show. They show the last
	// characters at most.
	Secret string
	// Hidden are the columns of which audit rows only show whether they are set.
	Hidden string
	// Unordered: the table has no key, so the order of inserts does not matter.
	Unordered bool
	// Expired are the rows that sweeps delete.
	Expired []Expired
}

// Everywhere is the Shard of a small table that all others may refer to: each
// node of a distributed engine has all of its rows.
const Everywhere = "everywhere"

// Columns are all columns of the table, in the order of Bind.
func (t *Table[K, V]) Columns() string { return Join(t.Key, t.Fixed, t.Mutable) }

// Values are all columns but the key's, in the order of Scan.
func (t *Table[K, V]) Values() string { return Join(t.Fixed, t.Mutable) }

// Bind binds a whole row: key, fixed, mutable.
func (t *Table[K, V]) Bind(b Binder, v *V) { t.bind(b, v, Whole) }

func (t *Table[K, V]) bind(b Binder, v *V, p Part) {
	switch p {
	case Hot:
		t.BindHot(b, v)
	case Mutable:
		if t.BindMutable != nil {
			t.BindMutable(b, v)
		}
	case Whole:
		t.BindKey(b, t.KeyOf(v))
		if t.BindFixed != nil {
			t.BindFixed(b, v)
		}
		if t.BindMutable != nil {
			t.BindMutable(b, v)
		}
	}
}

// Log is the descriptor of a table whose rows are only ever appended. ID has the columns of
// the key, which stand first.
type Log[V any] struct {
	Name, ID, Rest string
	Bind           func(Binder, *V)

	// Changes are the table's field; nil: engines write the rows by themselves.
	Changes func(*commerce.Changes) *[]V
	// Only reports whether a row of Changes belongs to this table; nil: every row does.
	Only func(*V) bool

	Traits
}

// Columns are all columns of the log, in the order of Bind.
func (l *Log[V]) Columns() string { return Join(l.ID, l.Rest) }

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

// Shape implements Described.
func (t *Table[K, V]) Shape() Shape {
	return Shape{t.Name, t.Key, t.Fixed, t.Mutable, t.HotColumns, t.Traits}
}

// BindZero implements Described.
func (t *Table[K, V]) BindZero(b Binder, p Part) { t.bind(b, new(V), p) }

func (t *Table[K, V]) require(r *commerce.Rows, n *commerce.Needs) {
	rows := t.Rows(r)
	if t.Created != nil {
		rows.Expect(*t.Created(n))
	}
	rows.Require(*t.Needs(n), t.locks(n))
	if t.Locked != nil {
		rows.Require(*t.Locked(n), true)
	}
	if t.Ended != nil {
		rows.LeaveUnseen(*t.Ended(n))
	}
}

// locks reports whether the command may change the rows of Needs.
func (t *Table[K, V]) locks(n *commerce.Needs) bool {
	return t.Lock == LockAll || t.Lock == LockOnRequest && n.Lock
}

func (t *Table[K, V]) apply(r *commerce.Rows, c *commerce.Changes) {
	rows := t.Rows(r)
	if t.Changes != nil {
		list := *t.Changes(c)
		for i := range list {
			rows.Put(t.KeyOf(&list[i]), list[i])
		}
	}
	if t.Deleted != nil {
		for _, k := range *t.Deleted(c) {
			rows.Remove(k)
		}
	}
}

// Asked implements Keyed.
func (t *Table[K, V]) Asked(r *commerce.Rows) int { return t.Rows(r).Asked() }

// MayChange implements Keyed.
func (t *Table[K, V]) MayChange(r *commerce.Rows, asked int) bool {
	_, locked := t.Rows(r).AskedKey(asked)
	return locked
}

// BindAsked implements Keyed.
func (t *Table[K, V]) BindAsked(b Binder, r *commerce.Rows, asked int) {
	k, _ := t.Rows(r).AskedKey(asked)
	t.BindKey(b, k)
}

// Fill implements Keyed.
func (t *Table[K, V]) Fill(s Scanner, r *commerce.Rows, asked int) {
	rows := t.Rows(r)
	k, _ := rows.AskedKey(asked)
	rows.Fill(asked, t.Scan(s, k))
}

// Changed implements Keyed.
func (t *Table[K, V]) Changed(r *commerce.Rows) int { return t.Rows(r).Changed() }

// Change implements Keyed.
func (t *Table[K, V]) Change(r *commerce.Rows, changed int) Change {
	_, v, was := t.Rows(r).Change(changed)
	switch {
	case v == nil && was == nil:
		return Nothing
	case v == nil:
		return Delete
	case was == nil:
		return Insert
	case t.OnlyHotChanged != nil && t.OnlyHotChanged(v, was):
		return UpdateHot
	}
	return Update
}

// BindChanged implements Keyed.
func (t *Table[K, V]) BindChanged(b Binder, r *commerce.Rows, changed int, p Part) {
	_, v, _ := t.Rows(r).Change(changed)
	t.bind(b, v, p)
}

// BindChangedKey implements Keyed.
func (t *Table[K, V]) BindChangedKey(b Binder, r *commerce.Rows, changed int) {
	k, _, _ := t.Rows(r).Change(changed)
	t.BindKey(b, k)
}

func (t *Table[K, V]) owners(n *commerce.Needs, read bool, add func(string)) {
	of := func(keys []K) {
		for _, k := range keys {
			var f firstText
			t.BindKey(&f, k)
			if read && t.Shard == "slot" {
				f.text = "slot " + strconv.FormatInt(f.number, 10)
			}
			add(f.text)
		}
	}
	if t.locks(n) || read && t.Shard != Everywhere {
		of(*t.Needs(n))
	}
	for _, needs := range []func(*commerce.Needs) *[]K{t.Created, t.Locked, t.Ended} {
		if needs != nil {
			of(*needs(n))
		}
	}
}

// firstText is a Binder that keeps the first text and the last number. Bound to a key, the
// text is the id of the row's owner, and the number the slot of a job.
type firstText struct {
	text   string
	number int64
}

func (f *firstText) Text(v string) Binder {
	if f.text == "" {
		f.text = v
	}
	return f
}
func (f *firstText) Int(v int64) Binder    { f.number = v; return f }
func (f *firstText) Bool(bool) Binder      { return f }
func (f *firstText) Blob([]byte) Binder    { return f }
func (f *firstText) JSON([]byte) Binder    { return f }
func (f *firstText) Float(*float64) Binder { return f }

// Shape implements Described.
func (l *Log[V]) Shape() Shape {
	return Shape{Name: l.Name, Key: l.ID, Fixed: l.Rest, Traits: l.Traits}
}

// BindZero implements Described. A log has no part but the whole row.
func (l *Log[V]) BindZero(b Binder, _ Part) { l.Bind(b, new(V)) }

func (l *Log[V]) apply(r *commerce.Rows, c *commerce.Changes) {
	if l.Changes != nil && l.Only == nil {
		all := l.Changes(&r.Appended)
		*all = append(*all, *l.Changes(c)...)
	}
}

// Changed implements Described.
func (l *Log[V]) Changed(r *commerce.Rows) int {
	if l.Changes == nil {
		return 0
	}
	return len(*l.Changes(&r.Appended))
}

// Change implements Described.
func (l *Log[V]) Change(r *commerce.Rows, changed int) Change {
	if l.Only == nil || l.Only(&(*l.Changes(&r.Appended))[changed]) {
		return Insert
	}
	return Nothing
}

// BindChanged implements Described.
func (l *Log[V]) BindChanged(b Binder, r *commerce.Rows, changed int, _ Part) {
	l.Bind(b, &(*l.Changes(&r.Appended))[changed])
}
