package postgres

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// table is a table of the registry with its statements.
type table struct {
	schema.Described
	keyed schema.Keyed // nil: a log, which has nothing but an insertion
	sqlText
}

// sqlText is the statements of a table. What PostgreSQL knows of a table may be from
// when it was small, and then it walks through all rows of a prefix for the few that
// are asked for. Where a prefix can have many rows, statements leave it no choice.
type sqlText struct {
	schema.Shape
	key       []string
	byKey     string // one row
	inRange   string // rows of one prefix, the key without its last column: SELECT last, values WHERE prefix AND last = ANY
	ofKeys    byKeys
	deleteSQL string // rows of one prefix
	updateOne string
	update    [3]updateSQL // of many rows, by the part of the row that is written
	insertion insertion
}

// tables are the tables of the registry, in its order.
var tables = prepareTables()

func prepareTables() (list []*table) {
	for _, d := range schema.All {
		t := &table{Described: d, sqlText: sqlText{Shape: d.Shape(), insertion: insertionInto(d)}}
		if keyed, ok := d.(schema.Keyed); ok {
			t.keyed = keyed
			t.prepare(keyed)
		}
		list = append(list, t)
	}
	return list
}

// prepare makes the statements for the rows of a table with a key.
func (p *sqlText) prepare(d schema.Keyed) {
	p.key = schema.Split(p.Key)
	prefix, last := p.key[:len(p.key)-1], p.key[len(p.key)-1]
	where := schema.Each(schema.Join(prefix...), "{c} = ${n} AND ", "") + last
	n := "$" + strconv.Itoa(len(p.key))
	p.byKey = p.ByKeySQL()
	p.deleteSQL = "DELETE FROM " + p.Name + " WHERE " + where + " = ANY(" + n + ")"
	p.inRange = "SELECT " + schema.Join(last, p.Values()) + " FROM " + p.Name + " WHERE " + where + " = ANY(" + n + ")"
	var bound values
	d.BindZero(&bound, schema.Whole)
	bound = bound[:len(p.key)]
	of := bound[len(prefix)].kind
	if of != text && of != bytea {
		panic("postgres: rows of " + p.Name + " are not told apart by text")
	}
	if p.AddedByName {
		p.inRange = "SELECT t.* FROM unnest(" + n + "::" + kinds[of].sql + "[]) AS k (v) CROSS JOIN LATERAL (SELECT " + schema.Join(last, p.Values()) +
			" FROM " + p.Name + " WHERE " + where + " = k.v LIMIT 1) AS t"
	}
	p.ofKeys = byKeysSQL(p.Shape, slices.Clone(bound))
	if p.Single {
		p.updateOne = "UPDATE " + p.Name + " SET " + schema.Each(p.Mutable, "{c} = ${n}", ", ") +
			" WHERE " + schema.EachFrom(len(schema.Split(p.Mutable))+1, p.Key, "{c} = ${n}", " AND ")
	}
	for _, part := range []schema.Part{schema.Mutable, schema.Hot} {
		if p.Written(part) != "" {
			p.update[part] = updateManySQL(d, part, bound)
		}
	}
}

// updateSQL is an update of many rows. shards is its further condition that names the
// shards: a distributed engine then asks only these, and a server that takes the table for
// empty reads no other rows.
type updateSQL struct {
	sql, shards string
	width, key  int // the number of bound columns, and the first of them that belongs to the key
}

func updateManySQL(d schema.Keyed, part schema.Part, keyOf values) updateSQL {
	shape := d.Shape()
	var row values
	d.BindZero(&row, part)
	u := updateSQL{key: len(row)}
	row = append(row, keyOf...)
	u.width = len(row)
	u.sql = "UPDATE " + shape.Name + " AS t SET " + schema.Each(shape.Written(part), "{c} = u.{c}", ", ") + " FROM " + row.unnest() +
		" AS u (" + schema.Join(shape.Written(part), shape.Key) + ") WHERE " + schema.Each(shape.Key, "t.{c} = u.{c}", " AND ")
	u.shards = " AND t." + schema.Split(shape.Key)[0] + " = ANY($" + strconv.Itoa(u.width+1) + ")"
	return u
}

