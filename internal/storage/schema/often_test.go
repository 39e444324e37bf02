package schema

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

// bound takes down what is bound.
type bound []string

func (b *bound) put(v any) Binder { *b = append(*b, fmt.Sprint(v)); return b }

func (b *bound) Text(v string) Binder    { return b.put(v) }
func (b *bound) Int(v int64) Binder      { return b.put(v) }
func (b *bound) Bool(v bool) Binder      { return b.put(v) }
func (b *bound) Blob(v []byte) Binder    { return b.put(v) }
func (b *bound) JSON(v []byte) Binder    { return b.put(v) }
func (b *bound) Float(v *float64) Binder { return b.put(v) }

// TestOftenIsAllThatDiffers: whatever field of stock changes, a change that is
// said to be confined to some columns differs in no other, and these are bound
// as in a whole row.
func TestOftenIsAllThatDiffers(t *testing.T) {
	all, often := Split(Stock.Mutable), Split(Stock.Often)
	confined := 0
	for i := range reflect.TypeFor[commerce.Stock]().NumField() {
		var v, was commerce.Stock
		switch field := reflect.ValueOf(&v).Elem().Field(i); field.Kind() {
		case reflect.String:
			field.SetString("x")
		case reflect.Bool:
			field.SetBool(true)
		default:
			field.SetInt(7)
		}
		var now, before, part bound
		Stock.BindMutable(&now, &v)
		Stock.BindMutable(&before, &was)
		Stock.BindOften(&part, &v)
		for c, name := range all {
			at := slices.Index(often, name)
			if at >= 0 && part[at] != now[c] {
				t.Errorf("%s is bound as %s, in the whole row as %s", name, part[at], now[c])
			}
			if at < 0 && now[c] != before[c] && Stock.IsOften(&v, &was) {
				t.Errorf("%s differs in a change that is said to be confined to %s", name, Stock.Often)
			}
		}
		if Stock.IsOften(&v, &was) {
			confined++
		}
	}
	if confined < len(often) {
		t.Errorf("%d changes are confined to %d columns", confined, len(often))
	}
}
