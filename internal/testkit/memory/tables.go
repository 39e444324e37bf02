package memory

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// tables are the rows of all tables of the registry, by the name of the table and
// the key of the row.
type tables map[string]map[any]any

func newTables() tables {
	t := tables{}
	for _, d := range schema.All {
		t[d.Shape().Name] = map[any]any{}
	}
	return t
}

// get reads a row. It is the row of the database, not a copy.
func get[K comparable, V any](t tables, of *schema.Table[K, V], k K) (v V, there bool) {
	v, there = t[of.Name][k].(V)
	return v, there
}

// put writes a row.
func put[K comparable, V any](t tables, of *schema.Table[K, V], v V) { t[of.Name][of.KeyOf(&v)] = v }

// each gives the rows of a table, which are not copies.
func each[K comparable, V any](t tables, of *schema.Table[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for k, v := range t[of.Name] {
			if !yield(k.(K), v.(V)) {
				return
			}
		}
	}
}

// load gives the rows that commands asked for.
func (t tables) load(r *commerce.Rows) {
	for _, d := range schema.Tables {
		rows := rowsOf(d, r)
		for i := range d.Asked(r) {
			n := reflect.ValueOf(i)
			key := rows.MethodByName("AskedKey").Call([]reflect.Value{n})[0].Interface()
			if v, there := t[d.Shape().Name][key]; there {
				rows.MethodByName("Fill").Call([]reflect.Value{n, cloned(reflect.ValueOf(v))})
			}
		}
	}
}

// change is a row as it is to be saved.
type change struct {
	table string
	key   any
	value any  // nil: the row is deleted
	fresh bool // it must not be there yet
}

// changes are all that a batch saves.
func changes(r *commerce.Rows) (list []change) {
	for _, d := range schema.Tables {
		rows := rowsOf(d, r)
		for i := range d.Changed(r) {
			out := rows.MethodByName("Change").Call([]reflect.Value{reflect.ValueOf(i)})
			c := change{table: d.Shape().Name, key: out[0].Interface(), fresh: out[2].IsNil()}
			if !out[1].IsNil() {
				c.value = stored(cloned(out[1].Elem()).Interface())
			}
			list = append(list, c)
		}
	}
	for _, d := range schema.All {
		if _, keyed := d.(schema.Keyed); keyed || d.Changed(r) == 0 || !field(d, "Only").IsNil() { // the rows are part of another table's
			continue
		}
		rows := field(d, "Changes").Call([]reflect.Value{reflect.ValueOf(&r.Appended)})[0].Elem()
		for i := range rows.Len() {
			key := keyColumns{left: len(schema.Split(d.Shape().Key))}
			d.BindChanged(&key, r, i, schema.Whole)
			c := change{d.Shape().Name, key.text, stored(cloned(rows.Index(i)).Interface()), true}
			if j, ok := c.value.(commerce.Job); ok { // of a table that has keys of its own
				c.key = j.Key()
			}
			list = append(list, c)
		}
	}
	return list
}

func field(d schema.Described, name string) reflect.Value {
	return reflect.ValueOf(d).Elem().FieldByName(name)
}

// rowsOf gives a table's part of the rows of a batch.
func rowsOf(d schema.Described, r *commerce.Rows) reflect.Value {
	return field(d, "Rows").Call([]reflect.Value{reflect.ValueOf(r)})[0]
}

// keyColumns is a Binder that keeps the columns of a key.
type keyColumns struct {
	left int
	text string
}

func (k *keyColumns) add(v any) schema.Binder {
	if k.left > 0 {
		k.left--
		k.text += fmt.Sprintf("%q ", fmt.Sprint(v))
	}
	return k
}
func (k *keyColumns) Text(v string) schema.Binder    { return k.add(v) }
func (k *keyColumns) Int(v int64) schema.Binder      { return k.add(v) }
func (k *keyColumns) Bool(v bool) schema.Binder      { return k.add(v) }
func (k *keyColumns) Blob(v []byte) schema.Binder    { return k.add(v) }
func (k *keyColumns) JSON(v []byte) schema.Binder    { return k.add(v) }
func (k *keyColumns) Float(v *float64) schema.Binder { return k.add(v) }

// stored takes away what is no part of the stored row.
func stored(row any) any {
	switch v := row.(type) {
	case commerce.Job:
		v.Awaited, v.Event, v.Order, v.Payment = false, nil, nil, nil
		return v
	case commerce.WebhookEvent:
		v.To = nil
		return v
	}
	return row
}

// broken returns what constraint a row breaks; empty: it breaks none.
func broken(row any) string {
	switch v := row.(type) {
	case commerce.Stock:
		if v.Quantity < 0 {
			return "stock is below zero"
		}
	case commerce.Payment:
		if v.RefundedCents+v.PendingCents > v.CapturedCents {
			return "more goes back than was paid"
		}
	}
	return ""
}

// save writes the changes, unless one of them is refused: then it writes nothing.
func (t tables) save(list []change) error {
	for _, c := range list {
		if _, there := t[c.table][c.key]; there && c.fresh && c.value != nil {
			return refusal("it is there already", c.value)
		}
		if what := broken(c.value); what != "" {
			return refusal(what, c.value)
		}
	}
	for _, c := range list {
		if c.value == nil {
			delete(t[c.table], c.key)
		} else {
			t[c.table][c.key] = c.value
		}
	}
	return nil
}

// selected gives the rows that are wanted, in order. Rows that are equal in it come
// in any order.
func selected[V any](t tables, of schema.Described, wanted func(V) bool, order func(a, b V) int) (list []V) {
	for _, row := range t[of.Shape().Name] {
		if v := row.(V); wanted(v) {
			list = append(list, clone(v))
		}
	}
	slices.SortFunc(list, order)
	return list
}

func byRunAt(a, b commerce.Job) int {
	return cmp.Or(cmp.Compare(a.RunAt, b.RunAt), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.ID, b.ID))
}

// clone copies a value with all that it points to.
func clone[V any](v V) V {
	return cloned(reflect.ValueOf(v)).Interface().(V)
}

func cloned(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(cloned(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(cloned(v.Index(i)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(cloned(v.Field(i)))
			}
		}
	}
	return out
}
