package postgres

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"purveyor/internal/storage/batchget"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"
)

// newLookups makes look-ups of single rows by their keys. Look-ups at the same time share a
// statement, because the statement is most of their cost.
func newLookups(e *Engine) map[string]any {
	list := map[string]any{}
	addLookup(e, list, &schema.Stores)
	addLookup(e, list, &schema.Orders)
	addLookup(e, list, &schema.Payments)
	addLookup(e, list, &schema.Replies)
	addLookup(e, list, &schema.Deliveries)
	addLookup(e, list, &schema.SandboxObjects)
	return list
}

func addLookup[K comparable, V any](e *Engine, list map[string]any, t *schema.Table[K, V]) {
	rows := newLoader(e, t)
	list[t.Name] = reads.Lookup[K, V](func(ctx context.Context, k K) (v V, found bool, err error) {
		err = reader{e: e}.read(ctx, func(ctx context.Context) (err error) {
			v, found, err = rows.Get(ctx, k)
			return err
		})
		return v, found, err
	})
}

func newLoader[K comparable, V any](e *Engine, t *schema.Table[K, V]) *batchget.Loader[K, V] {
	text := textOf(t.Name)
	return batchget.New(func(ctx context.Context, keys []K) (map[K]V, error) { return readSingles(ctx, e, t, text, keys) })
}

func readSingles[K comparable, V any](ctx context.Context, e *Engine, t *schema.Table[K, V], text *sqlText, keys []K) (map[K]V, error) {
	found := make(map[K]V, len(keys))
	var bound values
	for i, k := range keys {
		n := len(bound)
		if t.BindKey(&bound, k); !bound[n:].storable() {
			bound = bound[:n] // it shall not harm the others
			continue
		}
		bound.Int(int64(i))
	}
	if len(bound) == 0 {
		return found, nil
	}
	sql := text.ofKeys.read
	if e.spread {
		sql = text.ofKeys.cluster
	}
	return found, query(ctx, e.readers, func(s *scanner) {
		k := keys[s.Int()]
		found[k] = t.Scan(s, k)
	}, sql, bound.arrays(len(text.key)+1)...)
}

// byKeys are statements that read rows by their keys, which are given as one list
// for each column of the key. One more list numbers the keys.
type byKeys struct {
	read, lock string // for one server
	cluster    string // read
}

// byKeysSQL compares each column of a key with one value, so that rows of other keys are
// not read. The LIMIT keeps a server that takes the table for empty from reading all rows.
// A cluster refuses the LIMIT, so its form has none and names the shards instead. On a
// single server that would cost more: it would look for each row in a sorted list.
func byKeysSQL(t schema.Shape, bound values) (s byKeys) {
	bound.Int(0)
	from := " FROM " + bound.unnest() + " AS k (" + schema.Each(t.Key, "k{n}", ", ") + ", i)"
	of := func(lock string) string {
		return "SELECT k.i, t.*" + from + " CROSS JOIN LATERAL (SELECT " + t.Values() + " FROM " + t.Name +
			" WHERE " + schema.Each(t.Key, "{c} = k.k{n}", " AND ") + " LIMIT 1" + lock + ") AS t"
	}
	s.read, s.lock = of(""), of(" FOR UPDATE")
	s.cluster = "SELECT k.i, " + schema.Qualified("t", t.Values()) + from + " JOIN " + t.Name + " AS t ON " + schema.Each(t.Key, "t.{c} = k.k{n}", " AND ") +
		" WHERE t." + schema.Split(t.Key)[0] + " = ANY($1)"
	return s
}

// storable reports whether PostgreSQL can store all texts. No row has a text that it cannot
// store.
func (v values) storable() bool {
	return !slices.ContainsFunc(v, func(x value) bool {
		return x.kind == text && (!utf8.ValidString(x.text) || strings.Contains(x.text, "\x00"))
	})
}
