package postgres

import (
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// table is a table of the schema with its statements.
type table[K comparable, V any] struct {
	*schema.Table[K, V]
	options

	key       []string
	byKey     string // one row: SELECT values WHERE key
	inRange   string // rows of one prefix, the key without its last column: SELECT last, values WHERE prefix AND last = ANY
	ofKeys    byKeys
	deleteSQL string // rows of one prefix
	updateOne string
	update    [2]string // of many rows: all that may change, and what changes often
	shards    [2]string // what follows in it, to look for rows in these shards alone
	insertion insertion[V]
}

// options say how the rows of a table are found and saved. What PostgreSQL
// knows of a table may be from when it was small, and then it walks through all
// rows of a prefix for the few that are asked for. Where a prefix can have many
// rows, statements leave it no choice.
type options struct {
	locks    bool // a batch locks the rows that it loads
	collides bool // two processes may insert one key
	single   bool // a statement for each row that is changed: each column of the key is compared with one value
	lateral  bool // the same inside of one statement, for rows of one shard that are not locked
	// known says that one server knows how large the table is: it grows slowly, or by an
	// import (analyze), and never gets empty. To name shards then makes an update dearer:
	// each row is looked for in a sorted list of them.
	known bool
}

func prepared[K comparable, V any](t *schema.Table[K, V], o options) *table[K, V] {
	key := schema.Split(t.Key)
	p := &table[K, V]{Table: t, options: o, key: key, insertion: insertionInto(t.Name, t.Key, t.Columns(), t.Bind)}
	prefix, last := key[:len(key)-1], key[len(key)-1]
	var where string
	for i, c := range prefix {
		where += c + " = $" + strconv.Itoa(i+1) + " AND "
	}
	where += last
	n := "$" + strconv.Itoa(len(key))
	p.byKey = "SELECT " + t.Values() + " FROM " + t.Name + " WHERE " + where + " = " + n
	p.deleteSQL = "DELETE FROM " + t.Name + " WHERE " + where + " = ANY(" + n + ")"
	p.inRange = "SELECT " + schema.Join(last, t.Values()) + " FROM " + t.Name + " WHERE " + where + " = ANY(" + n + ")"
	var bound values
	t.BindKey(&bound, *new(K))
	of := bound[len(prefix)].kind
	if of != text && of != bytea {
		panic("postgres: rows of " + t.Name + " are not told apart by text")
	}
	if o.lateral {
		p.inRange = "SELECT t.* FROM unnest(" + n + "::" + kinds[of].sql + "[]) AS k (v) CROSS JOIN LATERAL (SELECT " + schema.Join(last, t.Values()) +
			" FROM " + t.Name + " WHERE " + where + " = k.v LIMIT 1) AS t"
	}
	p.ofKeys = byKeysSQL(t, bound)
	if o.single {
		p.updateOne = updateOneSQL(t.Name, schema.Split(t.Mutable), key)
	}
	p.update[0], p.shards[0] = updateSQL(t, false)
	if t.Often != "" {
		p.update[1], p.shards[1] = updateSQL(t, true)
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
	stock         = prepared(&schema.Stock, options{collides: true, locks: true, known: true})
	orders        = prepared(&schema.Orders, options{locks: true, single: true})
	externalIDs   = prepared(&schema.ExternalIDs, options{collides: true, lateral: true})
	customers     = prepared(&schema.Customers, options{collides: true, lateral: true})
	replies       = prepared(&schema.Replies, options{collides: true, lateral: true, single: true})
	payments      = prepared(&schema.Payments, options{locks: true, single: true})
	refunds       = prepared(&schema.Refunds, options{locks: true, single: true, collides: true})
	deliveries    = prepared(&schema.Deliveries, options{locks: true, single: true})
	attention     = prepared(&schema.Attention, options{locks: true})
	places        = prepared(&schema.Places, options{locks: true, single: true, collides: true})
	endpoints     = prepared(&schema.Endpoints, options{locks: true, collides: true})
	mails         = prepared(&schema.Mails, options{locks: true, collides: true})
	jobs          = prepared(&schema.Jobs, options{locks: true})
	sandbox       = prepared(&schema.SandboxObjects, options{locks: true, single: true, collides: true})
)

// keyed is a key with its columns.
type keyed[K comparable] struct {
	key     K
	columns values
}

// inOrder sorts keys by their columns: batches lock in one order.
func (t *table[K, V]) inOrder(keys []K) []keyed[K] {
	n := len(t.key)
	bound := make(values, 0, len(keys)*n)
	list := make([]keyed[K], len(keys))
	for i, k := range keys {
		t.BindKey(&bound, k)
		list[i] = keyed[K]{k, bound[i*n : (i+1)*n]}
	}
	slices.SortFunc(list, func(a, b keyed[K]) int { return slices.CompareFunc(a.columns, b.columns, compareValues) })
	return list
}

// group is the keys that share a prefix, in order.
type group[K comparable] struct {
	keys   []K
	prefix values
	last   values // what follows it in each key
}

func (t *table[K, V]) groups(keys []K) (list []*group[K]) {
	n := len(t.key) - 1
	for _, k := range t.inOrder(keys) {
		prefix := k.columns[:n]
		if len(list) == 0 || !slices.EqualFunc(list[len(list)-1].prefix, prefix, sameValue) {
			list = append(list, &group[K]{prefix: prefix})
		}
		g := list[len(list)-1]
		g.keys, g.last = append(g.keys, k.key), append(g.last, k.columns[n])
	}
	return list
}

// args are those of a statement for the keys of a prefix.
func (g *group[K]) args() []any { return g.prefix.args(&array{values: g.last, step: 1}) }

// find is the key of a row that was found, by its last column.
func (g *group[K]) find(last []byte) K {
	i, _ := slices.BinarySearchFunc(g.last, string(last), func(v value, last string) int { return strings.Compare(v.text, last) })
	return g.keys[i]
}

// request is a batch of statements for one server, or for a cluster.
type request struct {
	pgx.Batch
	cluster bool
}

// load asks for rows, of which some are locked. Batches lock rows in one order.
func load[K comparable, V any](q *request, t *table[K, V], rows *commerce.Table[K, V]) {
	locked, others := rows.Keys(), []K(nil)
	if !t.locks {
		locked, others = rows.LockedKeys()
	}
	if q.cluster {
		loadShards(q, t, rows, locked, others)
		return
	}
	loadKeys(q, t, rows, locked, t.ofKeys.lock)
	loadKeys(q, t, rows, others, t.ofKeys.read)
}

func loadKeys[K comparable, V any](q *request, t *table[K, V], rows *commerce.Table[K, V], keys []K, sql string) {
	if len(keys) == 0 {
		return
	}
	list := t.inOrder(keys)
	bound := make(values, 0, len(list)*(len(t.key)+1))
	for i, k := range list {
		bound = append(bound, k.columns...)
		bound.Int(int64(i))
	}
	q.Queue(seen(sql), bound.arrays(len(t.key)+1)...).Query(func(found pgx.Rows) error {
		return each(found, func(s *scanner) {
			k := list[s.Int()].key
			rows.Fill(k, t.Scan(s, k))
		})
	})
}

// save writes what changed.
func save[K comparable, V any](q *request, t *table[K, V], rows *commerce.Table[K, V]) {
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
		updateEach(q, t, changed)
	} else {
		updateMany(q, t, changed, false)
		updateMany(q, t, often, true)
	}
	if t.collides {
		t.insertion.listed(q, fresh)
	} else {
		t.insertion.atOnce(q, fresh)
	}
}

// remove deletes rows.
func remove[K comparable, V any](q *request, t *table[K, V], rows *commerce.Table[K, V]) {
	var gone []K
	_ = rows.EachDeleted(func(k K) error { gone = append(gone, k); return nil }) // no callback fails
	for _, g := range t.groups(gone) {
		q.Queue(seen(t.deleteSQL), g.args()...)
	}
}

func updateEach[K comparable, V any](q *request, t *table[K, V], rows []*V) {
	for _, v := range rows {
		var row values
		t.BindMutable(&row, v)
		t.BindKey(&row, t.KeyOf(v))
		q.Queue(seen(t.updateOne), row.args()...)
	}
}

func updateMany[K comparable, V any](q *request, t *table[K, V], rows []*V, often bool) {
	if len(rows) == 0 {
		return
	}
	columns, bind := t.Written(often)
	sql, shards := t.update[0], t.shards[0]
	if often {
		sql, shards = t.update[1], t.shards[1]
	}
	key := len(schema.Split(columns)) // where its columns begin
	width := key + len(t.key)
	bound := make(values, 0, len(rows)*width)
	for _, v := range rows {
		bind(&bound, v)
		t.BindKey(&bound, t.KeyOf(v))
	}
	args := bound.arrays(width)
	if q.cluster || !t.known {
		sql += shards
		args = append(args, array{values: bound[key:], step: width}.eachOnce())
	}
	q.Queue(seen(sql), args...)
}

// updateSQL is the statement, and what follows it to name the shards again: a
// distributed engine asks only those, and a server that takes the table for empty
// looks at no others.
func updateSQL[K comparable, V any](t *schema.Table[K, V], often bool) (sql, shards string) {
	columns, bind := t.Written(often)
	var row values
	bind(&row, new(V))
	t.BindKey(&row, *new(K))
	written, key := schema.Split(columns), schema.Split(t.Key)
	var set, where []string
	for _, w := range written {
		set = append(set, w+" = u."+w)
	}
	for _, k := range key {
		where = append(where, "t."+k+" = u."+k)
	}
	sql = "UPDATE " + t.Name + " AS t SET " + strings.Join(set, ", ") + " FROM " + row.unnest() + " AS u (" + schema.Join(columns, t.Key) +
		") WHERE " + strings.Join(where, " AND ")
	return sql, " AND t." + key[0] + " = ANY($" + strconv.Itoa(len(row)+1) + ")"
}
