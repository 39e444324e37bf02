package memory

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// tables are the tables of the registry, by their names.
type tables map[string]*table

// table has rows. A table with groups also has them by what they belong to.
type table struct {
	rows   []*row         // in no order
	byKey  any            // a map of keys to *row
	plan   *plan          // how rows are copied
	groups map[any][]*row // in the order in which they were added
	group  func(value any) any
	drop   func(*row) // deletes a row
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
	value any
	seq   int64 // rows have come into the table in this order
	at    int   // its place among the rows
}

func newTables() tables {
	t := tables{}
	for _, k := range keepers {
		if t[k.name()] == nil {
			t[k.name()] = k.table()
		}
	}
	return t
}

// newTable makes a table for rows with keys. Without a group, there are none.
func newTable[K comparable, V any](keyOf func(*V) K, group func(*V) any) *table {
	t := &table{byKey: map[K]*row{}, plan: planOf(reflect.TypeFor[V]()), changes: map[string][]moment{}}
	t.drop = func(r *row) { remove(t, keyOf(r.value.(*V))) }
	if group != nil {
		t.group, t.groups = func(value any) any { return group(value.(*V)) }, map[any][]*row{}
	}
	return t
}

// find finds a row of the table; nil: there is none.
func find[K comparable](t *table, key K) *row { return t.byKey.(map[K]*row)[key] }

// put writes a row, whose group never changes.
func put[K comparable](t *table, key K, value any) {
	t.writes++
	if r := find(t, key); r != nil {
		was := r.value
		r.value = value
		t.note(r, was)
		return
	}
	t.added++
	r := &row{value, t.added, len(t.rows)}
	t.byKey.(map[K]*row)[key] = r
	t.rows = append(t.rows, r)
	t.note(r, nil)
	if t.eldest != nil {
		t.young = append(t.young, r)
	}
	if t.group != nil {
		g := t.group(value)
		t.groups[g] = append(t.groups[g], r)
		if _, named := idOf(r); named {
			sift(t.groups[g])
		}
	}
}

// idOf is the id of an event or order: these stand in their groups in the order of their ids.
func idOf(r *row) (id string, named bool) {
	switch v := r.value.(type) {
	case *commerce.WebhookEvent:
		return v.ID, true
	case *commerce.Order:
		return v.ID, true
	}
	return "", false
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

// sift moves the last of a list of rows to the place of its id. Batches mostly add them in the
// order of ids, so it mostly stands there.
func sift(list []*row) {
	last, _ := idOf(list[len(list)-1])
	for i := len(list) - 1; i > 0; i-- {
		if before, _ := idOf(list[i-1]); before <= last {
			return
		}
		list[i], list[i-1] = list[i-1], list[i]
	}
}

// behind is how many rows of a list have lower ids; also: or this one.
func behind(list []*row, id string, also bool) int {
	n, found := slices.BinarySearchFunc(list, id, func(r *row, id string) int {
		other, _ := idOf(r)
		return strings.Compare(other, id)
	})
	if found && also {
		n++
	}
	return n
}

// remove deletes a row, if there is one.
func remove[K comparable](t *table, key K) {
	r := find(t, key)
	if r == nil {
		return
	}
	t.writes++
	delete(t.byKey.(map[K]*row), key)
	last := t.rows[len(t.rows)-1]
	t.rows[r.at], last.at = last, r.at
	t.rows[len(t.rows)-1] = nil
	t.rows = t.rows[:len(t.rows)-1]
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
func get[K comparable, V any](t tables, of *schema.Table[K, V], k K) (v *V, there bool) {
	if r := find(t[of.Name], k); r != nil {
		return r.value.(*V), true
	}
	return new(V), false
}

// each gives the rows of a table, which are not copies.
func each[V any](t tables, of schema.Described) iter.Seq[*V] {
	return func(yield func(*V) bool) {
		for _, r := range t[of.Shape().Name].rows {
			if !yield(r.value.(*V)) {
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

// save writes the changes of a batch, unless one of them is refused: then it writes nothing.
func (t tables) save(r *commerce.Rows) error {
	for _, k := range keepers {
		if err := k.check(t, r); err != nil {
			return err
		}
	}
	for _, k := range keepers {
		k.save(t, r)
	}
	return nil
}

// check returns why a row may not be written. A fresh one must not be there yet.
func check[K comparable](t *table, key K, value any, fresh bool) error {
	if fresh && find(t, key) != nil {
		return refusal("it is there already", value)
	}
	if what := broken(value); what != "" {
		return refusal(what, value)
	}
	return nil
}

// selected gives copies of the rows that are wanted, at most limit (below 0: all) in order.
func selected[V any](t *table, limit int, wanted func(*V) bool, order func(a, b *V) int) (list []V) {
	var found []*row
	for _, r := range t.rows {
		if wanted(r.value.(*V)) {
			found = append(found, r)
		}
	}
	return sorted(t, found, limit, order)
}

// sorted gives copies of rows, at most limit (below 0: all) in order; of equal ones, the oldest
// first.
func sorted[V any](t *table, found []*row, limit int, order func(a, b *V) int) (list []V) {
	slices.SortFunc(found, func(a, b *row) int {
		return cmp.Or(order(a.value.(*V), b.value.(*V)), cmp.Compare(a.seq, b.seq))
	})
	if limit >= 0 {
		found = found[:min(len(found), limit)]
	}
	list = slices.Grow(list, len(found))
	for _, r := range found {
		list = append(list, *r.value.(*V))
		own(t.plan, &list[len(list)-1])
	}
	return list
}

func byRunAt(a, b *commerce.Job) int {
	return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.ID, b.ID))
}
