package memory

import (
	"cmp"
	"iter"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// tables are the tables of the registry, by their names.
type tables map[string]*table

// table has rows by their keys. A table with groups also has them by what they belong to.
type table struct {
	rows   map[any]*row
	groups map[any][]*row // in the order in which they were added
	group  func(value any) any
	added  int64
	writes int64

	eldest any    // a bound on the ages of the rows, but for the young ones; nil: not known yet
	young  []*row // that came since the sweep before

	changes map[string][]moment // of orders, by partner, in the order of their times
}

// moment is when an order was made or changed.
type moment struct {
	at  commerce.Millis
	row *row
}

// row is a stored row. Its value is a pointer that is never written through.
type row struct {
	key, value any
	seq        int64 // rows have come into the table in this order
}

func newTables() tables {
	t := tables{}
	for _, d := range schema.All {
		if t[d.Shape().Name] == nil {
			t[d.Shape().Name] = &table{rows: map[any]*row{}, changes: map[string][]moment{}}
		}
	}
	for _, k := range keepers {
		if group := k.groups(); group != nil {
			t[k.name()].group, t[k.name()].groups = group, map[any][]*row{}
		}
	}
	return t
}

// put writes a row, whose group never changes.
func (t *table) put(key, value any) {
	t.writes++
	if r := t.rows[key]; r != nil {
		was := r.value
		r.value = value
		t.note(r, was)
		return
	}
	t.added++
	r := &row{key, value, t.added}
	t.rows[key] = r
	t.note(r, nil)
	if t.eldest != nil {
		t.young = append(t.young, r)
	}
	if t.group != nil {
		g := t.group(value)
		t.groups[g] = append(t.groups[g], r)
		if _, is := value.(*commerce.WebhookEvent); is {
			sift(t.groups[g])
		}
	}
}

// note adds the moments in which an order was made and changed.
func (t *table) note(r *row, was any) {
	o, is := r.value.(*commerce.Order)
	if !is {
		return
	}
	before, known := was.(*commerce.Order)
	for _, at := range []commerce.Millis{o.CreatedOn, o.UpdatedOn} {
		if known && (at == before.CreatedOn || at == before.UpdatedOn) {
			continue
		}
		all := append(t.changes[o.PartnerID], moment{at, r})
		for i := len(all) - 1; i > 0 && all[i].at < all[i-1].at; i-- {
			all[i], all[i-1] = all[i-1], all[i]
		}
		t.changes[o.PartnerID] = all
		if o.CreatedOn == o.UpdatedOn {
			return
		}
	}
}

// since gives the changes of the orders of a partner from a time on.
func (t tables) since(partnerID string, from commerce.Millis) (list []moment) {
	all := t[schema.Orders.Name].changes[partnerID]
	at, _ := slices.BinarySearchFunc(all, from, func(m moment, from commerce.Millis) int { return cmp.Compare(m.at, from) })
	return all[at:]
}

// sift moves the last of a list of events to the place of its id. Batches add events in the
// order of ids, so it mostly stands there.
func sift(list []*row) {
	for i := len(list) - 1; i > 0 && eventOf(list[i]).ID < eventOf(list[i-1]).ID; i-- {
		list[i], list[i-1] = list[i-1], list[i]
	}
}

// remove deletes a row, if there is one.
func (t *table) remove(key any) {
	r := t.rows[key]
	if r == nil {
		return
	}
	t.writes++
	delete(t.rows, key)
	if t.group == nil {
		return
	}
	g := t.group(r.value)
	if left := slices.DeleteFunc(t.groups[g], func(o *row) bool { return o == r }); len(left) > 0 {
		t.groups[g] = left
	} else {
		delete(t.groups, g)
	}
}

// get reads a row. It is the row of the database, not a copy.
func get[K comparable, V any](t tables, of *schema.Table[K, V], k K) (v V, there bool) {
	if r := t[of.Name].rows[k]; r != nil {
		return *r.value.(*V), true
	}
	return v, false
}

// put writes a row.
func put[K comparable, V any](t tables, of *schema.Table[K, V], v V) {
	t[of.Name].put(of.KeyOf(&v), &v)
}

// each gives the rows of a table, which are not copies.
func each[K comparable, V any](t tables, of *schema.Table[K, V]) iter.Seq2[K, *V] {
	return func(yield func(K, *V) bool) {
		for k, r := range t[of.Name].rows {
			if !yield(k.(K), r.value.(*V)) {
				return
			}
		}
	}
}

// load gives the rows that commands asked for.
func (t tables) load(r *commerce.Rows) {
	for _, k := range keepers {
		k.load(t, r)
	}
}

// change is a row as it is to be saved.
type change struct {
	table string
	key   any
	value any  // a pointer; nil: the row is deleted
	fresh bool // it must not be there yet
}

// changes are all that a batch saves.
func changes(r *commerce.Rows) (list []change) {
	for _, k := range keepers {
		list = k.changes(r, list)
	}
	return list
}

// broken returns what constraint a row breaks; empty: it breaks none.
func broken(row any) string {
	switch v := row.(type) {
	case *commerce.Stock:
		if v.Quantity < 0 {
			return "stock is below zero"
		}
	case *commerce.Payment:
		if v.RefundedCents+v.PendingCents > v.CapturedCents {
			return "more goes back than was paid"
		}
	}
	return ""
}

// save writes the changes, unless one of them is refused: then it writes nothing.
func (t tables) save(list []change) error {
	for _, c := range list {
		if c.fresh && c.value != nil && t[c.table].rows[c.key] != nil {
			return refusal("it is there already", c.value)
		}
		if what := broken(c.value); what != "" {
			return refusal(what, c.value)
		}
	}
	for _, c := range list {
		if c.value == nil {
			t[c.table].remove(c.key)
		} else {
			t[c.table].put(c.key, c.value)
		}
	}
	return nil
}

// selected gives copies of the rows that are wanted, at most limit (below 0: all) in order.
func selected[V any](t tables, of schema.Described, limit int, wanted func(*V) bool, order func(a, b V) int) (list []V) {
	var found []*row
	for _, r := range t[of.Shape().Name].rows {
		if wanted(r.value.(*V)) {
			found = append(found, r)
		}
	}
	return sorted(found, limit, order)
}

// sorted gives copies of rows, at most limit (below 0: all) in order; of equal ones, the oldest
// first.
func sorted[V any](found []*row, limit int, order func(a, b V) int) (list []V) {
	slices.SortFunc(found, func(a, b *row) int {
		return cmp.Or(order(*a.value.(*V), *b.value.(*V)), cmp.Compare(a.seq, b.seq))
	})
	if limit >= 0 {
		found = found[:min(len(found), limit)]
	}
	for _, r := range found {
		list = append(list, clone(*r.value.(*V)))
	}
	return list
}

func byRunAt(a, b commerce.Job) int {
	return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.ID, b.ID))
}