// keyed is a row of a batch, by its number, with the columns of its key.
type keyed struct {
	row     int
	columns values
}

// inOrder sorts rows by the columns of their keys: batches lock in one order.
func (s *sqlText) inOrder(rows []int, bindKey func(b schema.Binder, row int)) []keyed {
	n := len(s.key)
	bound := make(values, 0, len(rows)*n)
	list := make([]keyed, len(rows))
	for i, row := range rows {
		bindKey(&bound, row)
		list[i] = keyed{row, bound[i*n : (i+1)*n]}
	}
	slices.SortFunc(list, func(a, b keyed) int { return slices.CompareFunc(a.columns, b.columns, compareValues) })
	return list
}

// group has the rows whose keys share all columns but the last, in order.
type group struct {
	rows   []int
	prefix values
	last   values // the last column of each key
}

func groups(list []keyed) (of []*group) {
	for _, k := range list {
		n := len(k.columns) - 1
		prefix := k.columns[:n]
		if len(of) == 0 || !slices.EqualFunc(of[len(of)-1].prefix, prefix, sameValue) {
			of = append(of, &group{prefix: prefix})
		}
		g := of[len(of)-1]
		g.rows, g.last = append(g.rows, k.row), append(g.last, k.columns[n])
	}
	return of
}

// args are those of a statement for the keys of a prefix.
func (g *group) args() []any { return g.prefix.args(&array{values: g.last, step: 1}) }

// find is the number of a row that was found, by the last column of its key.
func (g *group) find(last []byte) int {
	i, _ := slices.BinarySearchFunc(g.last, string(last), func(v value, last string) int { return strings.Compare(v.text, last) })
	return g.rows[i]
}

// request is a batch of statements for one server, or for a cluster.
type request struct {
	pgx.Batch
	cluster bool
	large   int   // statements of as many rows as one may have
	anew    []int // the statements whose rows get another slot or id, and so perhaps another node, with the next try
}

// statementRows is the most rows of a statement, so that each statement of a large import ends
// before statementTime.
var statementRows = 50_000

// pieces are the rows of the statements that a large statement is split into.
func pieces[S ~[]E, E any](q *request, rows S, width int) iter.Seq[S] {
	q.large += len(rows) / (width * statementRows)
	return slices.Chunk(rows, width*statementRows)
}

// timeout bounds the wait for the answers to the request. A large statement has its time beside that
// of all others.
func (q *request) timeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), saveTime+time.Duration(q.large)*largeTime)
}

// partValues is about how many values are sent before the server is heard.
var partValues = 500_000

// parts are the statements that are sent at once: all, but of a large request some at a time. While
// they are encoded, the server hears nothing, and would end the transaction as a forgotten one.
func (q *request) parts() iter.Seq[[]*pgx.QueuedQuery] {
	return func(yield func([]*pgx.QueuedQuery) bool) {
		rest, n := q.QueuedQueries, 0
		for i := 0; i < len(rest) && q.large > 0; i++ {
			for _, arg := range rest[i].Arguments {
				n += valuesIn(arg)
			}
			if n >= partValues {
				if !yield(rest[:i+1]) {
					return
				}
				rest, n, i = rest[i+1:], 0, -1
			}
		}
		if len(rest) > 0 {
			yield(rest)
		}
	}
}

// valuesIn counts the values of an argument.
func valuesIn(arg any) int {
	if a, is := arg.(*array); is {
		return len(a.values)/a.step + 1
	}
	return 1
}

