package commerce

import "fmt"

// Table holds the rows of one kind that were asked for, found or not.
type Table[K comparable, V any] struct {
	rows    map[K]*row[V]
	keys    []K // as asked for
	changed []K // in the order of their first change
}

type row[V any] struct {
	value  V
	was    V    // as stored
	known  bool // there is such a row, stored or put
	stored bool // it was there when the batch began
	locked bool // it may be changed
	listed bool // its key is among those to load
	unseen bool // it is not loaded, and may only be removed
	moved  bool
}

func (t *Table[K, V]) require(keys []K, lock bool) {
	if t.rows == nil && len(keys) > 0 {
		t.rows = make(map[K]*row[V], len(keys))
	}
	for _, k := range keys {
		r, asked := t.rows[k]
		if !asked {
			r = &row[V]{}
			t.rows[k] = r
		}
		if !r.listed { // no other command has asked to see it; one may take it to be new, or gone
			r.listed, r.unseen = true, false
			t.keys = append(t.keys, k)
		}
		r.locked = r.locked || lock
	}
}

// expect adds rows that are not loaded, since the command takes them to be new.
func (t *Table[K, V]) expect(keys []K) {
	if t.rows == nil && len(keys) > 0 {
		t.rows = make(map[K]*row[V], len(keys))
	}
	for _, k := range keys {
		if _, asked := t.rows[k]; !asked {
			t.rows[k] = &row[V]{}
		}
	}
}

// leaveUnseen adds rows that are to be removed, whether or not they are stored.
func (t *Table[K, V]) leaveUnseen(keys []K) {
	if t.rows == nil && len(keys) > 0 {
		t.rows = make(map[K]*row[V], len(keys))
	}
	for _, k := range keys {
		if _, asked := t.rows[k]; !asked {
			t.rows[k] = &row[V]{unseen: true}
		}
	}
}

// Keys are the keys of the rows to load.
func (t *Table[K, V]) Keys() []K { return t.keys }

// LockedKeys are for engines: the keys of rows that may be changed, and others.
func (t *Table[K, V]) LockedKeys() (locked, others []K) {
	for _, k := range t.keys {
		if t.rows[k].locked {
			locked = append(locked, k)
		} else {
			others = append(others, k)
		}
	}
	return locked, others
}

// Fill is for engines: the row is stored as v.
func (t *Table[K, V]) Fill(k K, v V) {
	r := t.rows[k]
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

func (t *Table[K, V]) put(k K, v V) {
	r, asked := t.rows[k]
	if !asked || r.unseen {
		panic(fmt.Sprintf("commerce: %T %v is changed but was not in the needs of the command", v, k))
	}
	if r.stored && !r.locked {
		panic(fmt.Sprintf("commerce: %T %v is changed but the needs of the command did not lock it", v, k))
	}
	r.value, r.known = v, true
	t.move(k, r)
}

// remove deletes a row. One that is not there stays away.
func (t *Table[K, V]) remove(k K) {
	if r := t.rows[k]; r != nil && r.unseen {
		r.stored = true // it may be
		t.move(k, r)
		return
	}
	if _, known := t.Get(k); known {
		r := t.rows[k]
		r.value, r.known = *new(V), false
		t.move(k, r)
	}
}

func (t *Table[K, V]) move(k K, r *row[V]) {
	if !r.moved {
		r.moved = true
		t.changed = append(t.changed, k)
	}
}

// EachDeleted is for engines: it calls f with the key of each row that is to
// go, stored or never looked at.
func (t *Table[K, V]) EachDeleted(f func(K) error) error {
	for _, k := range t.changed {
		if r := t.rows[k]; r.stored && !r.known {
			if err := f(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// EachChanged is for engines: it calls f with each changed row, in the order
// of their first change, and the stored one that it replaces; nil: there is none.
func (t *Table[K, V]) EachChanged(f func(v, was *V) error) error {
	for _, k := range t.changed {
		r := t.rows[k]
		if !r.known {
			continue
		}
		was := &r.was
		if !r.stored {
			was = nil
		}
		if err := f(&r.value, was); err != nil {
			return err
		}
	}
	return nil
}
