package commerce

import "fmt"

// Table holds the rows of one kind that the commands of a batch asked for,
// whether they are stored or not.
type Table[K comparable, V any] struct {
	rows    map[K]*row[K, V]
	asked   []*row[K, V] // to load, in the order in which commands asked for them
	changed []*row[K, V] // in the order of their first change
}

type row[K comparable, V any] struct {
	key    K
	value  V
	was    V    // as stored
	known  bool // there is such a row, stored or put
	stored bool // it was there when the batch began
	locked bool // it may be changed
	listed bool // it is among those to load
	unseen bool // it is not loaded, and may only be removed
	moved  bool
}

// Require adds rows that are to be loaded; with lock they may be changed.
func (t *Table[K, V]) Require(keys []K, lock bool) {
	for _, k := range keys {
		r, _ := t.row(k, len(keys))
		if !r.listed { // no other command has asked to see it; one may take it to be new, or gone
			r.listed, r.unseen = true, false
			t.asked = append(t.asked, r)
		}
		r.locked = r.locked || lock
	}
}

// Expect adds rows that are not loaded, since the command takes them to be new.
func (t *Table[K, V]) Expect(keys []K) {
	for _, k := range keys {
		t.row(k, len(keys))
	}
}

// LeaveUnseen adds rows that are to be removed, whether or not they are stored.
func (t *Table[K, V]) LeaveUnseen(keys []K) {
	for _, k := range keys {
		if r, added := t.row(k, len(keys)); added {
			r.unseen = true
		}
	}
}

// row finds a row, or adds one that is one of so many.
func (t *Table[K, V]) row(k K, of int) (r *row[K, V], added bool) {
	if t.rows == nil {
		t.rows = make(map[K]*row[K, V], of)
	}
	r, asked := t.rows[k]
	if !asked {
		r = &row[K, V]{key: k}
		t.rows[k] = r
	}
	return r, !asked
}

// Asked is for engines: how many rows are to be loaded.
func (t *Table[K, V]) Asked() int { return len(t.asked) }

// AskedKey is for engines: the key of a row to load, and whether commands may
// change the row.
func (t *Table[K, V]) AskedKey(i int) (k K, locked bool) { return t.asked[i].key, t.asked[i].locked }

// Fill is for engines: row i of those to load is stored as v.
func (t *Table[K, V]) Fill(i int, v V) {
	r := t.asked[i]
	r.value, r.was, r.known, r.stored = v, v, true, true
}

// Get returns a row, and whether there is one. Looking at a row that was not
// asked for is a bug of the command and panics.
func (t *Table[K, V]) Get(k K) (V, bool) {
	r, asked := t.rows[k]
	if !asked || r.unseen {
		panic(fmt.Sprintf("commerce: %T %v was not in the needs of the command", *new(V), k))
	}
	return r.value, r.known
}

// Put changes or adds a row.
func (t *Table[K, V]) Put(k K, v V) {
	r, asked := t.rows[k]
	if !asked || r.unseen {
		panic(fmt.Sprintf("commerce: %T %v is changed but was not in the needs of the command", v, k))
	}
	if r.stored && !r.locked {
		panic(fmt.Sprintf("commerce: %T %v is changed but the needs of the command did not lock it", v, k))
	}
	r.value, r.known = v, true
	t.move(r)
}

// Remove deletes a row. One that is not there stays away.
func (t *Table[K, V]) Remove(k K) {
	if r := t.rows[k]; r != nil && r.unseen {
		r.stored = true // it may be
		t.move(r)
		return
	}
	if _, known := t.Get(k); known {
		r := t.rows[k]
		r.value, r.known = *new(V), false
		t.move(r)
	}
}

func (t *Table[K, V]) move(r *row[K, V]) {
	if !r.moved {
		r.moved = true
		t.changed = append(t.changed, r)
	}
}

// Changed is how many rows changed.
func (t *Table[K, V]) Changed() int { return len(t.changed) }

// Change is for engines: row i of those that changed as it is to be, and as it
// is stored. No v: the row is to be deleted; no was: it is not stored. A row that
// was added and removed by the same batch has neither.
func (t *Table[K, V]) Change(i int) (k K, v, was *V) {
	r := t.changed[i]
	if r.known {
		v = &r.value
	}
	if r.stored {
		was = &r.was
	}
	return r.key, v, was
}
