package schema

import "purveyor/internal/commerce"

// Shape implements Described.
func (t *Table[K, V]) Shape() Shape {
	return Shape{t.Name, t.Key, t.Fixed, t.Mutable, t.HotColumns, t.Traits}
}

// BindZero implements Described.
func (t *Table[K, V]) BindZero(b Binder, p Part) { t.bind(b, new(V), p) }

func (t *Table[K, V]) require(r *commerce.Rows, n *commerce.Needs) {
	rows := t.Rows(r)
	if t.Created != nil {
		rows.Expect(*t.Created(n))
	}
	rows.Require(*t.Needs(n), t.locks(n))
	if t.Locked != nil {
		rows.Require(*t.Locked(n), true)
	}
	if t.Ended != nil {
		rows.LeaveUnseen(*t.Ended(n))
	}
}

// locks reports whether the command may change the rows of Needs.
func (t *Table[K, V]) locks(n *commerce.Needs) bool {
	return t.Lock == LockAll || t.Lock == LockOnRequest && n.Lock
}

func (t *Table[K, V]) apply(r *commerce.Rows, c *commerce.Changes) {
	rows := t.Rows(r)
	if t.Changes != nil {
		list := *t.Changes(c)
		for i := range list {
			rows.Put(t.KeyOf(&list[i]), list[i])
		}
	}
	if t.Deleted != nil {
		for _, k := range *t.Deleted(c) {
			rows.Remove(k)
		}
	}
}

// Asked implements Keyed.
func (t *Table[K, V]) Asked(r *commerce.Rows) int { return t.Rows(r).Asked() }

// MayChange implements Keyed.
func (t *Table[K, V]) MayChange(r *commerce.Rows, asked int) bool {
	_, locked := t.Rows(r).AskedKey(asked)
	return locked
}

// BindAsked implements Keyed.
func (t *Table[K, V]) BindAsked(b Binder, r *commerce.Rows, asked int) {
	k, _ := t.Rows(r).AskedKey(asked)
	t.BindKey(b, k)
}

// Fill implements Keyed.
func (t *Table[K, V]) Fill(s Scanner, r *commerce.Rows, asked int) {
	rows := t.Rows(r)
	k, _ := rows.AskedKey(asked)
	rows.Fill(asked, t.Scan(s, k))
}

// Changed implements Keyed.
func (t *Table[K, V]) Changed(r *commerce.Rows) int { return t.Rows(r).Changed() }

// Change implements Keyed.
func (t *Table[K, V]) Change(r *commerce.Rows, changed int) Change {
	_, v, was := t.Rows(r).Change(changed)
	switch {
	case v == nil && was == nil:
		return Nothing
	case v == nil:
		return Delete
	case was == nil:
		return Insert
	case t.OnlyHotChanged != nil && t.OnlyHotChanged(v, was):
		return UpdateHot
	}
	return Update
}

// BindChanged implements Keyed.
func (t *Table[K, V]) BindChanged(b Binder, r *commerce.Rows, changed int, p Part) {
	_, v, _ := t.Rows(r).Change(changed)
	t.bind(b, v, p)
}

// BindChangedKey implements Keyed.
func (t *Table[K, V]) BindChangedKey(b Binder, r *commerce.Rows, changed int) {
	k, _, _ := t.Rows(r).Change(changed)
	t.BindKey(b, k)
}

func (t *Table[K, V]) owners(n *commerce.Needs, add func(string)) {
	of := func(keys []K) {
		for _, k := range keys {
			var f firstText
			t.BindKey(&f, k)
			add(f.text)
		}
	}
	if t.locks(n) {
		of(*t.Needs(n))
	}
	for _, needs := range []func(*commerce.Needs) *[]K{t.Created, t.Locked, t.Ended} {
		if needs != nil {
			of(*needs(n))
		}
	}
}

// firstText is a Binder that keeps the first text. Bound to a key, that is the id of the
// row's owner.
type firstText struct{ text string }

func (f *firstText) Text(v string) Binder {
	if f.text == "" {
		f.text = v
	}
	return f
}
func (f *firstText) Int(int64) Binder      { return f }
func (f *firstText) Bool(bool) Binder      { return f }
func (f *firstText) Blob([]byte) Binder    { return f }
func (f *firstText) JSON([]byte) Binder    { return f }
func (f *firstText) Float(*float64) Binder { return f }

// Shape implements Described.
func (l *Log[V]) Shape() Shape {
	return Shape{Name: l.Name, Key: l.ID, Fixed: l.Rest, Traits: l.Traits}
}

// BindZero implements Described. A log has no part but the whole row.
func (l *Log[V]) BindZero(b Binder, _ Part) { l.Bind(b, new(V)) }

func (l *Log[V]) apply(r *commerce.Rows, c *commerce.Changes) {
	if l.Changes != nil && l.Only == nil {
		all := l.Changes(&r.Appended)
		*all = append(*all, *l.Changes(c)...)
	}
}

// Changed implements Described.
func (l *Log[V]) Changed(r *commerce.Rows) int {
	if l.Changes == nil {
		return 0
	}
	return len(*l.Changes(&r.Appended))
}

// Change implements Described.
func (l *Log[V]) Change(r *commerce.Rows, changed int) Change {
	if l.Only == nil || l.Only(&(*l.Changes(&r.Appended))[changed]) {
		return Insert
	}
	return Nothing
}

// BindChanged implements Described.
func (l *Log[V]) BindChanged(b Binder, r *commerce.Rows, changed int, _ Part) {
	l.Bind(b, &(*l.Changes(&r.Appended))[changed])
}
