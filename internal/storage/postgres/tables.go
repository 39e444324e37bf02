package postgres

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// table is a table of the schema with its statements.
type table[K comparable, V any] struct {
	*schema.Table[K, V]
	options

	prefix    []string // the columns of the key but its last
	last      string
	update    [2]update // of many rows: all that may change, and what changes often
	byKey     string    // one row: SELECT values WHERE key
	updateOne string
	inRange   string // rows of one prefix: SELECT last, values WHERE prefix AND last = ANY
	deleteSQL string // rows of one prefix

	singlesOnce sync.Once // makes singles, as once does update
	singles     [2]string // rows of several keys; the second is for a cluster
}

// update is a statement that is made once the types of its columns are known.
type update struct {
	once sync.Once
	sql  string
}

// options say how the rows of a table are found and saved. What PostgreSQL
// knows of a table may be from when it was small, and then it walks through all
// rows of a prefix for the few that are asked for. Where a prefix can have many
// rows, statements leave it no choice.
type options struct {
	locks    bool // rows are locked by whoever loads them for a batch
	collides bool // two processes may insert one key
	single   bool // a statement for each row that is locked or changed: each column of the key is compared with one value
	lateral  bool // the same inside of one statement, for rows that are not locked
}

func prepared[K comparable, V any](t *schema.Table[K, V], o options) *table[K, V] {
	key := schema.Split(t.Key)
	p := &table[K, V]{Table: t, options: o, prefix: key[:len(key)-1], last: key[len(key)-1]}
	var where string
	for i, c := range p.prefix {
		where += c + " = $" + strconv.Itoa(i+1) + " AND "
	}
	where += p.last
	n := "$" + strconv.Itoa(len(key))
	p.byKey = "SELECT " + t.Values() + " FROM " + t.Name + " WHERE " + where + " = " + n
	p.deleteSQL = "DELETE FROM " + t.Name + " WHERE " + where + " = ANY(" + n + ")"
	p.inRange = "SELECT " + schema.Join(p.last, t.Values()) + " FROM " + t.Name + " WHERE " + where + " = ANY(" + n + ")"
	if o.lateral {
		kind := "text"
		if p.last == "digest" {
			kind = "bytea"
		}
		p.inRange = "SELECT t.* FROM unnest(" + n + "::" + kind + "[]) AS k (v) CROSS JOIN LATERAL (SELECT " + schema.Join(p.last, t.Values()) +
			" FROM " + t.Name + " WHERE " + where + " = k.v LIMIT 1) AS t"
	}
	if o.single {
		p.updateOne = updateOneSQL(t.Name, schema.Split(t.Mutable), key)
	}
	return p
}

func updateOneSQL(name string, mutable, key []string) string {
	set, where := make([]string, len(mutable)), make([]string, len(key))
	for i, m := range mutable {
		set[i] = m + " = $" + strconv.Itoa(i+1)
	}
	for i, k := range key {
		where[i] = k + " = $" + strconv.Itoa(len(mutable)+i+1)
	}
	return "UPDATE " + name + " SET " + strings.Join(set, ", ") + " WHERE " + strings.Join(where, " AND ")
}

// Orders, stock, endpoints and jobs are what batches compete for. Partners, stores and the like
// are read by every batch and changed by few, which say so (commerce.Needs.Lock).
var (
	partners      = prepared(&schema.Partners, options{collides: true})
	apiKeys       = prepared(&schema.APIKeys, options{collides: true})
	stores        = prepared(&schema.Stores, options{collides: true})
	categories    = prepared(&schema.Categories, options{collides: true})
	productStores = prepared(&schema.ProductStores, options{collides: true})
	products      = prepared(&schema.Products, options{collides: true, locks: true})
	stock         = prepared(&schema.Stock, options{collides: true, locks: true})
	orders        = prepared(&schema.Orders, options{locks: true, single: true})
	externalIDs   = prepared(&schema.ExternalIDs, options{collides: true, lateral: true})
	customers     = prepared(&schema.Customers, options{collides: true, lateral: true})
	replies       = prepared(&schema.Replies, options{collides: true, lateral: true, single: true})
	payments      = prepared(&schema.Payments, options{locks: true, single: true})
	refunds       = prepared(&schema.Refunds, options{locks: true, single: true, collides: true})
	deliveries    = prepared(&schema.Deliveries, options{locks: true, single: true})
	places        = prepared(&schema.Places, options{locks: true, single: true, collides: true})
	endpoints     = prepared(&schema.Endpoints, options{locks: true, collides: true})
	jobs          = prepared(&schema.Jobs, options{locks: true})
	sandbox       = prepared(&schema.SandboxObjects, options{locks: true, single: true, collides: true})
)

