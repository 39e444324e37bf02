package schema

import (
	"slices"

	"purveyor/internal/commerce"
)

// All has every table, with a table before the tables that refer to it. Batches lock, save
// and append rows in this order, and copies use it, too.
var All = []Described{
	&Partners, &APIKeys, &FormerKeys, &Stores, &Categories, &ProductStores, &Products, &Stock, &StockMoves, &StockNotes,
	&Orders, &ExternalIDs, &Customers, &Replies, &StoredReplies,
	&Payments, &Refunds, &Ledger, &Deliveries, &Attention, &StrayCallbacks,
	&Endpoints, &Mails, &Jobs, &NewJobs, &SandboxObjects, &Faults, &Certifications, &Places,
	&Timeline, &WebhookEvents, &Attempts, &Outbox, &Audit,
	&Users, &Members, &Sessions, &SignInLinks, &SignInCounts, &SavedViews,
	&HourSums, &SumPositions, &FeedPlaces, &ProductNews,
}

// Tables are the tables of All with rows that batches load. The others are logs, whose rows
// are only ever added.
var Tables = func() (list []Keyed) {
	for _, d := range All {
		if t, ok := d.(Keyed); ok {
			list = append(list, t)
		}
	}
	return list
}()

// Described is a table of the registry.
type Described interface {
	Shape() Shape
	// BindZero binds a part of an empty row, from which a caller learns the types of the
	// columns.
	BindZero(Binder, Part)
	apply(*commerce.Rows, *commerce.Changes)

	// Changed is the number of rows that changed or were added. Some of those of a log may
	// belong to another table, which needs Nothing.
	Changed(*commerce.Rows) int
	Change(r *commerce.Rows, changed int) Change
	BindChanged(b Binder, r *commerce.Rows, changed int, p Part)
}

// Shape is the part of a descriptor that statements are made of.
type Shape struct {
	Name                     string
	Key, Fixed, Mutable, Hot string // lists of columns
	Traits
}

// Columns are all columns of the table, in the order of Whole.
func (s Shape) Columns() string { return Join(s.Key, s.Fixed, s.Mutable) }

// Values are all columns but the key's.
func (s Shape) Values() string { return Join(s.Fixed, s.Mutable) }

// ByKeySQL selects the values of the row with a key, whose columns are $1, $2 and so on.
func (s Shape) ByKeySQL() string {
	return "SELECT " + s.Values() + " FROM " + s.Name + " WHERE " + Each(s.Key, "{c} = ${n}", " AND ")
}

// Written are the columns that an update writes.
func (s Shape) Written(p Part) string {
	if p == Hot {
		return s.Hot
	}
	return s.Mutable
}

// Part is a part of the columns of a row.
type Part int

// The parts.
const (
	Whole   Part = iota // key, fixed, mutable
	Mutable             // the columns that change
	Hot                 // the columns that most changes are confined to
)

// Keyed is a table of rows that batches load by their keys, without the Go types of its
// keys and rows, so that engines can loop over tables. A row is named by its index among
// the rows that were asked for, or among the rows that changed.
type Keyed interface {
	Described

	// Asked is the number of rows to load.
	Asked(*commerce.Rows) int
	MayChange(r *commerce.Rows, asked int) bool
	BindAsked(b Binder, r *commerce.Rows, asked int) // the key
	// Fill reads the values of a row that was found.
	Fill(s Scanner, r *commerce.Rows, asked int)

	BindChangedKey(b Binder, r *commerce.Rows, changed int)

	require(*commerce.Rows, *commerce.Needs)
	difference(*commerce.Rows, *commerce.Changes, *Difference)
	owners(n *commerce.Needs, read bool, add func(id string))
}

// Change is the statement that a changed row needs.
type Change int

// The changes.
const (
	Nothing Change = iota // the batch added and removed the row, or it belongs to another table
	Insert
	Update    // all columns that change
	UpdateHot // the hot columns
	Delete
)

// Require adds the rows that a command needs to those of its batch.
func Require(r *commerce.Rows, n *commerce.Needs) {
	for _, t := range Tables {
		t.require(r, n)
	}
	if n.NextStoreNo && r.NextStoreNo == 0 {
		r.NextStoreNo = commerce.NeedStoreNo
	}
}

// Apply puts the changes of an accepted command into the rows. It panics if the command
// changes a row outside of its needs, or a quantity without a stock move.
func Apply(r *commerce.Rows, c *commerce.Changes) {
	r.Prepare(c)
	for _, d := range All {
		d.apply(r, c)
	}
}

// Changed reports whether there is anything to save.
func Changed(r *commerce.Rows) bool {
	return slices.ContainsFunc(All, func(d Described) bool { return d.Changed(r) > 0 })
}

// Owners are the ids of the owners of the rows that the command may change, each once. An
// owner is a store, a partner, or a single row that belongs to neither. Two commands
// without a common owner never wait for the same row.
func Owners(n *commerce.Needs) []string { return owners(n, false) }

// Nodes are the owners of the rows that the command may change or reads, each once, and the
// slots of its jobs. They decide which nodes of a distributed database the command needs.
func Nodes(n *commerce.Needs) []string { return owners(n, true) }

func owners(n *commerce.Needs, read bool) (list []string) {
	for _, t := range Tables {
		t.owners(n, read, func(id string) {
			if !slices.Contains(list, id) {
				list = append(list, id)
			}
		})
	}
	return list
}
