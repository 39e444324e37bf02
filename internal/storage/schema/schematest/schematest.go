// Package schematest helps tests with the rows of all tables, by reflection over
// their descriptors.
package schematest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// Needs names every row of the changes, to be changed.
func Needs(c commerce.Changes) commerce.Needs {
	n := commerce.Needs{Lock: true}
	for _, t := range schema.Tables {
		keys := field(t, "Needs", &n)
		for _, v := range values(t, &c) {
			keys.Set(reflect.Append(keys, keyOf(t, v)))
		}
	}
	for _, p := range c.Products {
		n.ProductStores = append(n.ProductStores, p.ID)
	}
	for _, j := range c.NewJobs {
		n.Jobs = append(n.Jobs, j.Key())
	}
	return n
}

// Fill takes those of the rows that were asked for to be stored.
func Fill(rows *commerce.Rows, stored commerce.Changes) {
	for _, t := range schema.Tables {
		for _, v := range values(t, &stored) {
			fill(t, rows, keyOf(t, v), v)
		}
	}
	for _, p := range stored.Products {
		fill(&schema.ProductStores, rows, reflect.ValueOf(p.ID), reflect.ValueOf(commerce.ProductStore{ProductID: p.ID, StoreID: p.StoreID}))
	}
}

func fill(t schema.Keyed, rows *commerce.Rows, key, value reflect.Value) {
	table := field(t, "Rows", rows).Addr()
	for i := range t.Asked(rows) {
		n := reflect.ValueOf(i)
		if asked := table.MethodByName("AskedKey").Call([]reflect.Value{n})[0]; asked.Equal(key) {
			table.MethodByName("Fill").Call([]reflect.Value{n, value})
		}
	}
}

// changes is the field of a table in the changes, if it has one.
func changes(d schema.Described, c *commerce.Changes) (rows reflect.Value, ok bool) {
	if reflect.ValueOf(d).Elem().FieldByName("Changes").IsNil() {
		return rows, false
	}
	return field(d, "Changes", c), true
}

// values are the rows of a table in the changes.
func values(t schema.Keyed, c *commerce.Changes) (list []reflect.Value) {
	if rows, ok := changes(t, c); ok {
		for i := range rows.Len() {
			list = append(list, rows.Index(i))
		}
	}
	return list
}

func keyOf(t schema.Keyed, v reflect.Value) reflect.Value {
	return reflect.ValueOf(t).Elem().FieldByName("KeyOf").Call([]reflect.Value{v.Addr()})[0]
}

// field returns the field to which a function of the descriptor points.
func field(t schema.Described, function string, of any) reflect.Value {
	return reflect.ValueOf(t).Elem().FieldByName(function).Call([]reflect.Value{reflect.ValueOf(of)})[0].Elem()
}

// Differences describes the rows of the changes that are missing in rows or differ there.
func Differences(rows *commerce.Rows, want commerce.Changes) (list []string) {
	for _, t := range schema.Tables {
		table := field(t, "Rows", rows).Addr()
		for _, v := range values(t, &want) {
			found := table.MethodByName("Get").Call([]reflect.Value{keyOf(t, v)})
			if !found[1].Bool() || !reflect.DeepEqual(found[0].Interface(), v.Interface()) {
				list = append(list, fmt.Sprintf("%s, found %v:\n got %+v\nwant %+v", t.Shape().Name, found[1], found[0], v))
			}
		}
	}
	return list
}

// Rest returns changes with one row, with every field set, for each table without a row in
// c. A table with constraints may need rows that are written by hand.
func Rest(c commerce.Changes) (rest commerce.Changes) {
	var met []string
	for _, d := range schema.All {
		if rows, ok := changes(d, &c); ok && rows.Len() > 0 {
			met = append(met, d.Shape().Name)
		}
	}
	n := 100
	for _, d := range schema.All {
		rows, ok := changes(d, &rest)
		if !ok || slices.Contains(met, d.Shape().Name) {
			continue
		}
		row := reflect.New(rows.Type().Elem()).Elem()
		set(row, &n)
		rows.Set(reflect.Append(rows, row))
	}
	return rest
}

// Vary changes the rows of keyed tables in all columns that may change, and takes
// those of logs away.
func Vary(c *commerce.Changes) {
	n := 500
	for _, d := range schema.All {
		rows, ok := changes(d, c)
		if !ok || rows.Len() == 0 {
			continue
		}
		if _, keyed := d.(schema.Keyed); !keyed {
			rows.SetZero()
			continue
		}
		row := rows.Index(0)
		was := fixed(d, row)
		for i := range row.NumField() {
			before := reflect.New(row.Field(i).Type()).Elem()
			before.Set(row.Field(i))
			if set(row.Field(i), &n); fixed(d, row) != was {
				row.Field(i).Set(before)
			}
		}
	}
}

// fixed returns the fixed columns of a row as text.
func fixed(d schema.Described, row reflect.Value) string {
	var p Printer
	t := reflect.ValueOf(d).Elem()
	key := t.FieldByName("KeyOf").Call([]reflect.Value{row.Addr()})[0]
	t.FieldByName("BindKey").Call([]reflect.Value{reflect.ValueOf(&p), key})
	if bind := t.FieldByName("BindFixed"); !bind.IsNil() {
		bind.Call([]reflect.Value{reflect.ValueOf(&p), row.Addr()})
	}
	return p.String()
}

// Printer is a Binder that writes the values down.
type Printer struct{ strings.Builder }

func (p *Printer) add(v any) schema.Binder { fmt.Fprintf(p, "%#v|", v); return p }

// Text implements schema.Binder, as do the others.
func (p *Printer) Text(v string) schema.Binder { return p.add(v) }
func (p *Printer) Int(v int64) schema.Binder   { return p.add(v) }
func (p *Printer) Bool(v bool) schema.Binder   { return p.add(v) }
func (p *Printer) Blob(v []byte) schema.Binder { return p.add(string(v)) }
func (p *Printer) JSON(v []byte) schema.Binder { return p.add(v) }
func (p *Printer) Float(v *float64) schema.Binder {
	if v == nil {
		return p.add(nil)
	}
	return p.add(*v)
}

// set gives the value, and each of its parts, a content that is not zero.
func set(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("ünï ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem(), n)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(fmt.Sprintf(`{"n":%d}`, *n)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		set(v.Index(0), n)
	case reflect.Array:
		for i := range v.Len() {
			set(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			set(v.Field(i), n)
		}
	default:
		v.SetInt(int64(*n))
	}
}