// group is the keys that share a prefix.
type group[K comparable] struct {
	prefix []any
	text   []string // of the prefix, for the order
	last   any      // the array of the last column's values
	keys   map[string]K
}

// groups sorts keys by their prefix: batches lock in one order.
func (t *table[K, V]) groups(keys []K) []*group[K] {
	byPrefix := map[string]*group[K]{}
	var list []*group[K]
	for _, k := range keys {
		var c columns
		t.BindKey(&c, k)
		prefix, text := make([]any, len(t.prefix)), make([]string, len(t.prefix))
		for i := range t.prefix {
			switch column := c.arrays[i].(type) {
			case []string:
				prefix[i] = column[0]
			case []int64:
				prefix[i] = column[0]
			}
			text[i] = fmt.Sprint(prefix[i])
		}
		id := strings.Join(text, "\x00")
		g := byPrefix[id]
		if g == nil {
			g = &group[K]{prefix: prefix, text: text, keys: map[string]K{}}
			byPrefix[id] = g
			list = append(list, g)
		}
		switch last := c.arrays[len(t.prefix)].(type) {
		case []string:
			g.last = appended(g.last, last[0])
			g.keys[last[0]] = k
		case [][]byte:
			g.last = appended(g.last, last[0])
			g.keys[string(last[0])] = k
		default:
			panic(fmt.Sprintf("postgres: %s has a key of %T", t.Name, last))
		}
	}
	slices.SortFunc(list, func(a, b *group[K]) int { return slices.Compare(a.text, b.text) })
	return list
}

func appended[T any](list any, v T) any {
	before, _ := list.([]T)
	return append(before, v)
}

// load asks for rows, of which some are locked.
func load[K comparable, V any](q *pgx.Batch, t *table[K, V], rows *commerce.Table[K, V]) {
	locked, others := rows.Keys(), []K(nil)
	if !t.locks {
		locked, others = rows.LockedKeys()
	}
	if t.single {
		loadEach(q, t, rows, locked)
		locked = nil
	}
	queue := func(keys []K, lock string) {
		for _, g := range t.groups(keys) {
			q.Queue(seen(t.inRange+lock), append(slices.Clone(g.prefix), g.last)...).Query(func(found pgx.Rows) error {
				return each(found, func(s *scanner) {
					k := g.keys[s.Text()]
					rows.Fill(k, t.Scan(s, k))
				})
			})
		}
	}
	queue(locked, " ORDER BY "+t.last+" FOR UPDATE")
	queue(others, "")
}

// loadEach locks rows one by one, in the order of their keys.
func loadEach[K comparable, V any](q *pgx.Batch, t *table[K, V], rows *commerce.Table[K, V], keys []K) {
	type keyed struct {
		key  K
		args values
	}
	list := make([]keyed, len(keys))
	for i, k := range keys {
		list[i].key = k
		t.BindKey(&list[i].args, k)
	}
	slices.SortFunc(list, func(a, b keyed) int {
		return slices.CompareFunc(a.args, b.args, compareKeys)
	})
	for _, k := range list {
		q.Queue(seen(t.byKey+" FOR UPDATE"), k.args...).Query(func(found pgx.Rows) error {
			return each(found, func(s *scanner) { rows.Fill(k.key, t.Scan(s, k.key)) })
		})
	}
}

// compareKeys orders columns of keys, which are text or bytes.
func compareKeys(x, y any) int {
	if b, ok := x.([]byte); ok {
		return bytes.Compare(b, y.([]byte))
	}
	return strings.Compare(x.(string), y.(string))
}

// save writes what changed.
func save[K comparable, V any](q *pgx.Batch, t *table[K, V], rows *commerce.Table[K, V]) {
	var fresh, changed, often []*V
	_ = rows.EachChanged(func(v, was *V) error { // no callback fails
		switch {
		case was == nil:
			fresh = append(fresh, v)
		case t.IsOften(v, was):
			often = append(often, v)
		default:
			changed = append(changed, v)
		}
		return nil
	})
	if t.single {
		for _, v := range changed {
			var args values
			t.BindMutable(&args, v)
			t.BindKey(&args, t.KeyOf(v))
			q.Queue(seen(t.updateOne), args...)
		}
	} else {
		updateMany(q, t, changed, false)
		updateMany(q, t, often, true)
	}
	switch {
	case len(fresh) == 0:
	case t.collides:
		insertValues(q, t, fresh)
	default:
		var c columns
		for _, v := range fresh {
			c.nextRow()
			t.Bind(&c, v)
		}
		q.Queue(seen(insertSQL(t.Name, t.Columns(), &c)), c.arrays...)
	}
}

