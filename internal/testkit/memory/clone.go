package memory

import (
	"reflect"
	"sync"
)

// clone copies a value with all that it points to.
func clone[V any](v V) V {
	if flat(reflect.TypeFor[V]()) {
		return v
	}
	deepen(reflect.ValueOf(&v).Elem())
	return v
}

var flats sync.Map // types to whether they are flat

// flat reports whether values of a type point to nothing that could be written to.
func flat(t reflect.Type) bool {
	if known, ok := flats.Load(t); ok {
		return known.(bool)
	}
	is := true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		is = false
	case reflect.Struct:
		for i := range t.NumField() {
			is = is && (!t.Field(i).IsExported() || flat(t.Field(i).Type))
		}
	}
	flats.Store(t, is)
	return is
}

// deepen replaces what a value points to by copies.
func deepen(v reflect.Value) {
	t := v.Type()
	if flat(t) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(t.Elem())
			to.Elem().Set(v.Elem())
			deepen(to.Elem())
			v.Set(to)
		}
	case reflect.Slice:
		if !v.IsNil() {
			list := reflect.MakeSlice(t, v.Len(), v.Len())
			reflect.Copy(list, v)
			for i := 0; i < v.Len() && !flat(t.Elem()); i++ {
				deepen(list.Index(i))
			}
			v.Set(list)
		}
	case reflect.Struct:
		for _, i := range deepFields(t) {
			deepen(v.Field(i))
		}
	}
}

var deep sync.Map // types of structs to the fields that are not flat

func deepFields(t reflect.Type) []int {
	if known, ok := deep.Load(t); ok {
		return known.([]int)
	}
	fields := []int{}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && !flat(f.Type) {
			fields = append(fields, i)
		}
	}
	deep.Store(t, fields)
	return fields
}
