package postgres

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"purveyor/internal/storage/schema"
)

// insertion is the statements that insert rows of a table, and what binds these.
type insertion[V any] struct {
	bind  func(schema.Binder, *V)
	width int    // columns of a row
	key   int    // of which so many are its key; they stand first. 0: the order does not matter
	sql   string // for any number of rows, as arrays
	sizes []insertOf
}

// insertOf is a statement that lists so many rows. It is made when it is first
// wanted: it is long.
type insertOf struct {
	rows int
	sql  func() string
}

func insertionInto[V any](name, key, columns string, bind func(schema.Binder, *V)) insertion[V] {
	var row values
	bind(&row, new(V))
	s := insertion[V]{bind: bind, width: len(row), key: len(schema.Split(key)), sql: insertSQL(name, columns, row)}
	for _, n := range []int{64, 48, 32, 24, 20, 16, 12, 8, 7, 6, 5, 4, 3, 2, 1} {
		s.sizes = append(s.sizes, insertOf{n, sync.OnceValue(func() string { return valuesSQL(name, columns, len(row), n) })})
	}
	return s
}

// bound are rows in the order of their keys, if they have any. A batch that inserts a key
// which another batch has inserted waits for the end of that one. All batches insert keys in
// one order, so that two of them never wait for each other. And where keys grow,
// the pages of their index get full, which saves the server more than the order costs.
func (s *insertion[V]) bound(rows []*V) values {
	bound := make(values, 0, len(rows)*s.width)
	for _, v := range rows {
		s.bind(&bound, v)
	}
	if s.key == 0 {
		return bound
	}
	list := slices.Collect(slices.Chunk(bound, s.width))
	byKey := func(a, b values) int { return slices.CompareFunc(a[:s.key], b[:s.key], compareValues) }
	if slices.IsSortedFunc(list, byKey) {
		return bound
	}
	slices.SortFunc(list, byKey)
	return slices.Concat(list...)
}

// atOnce inserts rows whose ids are ours.
func (s *insertion[V]) atOnce(q *request, rows []*V) {
	if len(rows) > 0 {
		q.Queue(seen(s.sql), s.bound(rows).arrays(s.width)...)
	}
}

func insertSQL(name, columns string, row values) string {
	return "INSERT INTO " + name + " (" + columns + ") SELECT * FROM " + row.unnest()
}

// listed inserts rows whose keys others may insert at the same time: a
// distributed engine tells a broken key from other faults for this form only.
// Few sizes, so that few statements are prepared.
func (s *insertion[V]) listed(q *request, rows []*V) {
	if len(rows) == 0 {
		return
	}
	bound := s.bound(rows)
	for _, size := range s.sizes {
		for n := size.rows * s.width; len(bound) >= n; bound = bound[n:] {
			q.Queue(seen(size.sql()), bound[:n].args()...)
		}
	}
}

func valuesSQL(name, columns string, width, rows int) string {
	list := make([]string, rows)
	for r := range list {
		row := make([]string, width)
		for c := range row {
			row[c] = "$" + strconv.Itoa(r*width+c+1)
		}
		list[r] = "(" + strings.Join(row, ", ") + ")"
	}
	return "INSERT INTO " + name + " (" + columns + ") VALUES " + strings.Join(list, ", ")
}

// What batches append.
var (
	newJobs    = insertionInto(schema.Jobs.Name, schema.Jobs.Key, schema.Jobs.Columns(), schema.Jobs.Bind)
	stockMoves = unordered(&schema.StockMoves) // they have no key, only an index by numbers
	stockNotes = appended(&schema.StockNotes)
	timeline   = appended(&schema.Timeline)
	ledger     = appended(&schema.Ledger)
	events     = appended(&schema.WebhookEvents)
	attempts   = appended(&schema.Attempts)
	callbacks  = appended(&schema.StrayCallbacks)
	outbox     = appended(&schema.Outbox)
)

func appended[V any](l *schema.Log[V]) insertion[V] {
	return insertionInto(l.Name, l.ID, l.Columns(), l.Bind)
}

func unordered[V any](l *schema.Log[V]) insertion[V] {
	i := appended(l)
	i.key = 0
	return i
}
