package postgres

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"purveyor/internal/storage/schema"
)

// insertion has the statements that insert rows of a table.
type insertion struct {
	width int    // number of columns
	key   int    // number of key columns, which stand first; 0: the order of rows does not matter
	sql   string // for any number of rows, as arrays
	sizes []insertOf
}

// insertOf is a statement for a fixed number of rows. It is long, so it is made when it is
// first used.
type insertOf struct {
	rows int
	sql  func() string
}

func insertionInto(d schema.Described) insertion {
	shape := d.Shape()
	var row values
	d.BindZero(&row, schema.Whole)
	s := insertion{width: len(row), sql: insertSQL(shape.Name, shape.Columns(), row)}
	if !shape.Unordered {
		s.key = len(schema.Split(shape.Key))
	}
	for _, n := range []int{64, 48, 32, 24, 20, 16, 12, 8, 7, 6, 5, 4, 3, 2, 1} {
		s.sizes = append(s.sizes, insertOf{n, sync.OnceValue(func() string { return valuesSQL(shape.Name, shape.Columns(), len(row), n) })})
	}
	return s
}

// inOrder sorts rows by their keys, if they have any. A batch that inserts a key
// which another batch has inserted waits for the end of that one. All batches insert keys in
// one order, so that two of them never wait for each other. And where keys grow,
// the pages of their index get full, which saves the server more than the order costs.
func (s *insertion) inOrder(bound values) values {
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
func (s *insertion) atOnce(q *request, bound values) {
	q.Queue(seen(s.sql), s.inOrder(bound).arrays(s.width)...)
}

func insertSQL(name, columns string, row values) string {
	return "INSERT INTO " + name + " (" + columns + ") SELECT * FROM " + row.unnest()
}

// listed inserts rows whose keys other processes may insert at the same time. A distributed
// engine reports a duplicate key for this form only. There are few sizes, so that few
// statements are prepared.
func (s *insertion) listed(q *request, bound values) {
	bound = s.inOrder(bound)
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
