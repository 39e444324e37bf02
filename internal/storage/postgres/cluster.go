package postgres

import "purveyor/internal/commerce"

// loadShards asks for the rows of each prefix: a cluster locks rows of one shard at
// a time, and does not take a LIMIT for each of many keys of several.
func (t *table) loadShards(q *request, r *commerce.Rows, locked, others []keyed) {
	if t.Single {
		t.loadEach(q, r, locked)
		locked = nil
	}
	load := func(list []keyed, lock string) {
		for _, g := range groups(list) {
			queue(&q.Batch, func(s *scanner) { t.keyed.Fill(s, r, g.find(s.next())) }, t.inRange+lock, g.args()...)
		}
	}
	load(locked, " ORDER BY "+t.key[len(t.key)-1]+" FOR UPDATE")
	load(others, "")
}

// loadEach locks rows one by one, in the order of their keys.
func (t *table) loadEach(q *request, r *commerce.Rows, list []keyed) {
	for _, k := range list {
		queue(&q.Batch, func(s *scanner) { t.keyed.Fill(s, r, k.row) }, t.byKey+" FOR UPDATE", k.columns.args()...)
	}
}
