package memory

import (
	"bytes"
	"reflect"
	"sync"
)

// clone copies a value with all that it points to, by the plan of its type.
func clone[V any](p *plan, v *V) *V {
	to := new(V)
	*to = *v
	own(p, to)
	return to
}

// own replaces what a value points to by copies.
func own[V any](p *plan, v *V) {
	if p != nil {
		p.deepen(reflect.ValueOf(v).Elem())
	}
}

// plan says how the values of a type are copied; nil: they point to nothing that could be
// written to.
type plan struct {
	kind   reflect.Kind
	elem   *plan   // of a pointer or a slice
	fields []field // of a struct: those that are not copied with it
}

type field struct {
	n    int
	plan *plan
}

var plans sync.Map // by their types

func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	p := makePlan(t)
	plans.Store(t, p)
	return p
}

func makePlan(t reflect.Type) *plan {
	p := &plan{kind: t.Kind()}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		p.elem = planOf(t.Elem())
		return p
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				if inner := planOf(f.Type); inner != nil {
					p.fields = append(p.fields, field{i, inner})
				}
			}
		}
	}
	if len(p.fields) == 0 {
		return nil
	}
	return p
}

// deepen replaces what a value points to by copies.
func (p *plan) deepen(v reflect.Value) {
	switch {
	case p.kind == reflect.Struct:
		for _, f := range p.fields {
			f.plan.deepen(v.Field(f.n))
		}
	case v.IsNil():
	case p.kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes(bytes.Clone(v.Bytes()))
	case p.kind == reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		to.Elem().Set(v.Elem())
		if p.elem != nil {
			p.elem.deepen(to.Elem())
		}
		v.Set(to)
	default:
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		for i := 0; p.elem != nil && i < v.Len(); i++ {
			p.elem.deepen(list.Index(i))
		}
		v.Set(list)
	}
}
