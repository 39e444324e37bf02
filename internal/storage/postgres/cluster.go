package postgres

import (
	"purveyor/internal/commerce"

	"github.com/jackc/pgx/v5"
)

// loadShards asks for the rows of each prefix: a cluster locks rows of one shard at
// a time, and does not take a LIMIT for each of many keys of several.
func loadShards[K comparable, V any](q *request, t *table[K, V], rows *commerce.Table[K, V], locked, others []K) {
	if t.single {
		loadEach(q, t, rows, locked)
		locked = nil
	}
	queue := func(keys []K, lock string) {
		for _, g := range t.groups(keys) {
			q.Queue(seen(t.inRange+lock), g.args()...).Query(func(found pgx.Rows) error {
				return each(found, func(s *scanner) {
					k := g.find(s.next())
					rows.Fill(k, t.Scan(s, k))
				})
			})
		}
	}
	queue(locked, " ORDER BY "+t.key[len(t.key)-1]+" FOR UPDATE")
	queue(others, "")
}

// loadEach locks rows one by one, in the order of their keys.
func loadEach[K comparable, V any](q *request, t *table[K, V], rows *commerce.Table[K, V], keys []K) {
	for _, k := range t.inOrder(keys) {
		q.Queue(seen(t.byKey+" FOR UPDATE"), k.columns.args()...).Query(func(found pgx.Rows) error {
			return each(found, func(s *scanner) { rows.Fill(k.key, t.Scan(s, k.key)) })
		})
	}
}
