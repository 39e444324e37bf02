package schema

import "purveyor/internal/commerce"

// Table describes how the rows of one kind are kept: the columns of the key,
// those that never change, and those that do (names separated by a comma and a
// space); and how each part is bound and read, in that order.
type Table[K comparable, V any] struct {
	Name                string
	Key, Fixed, Mutable string
	KeyOf               func(*V) K
	BindKey             func(Binder, K)
	BindFixed           func(Binder, *V)   // nil: no column is fixed
	BindMutable         func(Binder, *V)   // nil: no column changes
	Scan                func(Scanner, K) V // reads fixed, then mutable

	// HotColumns are those of Mutable that most changes are confined to, as
	// OnlyHotChanged tells. Then only they are written, and indexes of the others
	// are not touched.
	HotColumns     string
	BindHot        func(Binder, *V)
	OnlyHotChanged func(v, was *V) bool

	// Rows, Needs and Changes are the table's fields.
	Rows    func(*commerce.Rows) *commerce.Table[K, V]
	Needs   func(*commerce.Needs) *[]K
	Changes func(*commerce.Changes) *[]V // nil: Rows.Prepare adds the rows
	// Created, Locked and Ended are further needs, where there are any: rows that
	// the command creates by a new id and that are not looked up, rows that it
	// changes where Needs are only read, and rows that it deletes unseen.
	Created, Locked, Ended func(*commerce.Needs) *[]K
	Deleted                func(*commerce.Changes) *[]K // nil: no row is deleted

	Lock Lock
	Traits
}

// Lock says which rows of a table a batch locks, because its commands may
// change them.
type Lock int

// The locks of tables.
const (
	LockNone      Lock = iota // rows are only added, or named by Table.Locked
	LockAll                   // all rows of Table.Needs
	LockOnRequest             // those of commands that say so (commerce.Needs.Lock)
)

// Traits are what engines are to know of a table beside its columns.
type Traits struct {
	// Shard is the column by which a distributed engine spreads the rows, or
	// Everywhere. Rows that are needed together share the column.
	Shard string
	// Collides: two processes may insert one key.
	Collides bool
	// AddedByName: rows are found by what a caller named (an idempotency key, an
	// external id, a contact) and there can be very many of one partner. They are
	// read after all locks, so that a batch that waited for a lock sees what the
	// other batch added, and each is looked up by itself.
	AddedByName bool
	// Single: there can be very many rows of one store or owner, so PostgreSQL gets
	// a statement for each row that is changed, in which each column of the key is
	// compared with one value.
	Single bool
	// Counted: one PostgreSQL server knows how large the table is. It grows slowly,
	// or by an import that is followed by ANALYZE, and never gets empty. To name the
	// shards would then make an update dearer: each row is looked for in a sorted
	// list of them.
	Counted bool
	// Secret are the columns with a text that the audit shows only the end of.
	Secret string
	// Unordered: the table has no key, so the order of inserts does not matter.
	Unordered bool
	// Expired are the rows that sweeps delete.
	Expired []Expired
}

// Everywhere is the Shard of a small table that all others may refer to: each
// node of a distributed engine has all of its rows.
const Everywhere = "everywhere"

// Columns are all of the table, in the order of Bind.
func (t *Table[K, V]) Columns() string { return Join(t.Key, t.Fixed, t.Mutable) }

// Values are all but the key's, in the order of Scan.
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

// Log describes rows that are only ever appended. ID is the columns of the
// key, which stand first.
type Log[V any] struct {
	Name, ID, Rest string
	Bind           func(Binder, *V)

	// Changes are the table's field; nil: engines write the rows by themselves.
	Changes func(*commerce.Changes) *[]V
	// Only tells which rows of Changes the table gets; nil: all.
	Only func(*V) bool

	Traits
}

// Columns are all of the log, in the order of Bind.
func (l *Log[V]) Columns() string { return Join(l.ID, l.Rest) }