// load queues the statements that lock and read rows. All batches lock rows in the same
// order.
func (t *table) load(q *request, r *commerce.Rows) {
	n := t.keyed.Asked(r)
	if n == 0 {
		return
	}
	var locked, others []int
	for i := range n {
		if t.keyed.MayChange(r, i) {
			locked = append(locked, i)
		} else {
			others = append(others, i)
		}
	}
	bindKey := func(b schema.Binder, i int) { t.keyed.BindAsked(b, r, i) }
	if q.cluster {
		t.loadShards(q, r, t.inOrder(locked, bindKey), t.inOrder(others, bindKey))
		return
	}
	t.loadKeys(q, r, t.inOrder(locked, bindKey), t.ofKeys.lock)
	t.loadKeys(q, r, t.inOrder(others, bindKey), t.ofKeys.read)
}

func (t *table) loadKeys(q *request, r *commerce.Rows, list []keyed, sql string) {
	for some := range pieces(q, list, 1) {
		bound := make(values, 0, len(some)*(len(t.key)+1))
		for _, k := range some {
			bound = append(bound, k.columns...)
			bound.Int(int64(k.row))
		}
		queue(&q.Batch, func(s *scanner) { t.keyed.Fill(s, r, int(s.Int())) }, sql, bound.arrays(len(t.key)+1)...)
	}
}

// save queues the statements that insert, update and delete rows.
func (t *table) save(q *request, r *commerce.Rows) {
	var to [5][]int // rows, by schema.Change
	for i := range t.Changed(r) {
		change := t.Change(r, i)
		if change == schema.UpdateHot && t.Single {
			change = schema.Update
		}
		to[change] = append(to[change], i)
	}
	if t.Single {
		t.updateEach(q, r, to[schema.Update])
	} else {
		t.updateMany(q, r, to[schema.Update], schema.Mutable)
		t.updateMany(q, r, to[schema.UpdateHot], schema.Hot)
	}
	if fresh := to[schema.Insert]; len(fresh) > 0 {
		bound := make(values, 0, len(fresh)*t.insertion.width)
		for _, i := range fresh {
			t.BindChanged(&bound, r, i, schema.Whole)
		}
		first := q.Len()
		if t.Collides {
			t.insertion.listed(q, bound)
		} else {
			t.insertion.atOnce(q, bound)
		}
		for n := first; n < q.Len() && (t.Shard == "slot" || t.Shard == "id"); n++ {
			q.anew = append(q.anew, n)
		}
	}
	if gone := to[schema.Delete]; len(gone) > 0 {
		for _, g := range groups(t.inOrder(gone, func(b schema.Binder, i int) { t.keyed.BindChangedKey(b, r, i) })) {
			q.Queue(seen(t.deleteSQL), g.args()...)
		}
	}
}

func (t *table) updateEach(q *request, r *commerce.Rows, rows []int) {
	for _, i := range rows {
		var row values
		t.BindChanged(&row, r, i, schema.Mutable)
		t.keyed.BindChangedKey(&row, r, i)
		q.Queue(seen(t.updateOne), row.args()...)
	}
}

func (t *table) updateMany(q *request, r *commerce.Rows, rows []int, part schema.Part) {
	for some := range pieces(q, rows, 1) {
		t.updateSome(q, r, some, part)
	}
}

func (t *table) updateSome(q *request, r *commerce.Rows, rows []int, part schema.Part) {
	u := t.update[part]
	bound := make(values, 0, len(rows)*u.width)
	for _, i := range rows {
		t.BindChanged(&bound, r, i, part)
		t.keyed.BindChangedKey(&bound, r, i)
	}
	sql, args := u.sql, bound.arrays(u.width)
	if q.cluster || !t.Counted {
		sql += u.shards
		args = append(args, array{values: bound[u.key:], step: u.width}.eachOnce())
	}
	q.Queue(seen(sql), args...)
}

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
	for some := range pieces(q, s.inOrder(bound), s.width) {
		q.Queue(seen(s.sql), some.arrays(s.width)...)
	}
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