// eachOnce is an array with each of its values once.
func eachOnce(array any) any {
	switch list := array.(type) {
	case []string:
		return slices.Compact(slices.Sorted(slices.Values(list)))
	case []int64:
		return slices.Compact(slices.Sorted(slices.Values(list)))
	}
	panic(fmt.Sprintf("postgres: tables are not spread by %T", array))
}

// remove deletes rows.
func remove[K comparable, V any](q *pgx.Batch, t *table[K, V], rows *commerce.Table[K, V]) {
	var gone []K
	_ = rows.EachDeleted(func(k K) error { gone = append(gone, k); return nil }) // no callback fails
	for _, g := range t.groups(gone) {
		q.Queue(seen(t.deleteSQL), append(slices.Clone(g.prefix), g.last)...)
	}
}

func updateMany[K comparable, V any](q *pgx.Batch, t *table[K, V], rows []*V, often bool) {
	if len(rows) == 0 {
		return
	}
	written, bind := t.Written(often)
	var c columns
	for _, v := range rows {
		c.nextRow()
		bind(&c, v)
		t.BindKey(&c, t.KeyOf(v))
	}
	u := &t.update[0]
	if often {
		u = &t.update[1]
	}
	u.once.Do(func() { u.sql = updateSQL(t.Name, schema.Split(written), schema.Split(t.Key), &c) })
	shards := eachOnce(c.arrays[len(schema.Split(written))]) // of the key's first column
	q.Queue(seen(u.sql), append(c.arrays, shards)...)
}

// updateSQL names the shards again, so that a distributed engine asks only those.
func updateSQL(name string, written, key []string, c *columns) string {
	var set, where []string
	for _, w := range written {
		set = append(set, w+" = u."+w)
	}
	for _, k := range key {
		where = append(where, "t."+k+" = u."+k)
	}
	return "UPDATE " + name + " AS t SET " + strings.Join(set, ", ") + " FROM " + c.unnest() + " AS u (" + strings.Join(append(written, key...), ", ") +
		") WHERE " + strings.Join(where, " AND ") + " AND t." + key[0] + " = ANY($" + strconv.Itoa(len(c.arrays)+1) + ")"
}

func insertSQL(name, columnNames string, c *columns) string {
	return "INSERT INTO " + name + " (" + columnNames + ") SELECT * FROM " + c.unnest()
}

// insertValues inserts rows whose keys others may insert at the same time: a
// distributed engine tells a broken key from other faults for this form only.
// Few sizes, so that few statements are prepared.
func insertValues[K comparable, V any](q *pgx.Batch, t *table[K, V], rows []*V) {
	for _, size := range []int{64, 48, 32, 24, 20, 16, 12, 8, 7, 6, 5, 4, 3, 2, 1} {
		for ; len(rows) >= size; rows = rows[size:] {
			var args values
			for _, v := range rows[:size] {
				t.Bind(&args, v)
			}
			q.Queue(seen(valuesSQL(t.Name, t.Columns(), size)), args...)
		}
	}
}

func valuesSQL(name, columnNames string, rows int) string {
	n := len(schema.Split(columnNames))
	list := make([]string, rows)
	for r := range list {
		row := make([]string, n)
		for c := range row {
			row[c] = "$" + strconv.Itoa(r*n+c+1)
		}
		list[r] = "(" + strings.Join(row, ", ") + ")"
	}
	return "INSERT INTO " + name + " (" + columnNames + ") VALUES " + strings.Join(list, ", ")
}

// appendTo writes new rows, whose ids are ours.
func appendTo[V any](q *pgx.Batch, name, columnNames string, bind func(schema.Binder, *V), rows []V) {
	if len(rows) == 0 {
		return
	}
	var c columns
	for i := range rows {
		c.nextRow()
		bind(&c, &rows[i])
	}
	q.Queue(seen(insertSQL(name, columnNames, &c)), c.arrays...)
}

// appendLog writes rows that are only ever appended.
func appendLog[V any](q *pgx.Batch, l *schema.Log[V], rows []V) {
	appendTo(q, l.Name, l.Columns(), l.Bind, rows)
}
